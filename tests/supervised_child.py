"""A child process for supervisor tests, called as `stub.py BEHAVIOUR`: real pipes, real signals, no weaklink."""

import json
import os
import sys
import time
from pathlib import Path

from weaklink_processor.supervise import lifeline


def main(behaviour: str) -> None:
    stop = lifeline.stop_event()
    folder = Path(json.loads(lifeline.receive_settings())["data_dir"])
    lifeline.watch(stop)
    note(folder, behaviour, "start")
    match behaviour:
        case "refuse":
            lifeline.tell_parent({"fault": "port 4317 is taken"})
            sys.exit(2)
        case "crash":
            sys.exit(7)
        case "stubborn":
            lifeline.tell_parent({"ready": behaviour})
            time.sleep(60)
        case "verbose":
            sys.stdout.write(3_000_000 * "." + "\n")
        case "refuse-later":
            if len(events(folder, behaviour)) > 1:
                sys.exit(2)
    sys.stdout.write("a library prints something\n")
    lifeline.tell_parent({"ready": behaviour})
    stop.wait()
    note(folder, behaviour, "end")


def note(folder: Path, behaviour: str, event: str) -> None:
    with (folder / "events").open("a") as file:
        file.write(json.dumps([behaviour, event, os.getpid(), time.monotonic()]) + "\n")


def events(folder: Path, behaviour: str | None = None) -> list[tuple[str, str, int]]:
    """Return (child, event, process id) of what happened so far, in order."""
    try:
        lines = (folder / "events").read_text().splitlines()
    except FileNotFoundError:
        return []
    rows = [tuple(json.loads(line)[:3]) for line in lines]
    return [row for row in rows if behaviour in {None, row[0]}]


if __name__ == "__main__":
    main(sys.argv[1])
