"""What is said where a statement is wrong."""

from pathlib import Path

import pytest

from lake_folder import LakeFolder
from sql_call import refusal
from weaklink_processor.commands.sql_hints import nearest


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> LakeFolder:
    return LakeFolder(tmp_path_factory.mktemp("hints") / "data")


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT effectiv_confidence FROM memories", "hint: the nearest columns here are effective_confidence"),
        ("SELECT m.confidence FROM memories AS m", "hint: the nearest columns here are effective_confidence"),
        ("SELECT * EXCLUDE (memory) FROM memories", "hint: the nearest columns here are memory_id"),
        ("SELECT trace_id FROM memories", "hint: trace_id is a column of spans"),
        ('FROM memories WHERE memory_id = "triage-1"', "hint: a text is in single quotes: 'triage-1'"),
        ("FROM memorys", "hint: the nearest views and macros are memories"),
        ("FROM nowhere", "hint: views and macros: memories, spans"),
        ("SELECT medain(effective_confidence) FROM memories", "hint: the nearest functions are median"),
        ("SELECT date_trnc('day', now())", "hint: the nearest functions are date_trunc"),
    ],
)
def test_the_nearest_name_is_told(folder: LakeFolder, statement: str, expected: str) -> None:
    """A name that is not there is answered with those that may have been meant."""
    assert expected in refusal(folder.path, statement)


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT memory_id,\n  efective\nFROM memories", "LINE 2:   efective\n          ^^^^^^^^\n"),
        (f"SELECT {'1, ' * 60}efective FROM memories", "LINE 1: ..., 1, 1"),
        (
            "SELECT 'é', efective FROM memories",
            "LINE 1: SELECT 'é', efective FROM memories\n                    ^^^^^^^^\n",
        ),
        ("SELECT 1 FRM memories", "LINE 1: SELECT 1 FRM memories"),
        ("FROM\n  nowhere", "LINE 2:   nowhere\n          ^^^^^^^\n"),
    ],
)
def test_the_place_is_marked(folder: LakeFolder, statement: str, expected: str) -> None:
    """The line of the name is shown, as much of it as is wanted, with a mark below the name."""
    message = refusal(folder.path, statement)
    assert expected in message
    lines = message.splitlines()
    (shown,) = [number for number, line in enumerate(lines) if line.startswith("LINE ")]
    mark = lines[shown + 1]
    assert lines[shown][mark.index("^") : len(mark)] in statement
    assert set(mark) == {" ", "^"}


def test_a_terminal_is_not_obeyed(folder: LakeFolder) -> None:
    """A statement or a value that is shown in an error is shown as text."""
    assert "\x1b" not in refusal(folder.path, "SELECT '\x1b[31m', efective FROM memories")
    assert "\\x1b[31m" in refusal(folder.path, "SELECT (chr(27) || '[31m' || memory_id)::INTEGER FROM memories")


def test_nearest_names_come_in_order() -> None:
    """What looks like it comes before what has it in it; nothing like it is nothing."""
    names = ["chain_min_confidence", "declared_confidence", "confidence_flag", "confidenze", "spans"]
    assert nearest("confidence", names) == [names[3], names[2], names[1], names[0]]
    assert nearest("xyzzy", names) == []


def test_a_missing_data_folder_says_how_to_make_one(tmp_path: Path) -> None:
    """It is an error, also for a watch and for a shell, that names the command."""
    for arguments in (["SELECT 1"], ["SELECT 1", "--watch", "1"], []):
        assert "make one with `weaklink serve`" in refusal(tmp_path / "none", *arguments, stdin="SELECT 1;")
