"""Statements that are run again and again. To parse them anew would be a tenth of what a small step costs."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import duckdb
import pyarrow as pa


@lru_cache(maxsize=1000)
def parsed(text: str) -> Sequence[duckdb.Statement]:
    """The statements of a text; they belong to no connection, so engines that follow each other share them."""
    return duckdb.extract_statements(text)


def run(
    connection: duckdb.DuckDBPyConnection, text: str, parameters: Mapping[str, object] | None = None
) -> duckdb.DuckDBPyConnection:
    """Run statements, of which each gets the parameters; the last one's rows are to be fetched."""
    for statement in parsed(text):
        connection.execute(statement, dict(parameters or {}))
    return connection


def planned_once(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """The rows of a query that takes longer to plan than to copy: `sql` would plan it twice.

    It may be another one each time, so nothing of it is kept.
    """
    connection.execute(f"CREATE OR REPLACE TEMP TABLE planned AS {query}")
    return connection.sql("FROM planned").to_arrow_table()
