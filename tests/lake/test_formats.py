"""Files of a newer weaklink are refused by name, and not touched. The queue's and the state's tests are with those."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from analyst_life import Life
from otlp import payload, write
from shell import printed, refused
from weaklink_processor.errors import BrokenStore
from weaklink_processor.lake import lake, parts

NOW = datetime(2026, 9, 1, tzinfo=UTC)


NEWER_VIEW = (lake, "FORMAT_VIEW", "CREATE VIEW lake.format AS SELECT 99 AS version")


@pytest.mark.parametrize(
    ("change", "file"), [(NEWER_VIEW, r"weaklink\.duckdb"), ((parts, "FORMAT", 99), r"lake/.*\.parquet")]
)
def test_a_newer_file_of_the_lake_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: tuple[object, str, object], file: str
) -> None:
    """The catalogue and each part say their format; a start on a newer one is refused before anything is changed."""
    with monkeypatch.context() as patch:
        patch.setattr(*change)
        with Life(tmp_path, NOW) as life:
            life.receive([payload([write(1, 1, "m", 0.5)])], NOW)
            life.settle(NOW)
    before = {path: path.read_bytes() for path in (tmp_path / "lake").rglob("*.parquet")}
    with pytest.raises(BrokenStore, match=f"{file}: format 99 is newer than the 1 that this weaklink reads"):
        Life(tmp_path, NOW)
    assert {path: path.read_bytes() for path in (tmp_path / "lake").rglob("*.parquet")} == before


def test_readers_refuse_a_newer_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`weaklink sql` says so instead of answering what may be wrong, and answers from one that it knows."""
    (tmp_path / "known").mkdir()
    (tmp_path / "newer").mkdir()
    with Life(tmp_path / "known", NOW):
        pass
    asked = ("sql", "SELECT count(*) AS n FROM spans", "--format", "csv", "--data-dir")
    assert printed(*asked, tmp_path / "known") == "n\n0\n"
    monkeypatch.setattr(*NEWER_VIEW)
    with Life(tmp_path / "newer", NOW):
        pass
    assert "weaklink.duckdb: format 99 is newer" in refused(*asked, tmp_path / "newer")


def test_a_reader_loads_no_pyarrow() -> None:
    """Commands that only read look at the catalogue's format, and start without what writes: 0.15 s less each time."""
    code = "import sys; import weaklink_processor.lake.listing; sys.exit('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
