"""What a result looks like."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from shell import PROGRAM
from sql_call import answered, call
from weaklink_processor.commands.sql_forms import Sheet, write
from weaklink_service import PATIENCE

LONG = "SELECT 1234567.25::DOUBLE AS number, NULL AS nothing, repeat('long ', 40) AS text, chr(27) || '[31m' AS colour"


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_table_fits_its_sheet(tmp_path: Path, columns: int) -> None:
    """No line is wider than the terminal: long texts are shortened, numbers and nulls are whole, nothing is obeyed."""
    with duckdb.connect() as connection:
        write(connection, connection.sql(f"{LONG} FROM range(90)"), "table", tmp_path / "table", Sheet(columns))
    table = (tmp_path / "table").read_text("utf-8")
    assert max(map(len, table.splitlines())) <= columns
    assert "1234567.25" in table
    assert "NULL" in table
    assert "long " * 40 not in table
    assert "\x1b" not in table


def test_other_forms_are_exact(data_dir: Path) -> None:
    """What a table shortens is whole in Markdown and CSV, where Markdown's own marks are text."""
    assert "long " * 40 in answered(data_dir, LONG, "--format", "csv")
    assert "long " * 40 in answered(data_dir, LONG, "--format", "markdown")
    marked = (
        "SELECT 'a|b' AS \"x_y\", '__all__' AS y, '<b>' || chr(10) || '`' AS z, 0.5 AS n, NULL AS nothing, [1] AS l"
    )
    assert answered(data_dir, marked, "--format", "markdown") == (
        "| x_y | y | z | n | nothing | l |\n"
        "| --- | --- | --- | --: | --- | --- |\n"
        "| a\\|b | \\_\\_all\\_\\_ | \\<b><br>\\` | 0.5 | NULL | \\[1] |\n"
    )


def test_arrow_is_a_stream(data_dir: Path) -> None:
    """It holds types and rows."""
    result = call(data_dir, "SELECT memory_id, version FROM memories WHERE version = 2", "--format", "arrow")
    table = pa.ipc.open_stream(result.stdout_bytes).read_all()
    assert table.to_pydict() == {"memory_id": ["diagnosis-1"], "version": [2]}


def test_max_rows_bounds_every_form(data_dir: Path) -> None:
    """A table shows the first and the last, every other form has the first."""
    table = answered(data_dir, "FROM range(1000)", "--max-rows", "4")
    assert [number for number in ("0", "1", "2", "997", "998", "999") if f" {number} │" in table] == [
        "0",
        "1",
        "998",
        "999",
    ]
    assert answered(data_dir, "FROM range(1000)", "--max-rows", "2", "--format", "csv") == "range\n0\n1\n"
    assert answered(data_dir, "FROM range(1000)", "--max-rows", "1", "--format", "markdown").count("\n") == 3


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_json_has_no_number_that_is_none(data_dir: Path, form: str) -> None:
    """NaN and infinity are null, in whatever holds them, too; a null of these stays one, a text stays as it is."""
    query = """
        SELECT
            'nan'::DOUBLE AS a, '-inf'::FLOAT AS "b ""c", ['nan'::DOUBLE, 1.5] AS d, 'NaN' AS e, 1 AS f,
            2.5::DOUBLE AS g, {'it''s': 'inf'::DOUBLE, 'in': [[{'x': 'nan'::DOUBLE, 'y': 'z'}]]} AS h,
            NULL::STRUCT(x DOUBLE) AS i, MAP {'n': ['nan'::FLOAT, 1]} AS j, NULL::MAP(VARCHAR, DOUBLE) AS k,
            MAP {'n': 1} AS l, row(1, [row('nan'::DOUBLE)]) AS m, NULL::TUPLE(INTEGER, DOUBLE) AS n,
            ['nan'::DOUBLE::UNION("a b" DOUBLE, t VARCHAR), 'nan', NULL] AS o, row() AS p, struct_pack() AS q
    """

    def constant(name: str) -> object:
        raise AssertionError(name)

    told = json.loads(answered(data_dir, query, "--format", form), parse_constant=constant)
    row = told[0] if form == "json" else told
    numbers = {"a": None, 'b "c': None, "d": [None, 1.5], "e": "NaN", "f": 1, "g": 2.5}
    maps = {"j": {"n": [None, 1.0]}, "k": None, "l": {"n": 1}}
    rows: dict[str, object] = {
        "m": [1, [[None]]],
        "n": None,
        "o": [{"a b": None}, {"t": "nan"}, None],
        "p": [],
        "q": {},
    }
    assert row == {**numbers, **maps, **rows, "h": {"it's": None, "in": [[{"x": None, "y": "z"}]]}, "i": None}


