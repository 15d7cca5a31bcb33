"""Golden files."""

import os

REGENERATE = os.environ.get("WEAKLINK_REGENERATE") == "1"
"""Whether they are to be written anew; read here, since a test itself sees no WEAKLINK_ variable."""
