"""The program: `weaklink`, which is also `python -m weaklink_processor`."""

import os
import sys


def main() -> None:
    """Run the command line. Ctrl-C while it is loaded ends it as it does later: a service with 0, all else with 130."""
    try:
        from weaklink_processor.cli import main as run  # noqa: PLC0415 - the time that it takes is what this is about
    except KeyboardInterrupt:
        os._exit(0 if sys.argv[1:2] == ["serve"] else 130)
    run()


if __name__ == "__main__":
    main()
