"""`weaklink compact`, with and without a service."""

import errno
import shutil
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from e2e.clients import grpc_export
from e2e.workload import keys, workload
from shell import printed, refused
from weaklink_processor.analyst.state import State
from weaklink_processor.cli import main
from weaklink_processor.commands.replay import take
from weaklink_processor.config import Config
from weaklink_processor.lake.lake import Lake
from weaklink_processor.lake.listing import listed_parts
from weaklink_processor.lake.parts import Part
from weaklink_processor.queue import framing
from weaklink_processor.sources import load_config
from weaklink_processor.wiring.analysing import analysis_settings
from weaklink_service import Service, tables, wait_until

SETTINGS = """
analysis:
  max_hops: 2
  min_threshold: 0.1
  flag_threshold: 0.95
  namespaces: {/ops: {min_threshold: 0.2}}
  rubrics: [memledger/2.0, {name: own, weights: {cycle: 1}, max_depth: 1}]
  attribution: {name: own/1, low: 0.3, unattributed: 0.8}
  freshness: {stale_below: 0.9}
"""


def files(data_dir: Path) -> dict[str, list[str]]:
    """The files that a reader reads now, by table."""
    with duckdb.connect(str(data_dir / "weaklink.duckdb"), read_only=True) as catalogue:
        found: dict[str, list[str]] = {}
        for path in listed_parts(catalogue):
            found.setdefault(path.split("/")[0], []).append(path)
    return found


def receive(service: Service, requests: list[bytes], spans: int) -> None:
    """Send requests; return when there are so many spans, and every trace is judged."""
    with grpc_export(service) as export:
        for request in requests:
            export(request, timeout=30)
    wait_until(lambda: service.count("spans") == spans and _judged(service), "every trace to be judged")


def _judged(service: Service) -> bool:
    judged = service.count("(SELECT DISTINCT trace_id FROM evaluations WHERE scope = 'trace')")
    return judged == service.count("(SELECT DISTINCT trace_id FROM memory_operations)")


def test_beside_a_service_and_without_one(tmp_path: Path) -> None:
    """A service merges what it has, and goes on; without one, the command does. The tables stay as they were, and of
    each there are as few files as can be: one, and the empty one that says what columns there are."""
    requests = workload(seed=3, requests=24)
    with Service(tmp_path / "data") as service:
        for some in (requests[:12], requests):  # the first ones twice
            receive(service, some, len(keys(some)))
            before = tables(service.data_dir)
            text = printed("compact", "--data-dir", service.data_dir)
            assert tables(service.data_dir) == before
            parts = files(service.data_dir)
            assert max(map(len, parts.values())) <= 2, parts
            assert text.endswith(f" files before, {sum(map(len, parts.values()))} now\n")
    text = printed("compact", "--data-dir", tmp_path / "data")
    assert text.split()[0] == text.split()[3]
    assert tables(tmp_path / "data") == before


def test_a_moved_folder_is_served_after_it(tmp_path: Path) -> None:
    """The catalogue names files where they were; compacting, as any start of a service, names them where they are."""
    requests = workload(seed=4, requests=3)
    with Service(tmp_path / "data") as service:
        receive(service, requests, len(keys(requests)))
    before = tables(tmp_path / "data")
    moved = tmp_path / "elsewhere"
    (tmp_path / "data").rename(moved)
    assert f"was copied or moved from there. `weaklink compact --data-dir {moved}`" in refused(
        "sql", "FROM spans", "--data-dir", moved
    )
    with Service(moved):
        assert f"{len(before['spans'])}" in printed("sql", "SELECT count(*) FROM spans", "--data-dir", moved)
    again, link = tmp_path / "again", tmp_path / "link"
    shutil.copytree(moved, again)
    assert "was copied or moved" in refused("chain", "x", "--data-dir", again)  # though the old files are still there
    printed("compact", "--data-dir", again)
    link.symlink_to(again)
    assert f"{len(before['spans'])}" in printed("sql", "SELECT count(*) FROM spans", "--data-dir", link)
    assert tables(again) == before


def test_other_settings_change_no_row(tmp_path: Path) -> None:
    """Whoever compacts need not know with which settings the numbers were made: they stay, and so do the views."""
    file = tmp_path / "spans.binpb"
    file.write_bytes(framing.join(workload(seed=5, requests=3)))
    settings = tmp_path / "weaklink.yaml"
    settings.write_text(SETTINGS)
    config = load_config(settings, {}, {"--data-dir": str(tmp_path / "data")})
    take(config, [file])
    before = tables(tmp_path / "data")
    moved = tmp_path / "elsewhere"
    (tmp_path / "data").rename(moved)
    printed("compact", "--data-dir", moved)
    assert tables(moved) == before
    with closing(State.open(moved / "state.duckdb")) as state:
        assert state.changed_settings(analysis_settings(config)) == []
        assert state.stored_settings() == analysis_settings(config)


def test_what_cannot_be_merged_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command fails, the rows stay as they were, and once there is room they are merged."""

    def full(*_: object) -> Part:
        raise OSError(errno.ENOSPC, "No space left on device")

    data_dir, file = tmp_path / "data", tmp_path / "spans.binpb"
    file.write_bytes(framing.join(workload(seed=5, requests=3)))
    take(Config(data_dir=data_dir), [file])
    before, listed = tables(data_dir), files(data_dir)
    with monkeypatch.context() as patch:
        patch.setattr(Lake, "merge", full)
        done = CliRunner().invoke(main, ["compact", "--data-dir", str(data_dir)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "could not be merged, and are as they were" in done.stderr
    assert (tables(data_dir), files(data_dir)) == (before, listed)
    printed("compact", "--data-dir", data_dir)
    assert sum(map(len, files(data_dir).values())) < sum(map(len, listed.values()))
    assert tables(data_dir) == before


def test_a_folder_without_an_analysis_is_left_alone(tmp_path: Path) -> None:
    """There is nothing to compact, and nothing is made."""
    assert "no data folder" in refused("compact", "--data-dir", tmp_path)
    assert list(tmp_path.iterdir()) == []
