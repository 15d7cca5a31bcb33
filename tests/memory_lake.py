"""A database with the lake's tables as plain tables, and the macros over them."""

import duckdb

from engine_harness import ONE_THREAD, Analysis
from weaklink_analysis.published import PUBLISHED
from weaklink_analysis.views import VIEWS, create_statements


def memory_lake(analysis: Analysis) -> duckdb.DuckDBPyConnection:
    """What an analysis publishes now, to be queried as users do; without the views."""
    database = duckdb.connect(config=ONE_THREAD)
    database.execute("CREATE SCHEMA lake")
    for table in PUBLISHED:
        database.register("rows", analysis.engine.snapshot(table.name))
        database.execute(f"CREATE TABLE lake.{table.name} AS FROM rows")
        database.unregister("rows")
    for statement in create_statements(analysis.settings)[len(VIEWS) :]:
        database.execute(statement)
    return database
