"""Nothing that a user writes changes a file, or reads one beside the lake."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lake_folder import LakeFolder
from sql_call import answered, refusal

READ_ONLY = "`weaklink sql` is read-only"
KINDS = [
    "COPY (SELECT 1) TO '{lake}/new.csv'",
    "COPY memories TO '{part}' (FORMAT parquet, USE_TMP_FILE false)",
    "COPY (PIVOT spans ON name USING count(*)) TO '{lake}/new.csv'",
    "EXPORT DATABASE '{lake}/copy'",
    "IMPORT DATABASE '{lake}'",
    "ATTACH '{outside}/other.duckdb'",
    "ATTACH ':memory:' AS memory",
    "DETACH weaklink",
    "USE system",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{outside}/evil.so'",
    "UPDATE EXTENSIONS",
    "SET enable_external_access = true",
    "SET temp_directory = '{outside}'",
    "SET VARIABLE x = 1",
    "RESET allowed_directories",
    "PRAGMA threads = 1",
    "PRAGMA database_size",
    "CREATE TABLE t (i INT)",
    "CREATE TEMP TABLE t AS SELECT 1",
    "CREATE OR REPLACE VIEW spans AS SELECT 1",
    "CREATE MACRO m(x) AS x",
    "CREATE PERSISTENT SECRET (TYPE http)",
    "INSERT INTO lake.spans VALUES ('x', 'y')",
    "UPDATE lake.spans SET name = 'x'",
    "DELETE FROM lake.spans",
    "DROP VIEW spans",
    "ALTER VIEW spans RENAME TO x",
    "COMMENT ON VIEW spans IS 'mine'",
    "TRUNCATE lake.spans",
    "VACUUM",
    "CHECKPOINT",
    "BEGIN",
    "PREPARE p AS COPY (SELECT 1) TO '{lake}/new.csv'",
    "EXECUTE p",
    "CALL enable_logging(storage = 'file', storage_path = '{outside}')",
]
HIDDEN = [
    "WITH x AS (COPY (SELECT 1) TO '{lake}/new.csv') FROM x",
    "with x as materialized (/* */ cOpY memories TO '{part}' (FORMAT parquet, USE_TMP_FILE false)) select 1",
    "WITH x AS (COPY (SELECT 1) TO '{catalogue}' (FORMAT csv, USE_TMP_FILE false)) FROM x",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{lake}/new.csv'",
    "EXPLAIN /* ANALYZE SELECT 1 */ ANALYZE COPY (SELECT 1) TO '{lake}/new.csv'",
    "explain analyse COPY (SELECT 1) TO '{lake}/new.csv'",
    "EXPLAIN (ANALYZE) WITH x AS (COPY (SELECT 1) TO '{lake}/new.csv') FROM x",
    "FROM json_execute_serialized_sql(json_serialize_sql('WITH x AS (COPY (SELECT 1) TO ''{lake}/new.csv'') FROM x'))",
    "FROM system.main.\"json_execute_serialized_sql\"(json_serialize_sql('SELECT 1'))",
    "FROM query('FROM json_exe' || 'cute_serialized_sql(''' || json_serialize_sql('SELECT 1') || ''')')",
    "PIVOT (FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1 AS a'))) ON a USING count(*)",
]
OTHER_FILES = [
    "FROM '{outside}/secret.csv'",
    "FROM read_csv('/etc/passwd')",
    "FROM read_text('{lake}/../../outside/secret.csv')",
    "FROM read_blob('{outside}/secret.csv')",
    "FROM read_parquet(['{part}', '{outside}/secret.csv'])",
    "FROM glob('{outside}/*')",
    "FROM sniff_csv('{outside}/secret.csv')",
    "FROM read_text('{queue}')",
    "FROM 'https://example.com/x.parquet'",
    "FROM read_json('s3://bucket/x.json')",
    "FROM duckdb_secrets()",
    "FROM query('FROM read_csv(''{outside}/secret.csv'')')",
    "SELECT (SELECT content FROM read_text('/proc/self/environ'))",
]
ELSE = {
    "EXPLAIN ANALYZE EXPORT DATABASE '{lake}/copy'": "syntax error",
    "FROM query('WITH x AS (COPY (SELECT 1) TO ''{lake}/new.csv'') FROM x')": "must be at the top level",
    "WITH x AS (INSERT INTO lake.spans VALUES ('x', 'y')) FROM x": "spans",
    "FROM enable_logging(storage := 'file', storage_path := '{outside}')": READ_ONLY,
    "FROM enable_profiling()": READ_ONLY,
    "FROM read_duckdb('{outside}/other.duckdb')": READ_ONLY,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LakeFolder]:
    root = tmp_path_factory.mktemp("read-only")
    outside = root / "outside"
    outside.mkdir()
    (outside / "secret.csv").write_text("secret\n42\n")
    folder = LakeFolder(root / "data")
    (folder.path / "queue.sqlite").write_text("the queue")
    yield folder
    assert [file.name for file in outside.iterdir()] == ["secret.csv"]


def filled(statement: str, folder: LakeFolder) -> str:
    lake = folder.path / "lake"
    return statement.format(
        lake=lake,
        part=next(lake.rglob("memories/**/*.parquet")),
        outside=folder.path.parent / "outside",
        catalogue=folder.path / "weaklink.duckdb",
        queue=folder.path / "queue.sqlite",
    )


def attacked(statement: str, folder: LakeFolder) -> str:
    """The message that a statement is refused with; no file of the folder has changed."""
    before = folder.content()
    message = refusal(folder.path, filled(statement, folder))
    assert folder.content() == before
    return message


@pytest.mark.parametrize("statement", [*KINDS, *HIDDEN, *OTHER_FILES])
def test_what_is_more_than_a_question_is_refused(folder: LakeFolder, statement: str) -> None:
    """Whatever could write, reach another file or change a setting is refused with a way to write results."""
    message = attacked(statement, folder)
    assert READ_ONLY in message
    assert "--output FILE" in message


@pytest.mark.parametrize(("statement", "expected"), ELSE.items())
def test_what_cannot_be_done_anyway_is_refused(folder: LakeFolder, statement: str, expected: str) -> None:
    """DuckDB itself refuses these."""
    assert expected in attacked(statement, folder)


@pytest.mark.parametrize(
    "statement",
    [
        "FROM memories",
        "SELECT name FROM spans WHERE name IN ('copy', 'query')",
        "SELECT 'COPY_TO_FILE', 'json_execute_serialized_sql', '\"name\": \"COPY_TO_FILE\"' FROM spans",
        "FROM query('FROM memories')",
        "PIVOT spans ON name USING count(*)",
        "WITH query AS (FROM memories) FROM query",
        "EXPLAIN WITH x AS (COPY (SELECT 1) TO '{lake}/new.csv') FROM x",
        "EXPLAIN ANALYZE FROM spans WHERE name = 'copy'",
        "SUMMARIZE memories",
        "FROM parquet_metadata('{part}')",
    ],
)
def test_questions_are_answered(folder: LakeFolder, statement: str) -> None:
    """The views over the lake's parts work as before, also where a statement speaks of what is forbidden."""
    before = folder.content()
    assert answered(folder.path, filled(statement, folder))
    assert folder.content() == before


def test_a_folder_by_another_name_is_the_same(folder: LakeFolder, tmp_path: Path) -> None:
    """Parts are found where the catalogue says, also by a link, and with a quote in a name."""
    link = tmp_path / "li'nk"
    link.symlink_to(folder.path)
    assert "triage-1" in answered(link, "FROM memories")
    quoted = LakeFolder(tmp_path / "it's")
    assert "triage-1" in answered(quoted.path, "FROM memories")


def test_a_result_is_written_where_it_is_wanted(folder: LakeFolder, tmp_path: Path) -> None:
    """--output is for results, wherever the user wants them."""
    file = tmp_path / "memories.csv"
    assert answered(folder.path, "FROM memories", "--format", "csv", "--output", str(file)) == ""
    assert file.read_text() == "memory_id,effective_confidence\ntriage-1,0.3\n"
    assert "--output" in refusal(folder.path, "SELECT 1", "--format", "csv", "--output", str(tmp_path / "no" / "x.csv"))
