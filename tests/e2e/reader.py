"""A dashboard: asks weaklink.duckdb again and again, called as `reader.py DATA_DIR STOP_FILE`.

A JSON line an answer: when it was asked (time.monotonic(), the same clock in every process) and the counts.
"""

import json
import sys
import time
from pathlib import Path

import duckdb

COUNTED = ("spans", "memory_operations", "memory_versions", "memories", "derivations")
PAUSE_SECONDS = 0.5
"""Three that ask without one take all that two cores have; what is measured then is how the system shares it out."""


def main(data_dir: str, stop_file: str) -> None:
    while not Path(stop_file).exists():
        asked = time.monotonic()
        with duckdb.connect(f"{data_dir}/weaklink.duckdb", read_only=True) as connection:
            columns = ", ".join(f"(SELECT count(*) FROM {table}) AS {table}" for table in COUNTED)
            counts = connection.execute(f"SELECT {columns}").fetchone()
        sys.stdout.write(json.dumps([asked, *(counts or ())]) + "\n")
        sys.stdout.flush()
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main(*sys.argv[1:])
