"""For the tests of agents: the spans of the code under test, and assertions on what weaklink makes of them."""
