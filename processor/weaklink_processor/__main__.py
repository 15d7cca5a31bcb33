"""`python -m weaklink_processor` is `weaklink`."""

from weaklink_processor.cli import main

main()
