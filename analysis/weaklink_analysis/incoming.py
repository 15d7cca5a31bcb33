"""What a recognised batch adds to the engine's tables, as Arrow tables."""

import pyarrow as pa
import pyarrow.compute as pc

from weaklink_analysis.recognition import Recognised


def indexed(batch: Recognised, row_ids: pa.Array) -> pa.Table:
    """The rows of span_index."""
    return pa.table(
        {
            "trace": batch.keys.column("trace"),
            "span": batch.keys.column("span"),
            "parent": batch.keys.column("parent"),
            "start_ns": batch.spans.column("start_unix_nano"),
            "end_ns": batch.spans.column("end_unix_nano"),
            "row_id": row_ids,
            "agent_id": batch.context.column("agent_id"),
            "session_id": batch.context.column("session_id"),
            "service_name": batch.spans.column("service_name"),
            "environment": batch.spans.column("environment"),
        }
    )


def marks(batch: Recognised, spans: pa.Table) -> pa.Table:
    """The spans that run an agent or decide, each with what it carries and what the index has of it."""
    own = spans.drop_columns(["parent", "end_ns"]).take(batch.marks.column("at"))
    columns = {name: own.column(name) for name in own.column_names}
    return pa.table(columns | {name: batch.marks.column(name) for name in batch.marks.column_names if name != "at"})


def operations(batch: Recognised, spans: pa.Table) -> pa.Table:
    """The recognised operations, each with what its span gives it."""
    own = spans.drop_columns(["agent_id", "session_id"]).take(batch.operations.column("at"))
    time_ns = pc.max_element_wise(own.column("start_ns"), own.column("end_ns"))
    columns = {name: own.column(name) for name in own.column_names} | {"time_ns": time_ns}
    named = batch.operations.drop_columns(["at"])
    return pa.table(columns | {name: named.column(name) for name in named.column_names})
