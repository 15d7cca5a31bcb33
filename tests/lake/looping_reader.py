"""A dashboard that asks the same again and again, called as `looping_reader.py DATA_DIR STOP_FILE`.

Prints a line each time that its answers are others than before; last, how often it asked.
"""

import os
import sys
from pathlib import Path

import duckdb

QUERIES = (
    "SELECT count(*), sum(hash(s)) FROM spans AS s",
    "SELECT count(*), sum(hash(o)) FROM memory_operations AS o",
    "SELECT count(*), sum(hash(m)) FROM memories AS m",
    "SELECT count(*), sum(hash(d)) FROM derivations AS d",
    "SELECT count(*), sum(hash(e)) FROM evaluations AS e",
    "SELECT count(*), sum(hash(h)) FROM evaluation_history AS h",
)


def answers(data_dir: str) -> list[tuple[object, ...] | None]:
    """What a reader that opens the catalogue now is told."""
    with duckdb.connect(f"{data_dir}/weaklink.duckdb", read_only=True) as connection:
        return [connection.execute(query).fetchone() for query in QUERIES]


def main(data_dir: str, stop_file: str) -> None:
    last, asked, parent = None, 0, os.getppid()
    while not Path(stop_file).exists() and os.getppid() == parent:
        told = answers(data_dir)
        asked += 1
        if told != last:
            sys.stdout.write(f"{told}\n")
            sys.stdout.flush()
            last = told
    sys.stdout.write(f"{asked}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
