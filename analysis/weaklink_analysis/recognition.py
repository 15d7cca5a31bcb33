"""What the spans of a batch say of memory: a function of the batch alone, so it can be done ahead of the analysis."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from weaklink_analysis.batch import Rows, SpanBatch, pick_attributes
from weaklink_analysis.candidates import candidates, memory_links, relations
from weaklink_analysis.conventions import CONTEXT_ATTRIBUTES, CONVENTIONS, OPERATION_COLUMNS
from weaklink_analysis.conventions.convention import Convention
from weaklink_analysis.conventions.model import lent, select, tells
from weaklink_analysis.models import plain_model
from weaklink_analysis.operations import Matcher
from weaklink_analysis.statements import planned_once, run

CONTEXT = ("span_kind", "agent_id", "session_id")
"""What the `spans` view shows of a span as the span itself carries it, beside SPAN_SCHEMA."""

LOGGER = logging.getLogger(__name__)
NOTHING = "SELECT {}, '' AS convention, 0 AS place LIMIT 0".format(
    ", ".join(f"CAST(NULL AS {kind}) AS {column}" for column, kind in OPERATION_COLUMNS.items())
)
"""The query of what is recognised where no convention knows a span."""


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

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        matchers: Sequence[Matcher] = (),
        conventions: Sequence[Convention] = CONVENTIONS,
    ) -> None:
        """`connection` keeps nothing; one of an in-memory database will do.

        `matchers`: which spans else decide. `conventions`: the most specific first.
        """
        self._db = connection
        self._conventions = tuple(conventions)
        self._contexts = plain_model("contexts", matchers=matchers)
        self._marks = {linked: plain_model("recognised_marks", linked=linked) for linked in (False, True)}
        # Looking for how a memory came to be costs its planning, too.
        self._operations = {
            (linked, told): plain_model("recognised_operations", linked=linked, told=told)
            for linked in (False, True)
            for told in (False, True)
        }
        self._context = tuple(dict.fromkeys((*CONTEXT_ATTRIBUTES, *(key for m in matchers for key in m.attributes))))
        self._picked = tuple(dict.fromkeys((*self._context, *(key for c in conventions for key in c.triggers))))

    def recognise(self, batch: SpanBatch) -> Recognised:
        """Read a batch; may be called from any thread."""
        picked = pick_attributes(batch.spans.column("attributes"), self._picked)
        links = memory_links(batch)
        with self._db.cursor() as cursor:
            cursor.register("incoming", _incoming(batch, picked.select(self._context)))
            if links is not None:
                cursor.register("memory_links", links)
            run(cursor, f"CREATE TEMP TABLE contexts AS {self._contexts}")
            recognised, told = self._recognised(cursor, batch, picked)
            context = cursor.sql("FROM contexts").to_arrow_table()
            reading = f"WITH recognised AS ({recognised}) {self._operations[links is not None, told]}"
            operations = planned_once(cursor, reading)
            marks = planned_once(cursor, self._marks[links is not None])
        return Recognised(batch.spans, batch.keys, context.select(CONTEXT), operations, marks)

    def _recognised(self, cursor: duckdb.DuckDBPyConnection, batch: SpanBatch, picked: pa.Table) -> tuple[str, bool]:
        """The query of what the conventions recognise, of relations that are lent to the cursor.

        And whether it may tell how a memory came to be.
        """
        # Each model costs its planning, so those that no span calls for are left out.
        reading = _Reading(cursor, batch, picked)
        selects, told = [], picked.column("memory.source").null_count < len(batch)
        for place, convention in enumerate(self._conventions):
            rows = candidates(convention, batch, picked)
            if len(rows) and convention.own_sql is not None:
                selects += reading.made(convention, place, rows)
            elif len(rows):
                reading.lend(convention, place, rows)
                selects.append(select(convention, place))
            told = told or (len(rows) > 0 and tells(convention))
        if len(selects) < 2:  # noqa: PLR2004 - with one there is nothing to choose
            return "".join(selects) or NOTHING, told
        union = " UNION ALL ".join(selects)
        return f"FROM ({union}) QUALIFY place = min(place) OVER (PARTITION BY row_id)", told


@dataclass(frozen=True, slots=True)
class _Reading:
    """A batch that models read, on a cursor."""

    cursor: duckdb.DuckDBPyConnection
    batch: SpanBatch
    picked: pa.Table

    def lend(self, convention: Convention, place: int, rows: npt.NDArray[np.int64]) -> None:
        """Have what the convention's model selects from, of the candidates in these rows."""
        for name, relation in relations(convention, self.batch, self.picked, rows).items():
            self.cursor.register(lent(name, place), relation)

    def made(self, convention: Convention, place: int, rows: npt.NDArray[np.int64]) -> list[str]:
        """The queries of what a user's model makes of these candidates; a span on which it fails is none of its."""
        table = f"made_{place}_{rows[0]}_{len(rows)}"
        self.lend(convention, place, rows)
        try:
            self.cursor.execute(f"CREATE TEMP TABLE {table} AS {select(convention, place)}")
        except duckdb.Error as error:
            if len(rows) == 1:
                _warn(convention.name, type(error).__name__)
                return []
            halves = rows[: len(rows) // 2], rows[len(rows) // 2 :]
            return [query for half in halves for query in self.made(convention, place, half)]
        return [f"(FROM {table})"]


@cache
def _warn(convention: str, error: str) -> None:
    """Say once that a user's model failed; DuckDB's own message has values of spans."""
    LOGGER.warning("convention %s fails on some spans (%s): it does not count for them", convention, error)


def _incoming(batch: SpanBatch, picked: pa.Table) -> pa.Table:
    columns = {
        "row_id": pa.array(np.arange(len(batch))),
        "name": batch.spans.column("name"),
        "status_code": batch.spans.column("status_code"),
    }
    return pa.table(columns | {name: picked.column(name) for name in picked.column_names})
