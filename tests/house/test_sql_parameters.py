"""Where a statement and its values come from."""

import json
from pathlib import Path

import pytest

from sql_call import answered, refusal

WEAK = "SELECT memory_id FROM memories WHERE agent_id = $agent AND effective_confidence < $below"


def rows(data_dir: Path, *arguments: str, stdin: str = "") -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(answered(data_dir, *arguments, "--format", "json", stdin=stdin))
    return found


def test_a_text_takes_the_type_that_its_place_asks_for(data_dir: Path) -> None:
    """Numbers, times and texts are given alike, and a quote is only a character."""
    given = ["--param", "agent=action", "--param", "below=0.5"]
    assert rows(data_dir, WEAK, *given) == [{"memory_id": "action-1"}]
    assert rows(data_dir, WEAK, *given, "--param", "below=0.1") == []
    assert rows(data_dir, "SELECT $text AS text", "--param", "text=it's = 'so'; --") == [{"text": "it's = 'so'; --"}]
    since = "SELECT count(*) AS n FROM memories WHERE written_at >= $since"
    assert rows(data_dir, since, "--param", "since=2026-01-03") == [{"n": 0}]


def test_a_type_can_be_named(data_dir: Path) -> None:
    """NAME:TYPE=VALUE is a value of that type, whatever its place asks for."""
    assert rows(data_dir, "SELECT $n + 1 AS n", "--param", "n:integer=41") == [{"n": 42}]
    assert rows(
        data_dir, "SELECT $l AS l, typeof($d) AS d", "--param", "l:varchar[]=[a, b]", "--param", "d:date=2026-01-02"
    ) == [{"l": ["a", "b"], "d": "DATE"}]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["SELECT 1", "--param", "x"], "'x': expected NAME=VALUE"),
        (["SELECT 1", "--param", "1x=3"], "'1x=3': expected NAME=VALUE"),
        (["SELECT $x", "--param", "x:number=3"], "--param x:number: '3'"),
        (["SELECT $x", "--param", "x:double=abc"], "--param x:double: 'abc'"),
        (["SELECT $x + $y", "--param", "x:int=1"], "hint: --param y=VALUE gives it"),
        (["SELECT 1", "--param", "y=1"], "--param y: the statement has no $y"),
        (["SELECT $x + 1", "--param", "x=1"], "--param NAME:TYPE=VALUE"),
        (["FROM memories WHERE effective_confidence < $x", "--param", "x=low"], "low"),
    ],
)
def test_a_bad_parameter_is_refused(data_dir: Path, arguments: list[str], expected: str) -> None:
    """A value that is not given, not used or not of its type is named."""
    assert expected in refusal(data_dir, *arguments)


def test_a_statement_comes_from_a_file_or_standard_input(data_dir: Path, tmp_path: Path) -> None:
    """--file FILE, --file - and - are the statement as an argument is."""
    file = tmp_path / "weak.sql"
    file.write_text(f"-- Who is weak?\n{WEAK}\nORDER BY ALL;\n")
    given = ["--param", "agent=action", "--param", "below=0.5"]
    answer = [{"memory_id": "action-1"}]
    assert rows(data_dir, "--file", str(file), *given) == answer
    assert rows(data_dir, "--file", "-", *given, stdin=WEAK) == answer
    assert rows(data_dir, "-", *given, stdin=WEAK) == answer


def test_a_statement_has_one_source(data_dir: Path, tmp_path: Path) -> None:
    """Two of them, one that cannot be read, one that is no text, or none at all, are refused."""
    file = tmp_path / "binary"
    file.write_bytes(b"\xff\xfe")
    assert "without a STATEMENT" in refusal(data_dir, "SELECT 1", "--file", str(file))
    assert "nowhere.sql" in refusal(data_dir, "--file", str(tmp_path / "nowhere.sql"))
    assert "binary" in refusal(data_dir, "--file", str(file))
    assert "expected an SQL statement" in refusal(data_dir)
    assert "expected one SQL statement, got 2" in refusal(data_dir, "-", stdin="SELECT 1; SELECT 2")


def test_statements_from_standard_input_run_one_by_one(data_dir: Path) -> None:
    """Without a statement each one of standard input is answered, with dot commands between, up to what fails."""
    script = "SELECT 'a;\n' AS a; SELECT 2 AS b\n;\n.format json\nSELECT $x AS c; -- the last;\nSELECT 4 AS d"
    shown = answered(data_dir, "--format", "csv", "--param", "x=3", "--param", "other=4", stdin=script)
    assert shown == 'a\n"a;\n"\nb\n2\n[\n\t{"c":"3"}\n]\n[\n\t{"d":4}\n]\n'
    assert answered(data_dir, "--format", "csv", stdin="SELECT 1 AS a;\n.quit\nSELECT 2") == "a\n1\n"
    assert "nowhere" in refusal(data_dir, stdin="FROM nowhere;\nSELECT 1;")
