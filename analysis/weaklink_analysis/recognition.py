"""What the spans of a batch say of memory: a function of the batch alone, so it can be done ahead of the analysis."""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weaklink_analysis.batch import Rows, SpanBatch, pick_attributes
from weaklink_analysis.conventions import ABOUT, CONVENTIONS, OPERATION_COLUMNS, Convention, attributes_read
from weaklink_analysis.models import plain_model
from weaklink_analysis.operations import Matcher

CONTEXT = ("span_kind", "agent_id", "session_id")
"""What the `spans` view shows of a span as the span itself carries it, beside SPAN_SCHEMA."""


@dataclass(frozen=True, slots=True)
class Recognised:
    """A span batch with what was recognised on it: row i of the first three tables is one span."""

    spans: pa.Table
    """SPAN_SCHEMA."""
    keys: pa.Table
    """KEY_SCHEMA."""
    context: pa.Table
    """Columns CONTEXT, null where the span carries none."""
    operations: pa.Table
    """A row a record that a span touches: `at`, the row of the span, and the columns of recognised_operations.sql."""
    marks: pa.Table
    """A row a span that runs an agent, decides or names what it relied on: `at`, and recognised_marks.sql's columns."""

    def __len__(self) -> int:
        return int(self.spans.num_rows)

    def take(self, rows: Rows) -> "Recognised":
        """The spans at these ascending indices, or those where a mask, one bool a span, is true."""
        chosen = np.flatnonzero(rows) if np.asarray(rows).dtype == np.bool_ else np.asarray(rows)
        place = np.full(len(self), -1)
        place[chosen] = np.arange(len(chosen))
        return Recognised(
            self.spans.take(chosen),
            self.keys.take(chosen),
            self.context.take(chosen),
            _moved(self.operations, place),
            _moved(self.marks, place),
        )


def _moved(found: pa.Table, place: npt.NDArray[np.int64]) -> pa.Table:
    """The rows of spans that have a place, and where their spans are now."""
    at = place[found.column("at").to_numpy()]
    return found.set_column(0, "at", pa.array(at)).filter(pa.array(at >= 0))


class Recogniser:
    """Finds the memory operations of spans, each as the most specific convention that knows the span says."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, matchers: Sequence[Matcher] = ()) -> None:
        """`connection` keeps nothing; one of an in-memory database will do. `matchers`: which spans else decide."""
        self._db = connection
        self._contexts = plain_model("contexts", matchers=matchers)
        self._operations = {told: plain_model("recognised_operations", told=told) for told in (False, True)}
        self._marks = plain_model("recognised_marks")
        self._attributes = tuple(dict.fromkeys((*attributes_read(), *(key for m in matchers for key in m.attributes))))

    def recognise(self, batch: SpanBatch) -> Recognised:
        """Read a batch; may be called from any thread."""
        picked = pick_attributes(batch.spans.column("attributes"), self._attributes)
        incoming = _incoming(batch, picked)
        # Each model costs its planning, so those that no span calls for are left out (one stays, for the columns).
        known = [convention for convention in CONVENTIONS if _may_know(convention, incoming)]
        told = any(convention.tells for convention in known) or _has("memory.source", incoming)
        with self._db.cursor() as cursor:
            cursor.register("incoming", incoming)
            cursor.execute(f"CREATE TEMP TABLE contexts AS {self._contexts}")
            cursor.execute(f"CREATE TEMP VIEW recognised AS {_recognised(known or CONVENTIONS[-1:])}")
            context = cursor.sql("FROM contexts").to_arrow_table()
            operations = cursor.sql(self._operations[told]).to_arrow_table()
            marks = cursor.sql(self._marks).to_arrow_table()
        return Recognised(batch.spans, batch.keys, context.select(CONTEXT), operations, marks)


def _incoming(batch: SpanBatch, picked: pa.Table) -> pa.Table:
    columns = {
        "row_id": pa.array(np.arange(len(batch))),
        "name": batch.spans.column("name"),
        "status_code": batch.spans.column("status_code"),
    }
    return pa.table(columns | {name: picked.column(name) for name in picked.column_names})


def _recognised(known: Sequence[Convention]) -> str:
    union = " UNION ALL BY NAME ".join(_select(convention, place) for place, convention in enumerate(known))
    return union if len(known) == 1 else f"FROM ({union}) QUALIFY place = min(place) OVER (PARTITION BY row_id)"


def _select(convention: Convention, place: int) -> str:
    attributes = ", ".join(f'"{key}"' for key in convention.reads)
    columns = ", ".join(f"CAST({column} AS {kind}) AS {column}" for column, kind in OPERATION_COLUMNS.items())
    about = f"CAST({ABOUT} AS VARCHAR)" if convention.tells else "CAST(NULL AS VARCHAR)"
    return (
        f"(WITH candidates AS (SELECT row_id, name, {attributes} FROM incoming WHERE {_belongs(convention)}) "
        f"SELECT {columns}, {about} AS {ABOUT}, '{convention.name}' AS convention, {place} AS place "
        f"FROM ({convention.sql}))"
    )


def _belongs(convention: Convention) -> str:
    """The condition on a span of `incoming` to be a candidate of the convention."""
    if convention.only:
        values = ", ".join(f"'{value}'" for value in convention.only)
        return f'"{convention.reads[0]}" IN ({values})'
    named = f"starts_with(name, '{convention.prefix}') OR " if convention.prefix else ""
    return named + "coalesce({}) IS NOT NULL".format(", ".join(f'"{key}"' for key in convention.reads))


def _may_know(convention: Convention, incoming: pa.Table) -> bool:
    """Whether some span is a candidate of the convention."""
    if convention.only:
        return bool(pc.any(pc.is_in(incoming.column(convention.reads[0]), pa.array(convention.only))).as_py())
    if convention.prefix and pc.any(pc.starts_with(incoming.column("name"), convention.prefix)).as_py():
        return True
    return any(_has(key, incoming) for key in convention.reads)


def _has(key: str, incoming: pa.Table) -> bool:
    return bool(incoming.column(key).null_count < incoming.num_rows)
