"""Evaluations that wait in a state that nobody is at work on.

Commands that only look import this, so it must not import pyarrow.
"""

from pathlib import Path

import duckdb


def unsent(path: Path, after: int) -> int:
    """How many evaluations there are that were made after this one; 0 where somebody is at work on the state."""
    if not path.exists():
        return 0
    with duckdb.connect() as connection:
        try:
            connection.execute("ATTACH $path AS state (READ_ONLY)", {"path": str(path)})
        except duckdb.IOException:
            return 0
        ((evaluations,),) = connection.execute("SELECT count(*) FROM state.outbox WHERE seq > ?", [after]).fetchall()
    return int(evaluations)
