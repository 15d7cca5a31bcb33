"""A database with the lake's tables as plain tables, and the macros over them."""

import duckdb
import pyarrow as pa

import oracle
from engine_harness import Analysis
from weaklink_analysis.engine import PUBLISHED
from weaklink_analysis.views import VIEWS, create_statements

RECORD = pa.struct({"memory_id": pa.string(), "store": pa.string(), "environment": pa.string(), "version": pa.int32()})
DECISIONS = pa.schema(
    [
        *((name, pa.string()) for name in ("trace_id", "span_id", "environment", "agent_id")),
        ("start_time", pa.timestamp("us", "UTC")),
        ("memory", RECORD),
        ("records", pa.list_(RECORD)),
    ]
)


def decisions(world: oracle.Oracle | None) -> pa.Table:
    """The rows of `lake.decisions` that the oracle's decisions make, as long as no engine does."""
    return pa.Table.from_pylist([_decision(world, d) for d in world.decisions] if world else [], DECISIONS)


def _decision(world: oracle.Oracle, d: oracle.Decision) -> oracle.Row:
    return oracle.decision_row(world, d) | {
        "memory": _record(d.memory.memory, d.memory) if d.memory else None,
        "records": [_record(memory, version) for memory, version in d.relied],
    }


def _record(memory: oracle.Memory, version: oracle.Version | None) -> dict[str, object]:
    named = dict(zip(("environment", "store", "memory_id"), memory, strict=True))
    return named | {"version": version.number if version else None}


def memory_lake(analysis: Analysis, world: oracle.Oracle | None = None) -> duckdb.DuckDBPyConnection:
    """What an analysis publishes now, to be queried as users do; without the views. Decisions are the oracle's."""
    database = duckdb.connect()
    tables = {table.name: analysis.engine.snapshot(table.name) for table in PUBLISHED} | {"decisions": decisions(world)}
    database.execute("CREATE SCHEMA lake")
    for name, rows in tables.items():
        database.register("rows", rows)
        database.execute(f"CREATE TABLE lake.{name} AS FROM rows")
        database.unregister("rows")
    for statement in create_statements()[len(VIEWS) :]:
        database.execute(statement)
    return database
