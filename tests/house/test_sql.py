import csv
import json
from pathlib import Path

import duckdb
import pytest

from shell import printed, refused, weaklink

QUERY = "SELECT memory_id, version, effective_confidence, written_at FROM memory_versions WHERE version = 2 -- newest;"
ROW = {"memory_id": "diagnosis-1", "version": 2, "effective_confidence": 0.3, "written_at": "2026-01-02 03:04:05+00"}


def test_every_form_says_the_same(data_dir: Path, tmp_path: Path) -> None:
    """json, jsonl, csv and parquet hold the same rows, the first three with times in UTC."""
    forms = {form: printed("sql", QUERY, "--data-dir", data_dir, "--format", form) for form in ("json", "jsonl", "csv")}
    assert json.loads(forms["json"]) == [ROW]
    assert json.loads(forms["jsonl"]) == ROW
    assert list(csv.DictReader(forms["csv"].splitlines())) == [{name: str(value) for name, value in ROW.items()}]
    file = tmp_path / "piped.parquet"
    file.write_bytes(weaklink("sql", QUERY, "--data-dir", data_dir, "--format", "parquet").stdout)
    assert duckdb.execute("SELECT memory_id, version FROM read_parquet($f)", {"f": str(file)}).fetchall() == [
        ("diagnosis-1", 2)
    ]


def test_a_table_shows_every_column(data_dir: Path) -> None:
    """Away from a terminal a table is as wide as its columns."""
    table = printed("sql", "SELECT repeat('x', 300) AS wide, 1 AS narrow", "--data-dir", data_dir)
    assert "x" * 300 in table
    assert "narrow" in table


@pytest.mark.parametrize(
    "statement", ["SHOW TABLES", "DESCRIBE spans", "SUMMARIZE spans", "FROM spans", "EXPLAIN FROM spans"]
)
def test_any_statement_with_a_result_runs(data_dir: Path, statement: str) -> None:
    """Not only SELECT has a result to print, in every form."""
    assert json.loads(printed("sql", statement, "--data-dir", data_dir, "--format", "json"))
    assert printed("sql", statement, "--data-dir", data_dir)


def test_output_is_written_whole_or_not_at_all(data_dir: Path, tmp_path: Path) -> None:
    """A file is replaced by a whole result; a statement that fails midway leaves it as it was."""
    file = tmp_path / "out.csv"
    assert printed("sql", "SELECT 1 AS one", "--data-dir", data_dir, "--format", "csv", "--output", file) == ""
    assert file.read_text() == "one\n1\n"
    fails = "SELECT CASE WHEN range = 9999 THEN error('midway') END FROM range(10000)"
    assert "midway" in refused("sql", fails, "--data-dir", data_dir, "--format", "csv", "--output", file)
    assert "midway" in refused("sql", fails, "--data-dir", data_dir, "--format", "csv")
    assert file.read_text() == "one\n1\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out.csv"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELEC 1", "syntax error"),
        ("SELECT nothing FROM spans", "nothing"),
        ("FROM nowhere", "nowhere"),
        ("SELECT 1; SELECT 2", "expected one SQL statement, got 2"),
        ("", "expected one SQL statement, got 0"),
        ("CREATE TABLE t (i INT)", "read-only"),
        ("SELECT $x", "parameters"),
    ],
)
def test_a_bad_statement_is_refused(data_dir: Path, statement: str, expected: str) -> None:
    """What cannot be run is exit code 2 and DuckDB's own words."""
    assert expected in refused("sql", statement, "--data-dir", data_dir)


def test_without_data_there_is_a_hint(tmp_path: Path) -> None:
    """A folder that is not there, or that nothing was published in yet, is said so; nothing is made."""
    assert "weaklink serve" in refused("sql", "SELECT 1", "--data-dir", tmp_path / "none")
    assert "first span" in refused("sql", "SELECT 1", "--data-dir", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_table_goes_to_no_file(data_dir: Path, tmp_path: Path) -> None:
    """--output needs a form meant for files."""
    assert "--output" in refused("sql", "SELECT 1", "--data-dir", data_dir, "--output", tmp_path / "x")
