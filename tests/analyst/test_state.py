"""The state's file: of another version, of an older one, lost."""

import contextlib
from pathlib import Path

import duckdb
import pytest

from analyst_process import Process, rows
from weaklink_processor.analyst.state import State
from weaklink_processor.errors import BrokenStore
from weaklink_service import tables


@pytest.mark.parametrize(("version", "advice"), [(99, "upgrade"), (2, "new data folder")])
def test_a_state_file_of_another_version_is_refused(tmp_path: Path, version: int, advice: str) -> None:
    """What another version wrote is not touched, and the message says which file and what to do."""
    process = Process(tmp_path)
    process.state.connection.execute("UPDATE meta SET schema_version = ?", [version])
    process.end()
    with pytest.raises(BrokenStore, match=rf"state\.duckdb has schema version {version}.*{advice}"):
        State.open(tmp_path / "state.duckdb")


def test_an_older_state_is_brought_up_to_date(tmp_path: Path) -> None:
    """It says so from then on: the weaklink that wrote it refuses it, which could not write to it any more."""
    Process(tmp_path).end()
    with duckdb.connect(tmp_path / "state.duckdb") as before:
        before.execute("UPDATE meta SET schema_version = 8; ALTER TABLE issued DROP COLUMN made_at")
    with contextlib.closing(State.open(tmp_path / "state.duckdb")) as state:
        assert state.connection.execute("SELECT schema_version FROM meta").fetchall() == [(9,)]
        assert state.connection.execute("SELECT count(made_at) FROM issued").fetchall() == [(0,)]


def test_a_lost_state_file_deletes_nothing(tmp_path: Path) -> None:
    """Without the state beside them, published spans are left alone, and the message says what to do."""
    process = Process(tmp_path)
    process.work(rows())
    process.end()
    before = tables(tmp_path)
    (tmp_path / "state.duckdb").unlink()
    with pytest.raises(BrokenStore, match=r"state\.duckdb.*restore that file"):
        Process(tmp_path)
    assert tables(tmp_path) == before