def test_a_plan_is_drawn(data_dir: Path) -> None:
    """EXPLAIN prints its drawing as it is."""
    lines = answered(data_dir, "EXPLAIN FROM range(3)").splitlines()
    assert lines[0].startswith("╭")
    assert lines[-1].startswith("╰")


def test_no_rows_are_said(data_dir: Path) -> None:
    """A result without rows shows its columns and says so."""
    table = answered(data_dir, "SELECT memory_id FROM memories WHERE false")
    assert "memory_id" in table
    assert "0 rows" in table


def test_a_pipe_need_not_wait_for_the_whole_result(data_dir: Path) -> None:
    """What there is goes through it, and the query ends when its reader has gone; a file gets all or nothing."""
    query = "FROM range(1_000_000) UNION ALL SELECT sum(hash(a)) FROM range(100_000_000_000) AS r(a)"
    command = [*PROGRAM, "sql", query, "--data-dir", str(data_dir), "--format", "csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout
            assert select.select([process.stdout], [], [], PATIENCE)[0], "nothing comes"
            assert process.stdout.readline() == b"range\n"
            process.stdout.close()
            process.wait(PATIENCE)
        finally:
            process.kill()
        assert process.stderr
        assert process.stderr.read() == b""


@pytest.mark.parametrize("rows", [1_000, 3_000_000])
def test_a_statement_that_fails_late_may_have_printed_a_part(data_dir: Path, tmp_path: Path, rows: int) -> None:
    """Of a long result, and only into a pipe; the exit code and the message are those of any other failure."""
    query = f"SELECT if(i = {rows - 1}, error('late'), i) AS i FROM range({rows}) AS r(i)"
    command = [*PROGRAM, "sql", query, "--data-dir", str(data_dir), "--format", "csv"]
    piped = subprocess.run(command, capture_output=True, check=False)
    assert (piped.returncode, piped.stderr) == (2, b"Error: Invalid Input Error: late\n")
    assert piped.stdout[:6] in ({b"", b"i\n0\n1\n"} if rows > 1_000 else {b""})
    with (tmp_path / "file").open("wb") as file:
        assert subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=False).returncode == 2
    assert (tmp_path / "file").read_bytes() == b""


def test_a_reader_that_leaves_early_leaves_nothing_behind(data_dir: Path, tmp_path: Path) -> None:
    """`weaklink sql ... | head` ends quietly, and its temporary files are gone."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [*PROGRAM, "sql", "FROM range(1000000)", "--data-dir", str(data_dir), "--format", "csv"]
    with subprocess.Popen(
        command, env={**os.environ, "TMPDIR": str(scratch)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"range\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert list(scratch.iterdir()) == []


STUCK = """
import time
from weaklink_processor.cli import main
from weaklink_processor.commands import sql_attend, sql_session

def write(_catalogue, _relation, _form, file, _sheet):
    file.write_bytes(b"x" * 3_000_000)
    time.sleep(600)

sql_attend.STOPPING = 0.2
sql_session.write = write
main()
"""


@pytest.mark.parametrize(("interrupted", "code", "said"), [(False, 1, b""), (True, 130, b"Aborted!\n")])
def test_a_query_that_does_not_stop_holds_nobody_up(
    data_dir: Path, tmp_path: Path, *, interrupted: bool, code: int, said: bytes
) -> None:
    """DuckDB's writers may wait for each other for ever where a COPY is broken off: the process ends without them."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-c", STUCK, "sql", "SELECT 1", "--data-dir", str(data_dir), "--format", "csv"]
    with subprocess.Popen(
        command, env={**os.environ, "TMPDIR": str(scratch)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.read(1) == b"x"
            if interrupted:
                process.send_signal(signal.SIGINT)
            process.stdout.close()
            assert process.wait(PATIENCE) == code
        finally:
            process.kill()
        assert process.stderr
        assert process.stderr.read() == said
    assert list(scratch.iterdir()) == []
