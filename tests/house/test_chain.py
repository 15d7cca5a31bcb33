from pathlib import Path

import pytest

from otlp import payload, write
from shell import printed, refused
from weaklink_processor.queue import framing


def chain(data_dir: Path, *arguments: str) -> list[str]:
    return printed("chain", *arguments, "--data-dir", data_dir).splitlines()


def test_the_cascade(data_dir: Path) -> None:
    """The newest version is the root, its ancestors hang below it, and the weakest link is marked and named."""
    triage = "triage-1  version 1  by triage  declared 0.30  effective 0.30  FILTER  2026-01-02 03:04:05"
    assert chain(data_dir, "action-1") == [
        "action-1  version 1  by action  declared 0.95  effective 0.30  FILTER  2026-01-02 03:04:05",
        "├── diagnosis-1  version 2  by diagnosis  declared 0.85  effective 0.30  FILTER  2026-01-02 03:04:05",
        f"│   └── {triage}  <- weakest link",
        "└── ghost  unresolved: not written or read here",
        "weakest link: triage-1, effective confidence 0.30",
    ]


def test_the_newest_version_counts(data_dir: Path) -> None:
    """Of several versions the newest is shown."""
    assert chain(data_dir, "diagnosis-1")[0].startswith("diagnosis-1  version 2  by diagnosis")


def test_a_cycle_ends(data_dir: Path) -> None:
    """A memory derived from itself is named where the cycle closes, once."""
    lines = chain(data_dir, "loop-a")
    assert [line.endswith("(a cycle)") for line in lines] == [False, False, True, False]


def test_a_diamond_is_drawn_once(data_dir: Path) -> None:
    """An ancestor met by two paths is drawn with its own ancestors once."""
    lines = chain(data_dir, "diamond")
    assert sum("triage-1  version" in line for line in lines) == 2
    assert sum("(drawn elsewhere)" in line for line in lines) == 1


def test_a_parent_of_another_store_is_found(data_dir: Path) -> None:
    """A parent that lies in the one other store that has it is shown, not called unresolved."""
    assert "shelf  version 1  by s" in chain(data_dir, "far")[1]


def test_an_ambiguous_id_lists_its_memories(data_dir: Path) -> None:
    """An id of several memories is refused with what to add, and what to add works."""
    message = refused("chain", "twin", "--data-dir", data_dir)
    assert [line.strip() for line in message.splitlines() if "--environment" in line] == [
        "--environment prod --store ''",
        "--environment prod --store b",
        "--environment test --store ''",
    ]
    assert "declared 0.50" in chain(data_dir, "twin", "--environment", "prod", "--store", "")[0]
    assert "declared 0.70" in chain(data_dir, "twin", "--environment", "test")[0]


def test_an_unknown_id_gets_near_ones(data_dir: Path) -> None:
    """An id that is not there is refused with the nearest that are."""
    assert "near ones: triage-1" in refused("chain", "triage-2", "--data-dir", data_dir)
    assert "near" not in refused("chain", "zzz", "--data-dir", data_dir)


@pytest.mark.parametrize("memory_id", ["' OR 1=1 --", "", "%"])
def test_an_id_is_only_data(data_dir: Path, memory_id: str) -> None:
    """An id never becomes part of a statement."""
    assert "no memory" in refused("chain", memory_id, "--data-dir", data_dir)


def test_a_terminal_is_not_obeyed(data_dir: Path) -> None:
    """Escapes and markup in ids and agents are shown, not followed."""
    lines = chain(data_dir, "evil\x1b[31m")
    assert lines[0].startswith("evil\\x1b[31m  version 1  by x[bold]")
    assert "\x1b" not in "".join(lines)


@pytest.fixture(scope="module")
def tall(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a chain of 60 memories, and one memory with 300 parents."""
    folder = tmp_path_factory.mktemp("tall")
    spans = [
        *(write(1, n + 1, f"step-{n}", 0.9, n, parents=[f"step-{n - 1}"] if n else []) for n in range(60)),
        *(write(2, n + 1, f"leaf-{n:03}", 0.9, n) for n in range(299)),
        write(2, 300, "wide", 0.9, 300, parents=[f"leaf-{n:03}" for n in range(300)]),
    ]
    (folder / "spans.binpb").write_bytes(framing.join([payload(spans)]))
    printed("replay", folder / "spans.binpb", "--data-dir", folder / "data")
    return folder / "data"


@pytest.mark.parametrize(("memory_id", "drawn", "more"), [("step-59", 41, 19), ("wide", 200, 101)])
def test_a_drawing_ends_and_says_so(tall: Path, memory_id: str, drawn: int, more: int) -> None:
    """Generations and lines are bounded; what is not drawn is counted, unresolved parents too, and SQL has the rest."""
    *tree, rest, _ = chain(tall, memory_id)
    assert len(tree) == drawn
    all_ = f"chain_of('{memory_id}', environment := '', store := '')"
    assert rest.strip(" └─") == f"and {more} more; all are in {all_}"
