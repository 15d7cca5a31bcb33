import json
import os
import pty
import re
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from otlp import S, payload, read, write
from shell import PROGRAM, printed, refused, weaklink
from weaklink_processor.queue import framing

STORY: Sequence[S] = (
    write(1, 1, "triage", 0.30, 1),
    read(1, 2, "triage", 0.30, 2),
    write(1, 3, "diagnosis", 0.85, 3, parents=["triage"]),
    write(2, 4, "twin", 0.5, 4),
    replace(write(3, 5, "twin", 0.6, 4), environment="prod"),
    write(4, 6, "evil\x1b[31m[bold]", 0.6, 4),
    write(5, 7, "popular", 0.6, 4),
    *(read(5, 100 + n, "popular", 0.6, 5 + n) for n in range(120)),
)
UNTOLD: Sequence[S] = (
    *(
        S(1, 1 + n, attributes={"gen_ai.operation.name": "create_memory", "gen_ai.memory.record.id": "shared"} | store)
        for n, store in enumerate([{"gen_ai.memory.store.id": "a"}, {"gen_ai.memory.store.id": "b"}])
    ),
    read(2, 3, "shared", None, 2),
    write(2, 4, "fix", 0.9, 3, parents=["shared"]),
    write(3, 5, "only", 0.9, 1),
    replace(write(4, 6, "copy", 0.9, 3, parents=["only", "shared"]), environment="it's"),
    replace(write(5, 7, "shared", 0.9, 400), environment="prod"),
    replace(write(5, 8, "late", 0.9, 3, parents=["shared"]), environment="prod"),
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder in which the story was replayed."""
    folder = tmp_path_factory.mktemp("told")
    (folder / "story.binpb").write_bytes(framing.join([payload(STORY)]))
    printed("replay", folder / "story.binpb", "--data-dir", folder / "data")
    return folder / "data"


def test_what_stands_on_a_memory(told: Path) -> None:
    """A row a version, a read and a decision, own versions first, and a line that counts them."""
    lines = printed("impact", "triage", "--data-dir", told).splitlines()
    rows = [[cell.strip() for cell in line.split("│")[1:4]] for line in lines if line.startswith("│")]
    assert rows == [
        ["version", "triage@1", "0"],
        ["version", "diagnosis@1", "1"],
        ["read", f"{2:016x}", "0"],
        ["decision", f"{1:016x}", "0"],
    ]
    assert lines[-1] == "reached: 2 versions, 1 read, 1 decision"


def test_json_has_the_columns_of_the_macro(told: Path) -> None:
    """An array of objects, times with their zone."""
    rows = json.loads(printed("impact", "diagnosis", "--data-dir", told, "--format", "json"))
    (time,) = [row.pop("time") for row in rows]
    assert rows == [{"kind": "version", "id": "diagnosis@1", "hop": 0, "trace_id": f"{1:032x}"}]
    assert time.endswith("+00:00")


def test_a_table_is_short_and_says_so(told: Path) -> None:
    """A table stops at 100 rows; the count and json do not."""
    lines = printed("impact", "popular", "--data-dir", told).splitlines()
    assert sum(line.startswith("│") for line in lines) == 100
    assert lines[-2:] == ["the first 100 of 122", "reached: 1 version, 120 reads, 1 decision"]
    assert len(json.loads(printed("impact", "popular", "--data-dir", told, "--format", "json"))) == 122


def test_an_id_means_one_memory(told: Path) -> None:
    """An id of several memories, or of none, is refused as `chain` refuses it, and what it lists works."""
    for command in ("impact", "chain"):
        message = refused(command, "twin", "--data-dir", told)
        assert "--environment '' --store ''" in message
        assert "--environment prod --store ''" in message
        assert "near ones: triage" in refused(command, "triaje", "--data-dir", told)
    assert "twin@1" in printed("impact", "twin", "--environment", "prod", "--store", "", "--data-dir", told)


def test_what_may_mean_it_is_counted_apart(tmp_path: Path) -> None:
    """What names a memory and resolves to none is told on stderr, as far as it may mean this one: in its environment,
    and in those that know no memory of that id."""
    (tmp_path / "story.binpb").write_bytes(framing.join([payload(UNTOLD)]))
    printed("replay", tmp_path / "story.binpb", "--data-dir", tmp_path / "data")
    said = {
        ("shared", "--store", "a"): "1 version, 1 read, 1 decision in environment ''; "
        "1 version, 1 decision in environment 'it'\"'\"'s'",
        ("only",): "1 version, 1 decision in environment 'it'\"'\"'s'",
    }
    for asked, counted in said.items():
        for more in ((), ("--what-if", "0.1"), ("--format", "json")):
            done = weaklink("impact", *asked, *more, "--data-dir", tmp_path / "data")
            assert (
                done.stderr.decode() == f"not counted, though they name {asked[0]} and it may be this one: {counted}\n"
            )
    assert weaklink("impact", "fix", "--data-dir", tmp_path / "data").stderr == b""


def test_a_memory_that_is_elsewhere_is_told_from_none(told: Path) -> None:
    """Its environments and stores are listed, as options, and not its own id as one that is near."""
    for command in ("impact", "chain"):
        for options in (("--environment", "prd"), ("--store", "mem-b"), ("--environment", "prod", "--store", "x")):
            assert refused(command, "twin", *options, "--data-dir", told).splitlines() == [
                "Error: no memory twin there; it is in:",
                "  --environment '' --store ''",
                "  --environment prod --store ''",
            ]


def test_a_terminal_is_not_obeyed(told: Path) -> None:
    """Escapes and markup in ids are shown, not followed."""
    assert "evil\\x1b[31m[bold]@1" in printed("impact", "evil\x1b[31m[bold]", "--data-dir", told)


@pytest.mark.parametrize("columns", [80, 300])
@pytest.mark.parametrize("more", [(), ("--what-if", "0.9")], ids=["impact", "what-if"])
def test_a_terminal_shows_names_and_ids_whole(told: Path, columns: int, more: tuple[str, ...]) -> None:
    """However narrow it is: an id goes on in the next line, and where names of columns do not fit, each has its own."""
    ours, theirs = pty.openpty()
    command = [*PROGRAM, "impact", "triage", "--data-dir", str(told), *more]
    with subprocess.Popen(command, stdout=theirs, env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}):
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # it has ended
            while piece := os.read(ours, 4096):
                shown += piece
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
    names = ("score_effective_before", "verdict_effective_changes") if more else ("kind", "hop", "trace_id", "time")
    assert [name for name in names if name not in text] == []
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= columns
