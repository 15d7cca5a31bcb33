"""An engine over an in-memory database, fed with real OTLP requests through the real decoder."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Self

import duckdb
import pyarrow as pa

from otlp import S, payload
from weaklink_analysis.engine import JUDGED_TRACES, Engine
from weaklink_analysis.identity import fingerprint
from weaklink_analysis.operations import Settings
from weaklink_analysis.published import PUBLISHED
from weaklink_analysis.recognition import Recogniser
from weaklink_analysis.spans import SPAN_SCHEMA
from weaklink_analysis.views import VIEWS, create_statements
from weaklink_processor.decode.batch import decode

NOW = datetime(2026, 9, 1, tzinfo=UTC)
HIDDEN = {
    "row_id",
    "version_key",
    "child_key",
    "parent_name_key",
    "parent_key",
    "evaluation_key",
    *("memory_key", "record_keys"),
    "revision",
    "evaluated_at",
    # what only findings and the coverage report ask for
    *("has_agent", "has_session"),
    *("happened_at", "counted", "skew_seconds", "contradicted_confidence", "refused_confidence", "refused_thresholds"),
    *("span_ordinal", "finding_codes", "oddity"),
    *("child_written_at", "child_trace_id", "child_span_id", "child_ordinal", "child_service_name"),
}
"""Columns that depend on the order of arrival, or that no view shows."""

ONE_THREAD: dict[str, str | bool | int | float | list[str]] = {"threads": 1}
"""As the analyst has it: for so few rows a second thread only costs, nearly as much as all the rest."""

FROM_SPANS_AND_HISTORY = ("spans", "evaluation_history")
"""Views of what the engine does not keep."""


@cache
def recogniser() -> Recogniser:
    """One for all tests of a process, as it is for all batches of an analyst: it keeps nothing of a batch."""
    return Recogniser(duckdb.connect(config=ONE_THREAD))


class Analysis:
    """What the analyst does with an engine, without files: each `feed` is one batch."""

    def __init__(
        self,
        settings: Settings | None = None,
        database: duckdb.DuckDBPyConnection | None = None,
        *,
        recognises: Recogniser | None = None,
    ) -> None:
        self.database = database or duckdb.connect(config=ONE_THREAD)
        self.settings = settings or Settings()
        self.engine = Engine(self.database, self.settings)
        self._stored: dict[int, dict[str, object]] = {}
        self._next = 0
        self._recogniser = recognises or recogniser()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    def restart(self) -> None:
        """Go on as a new process would: all that it finds is what was stored."""
        self.database = self.database.cursor()
        self.engine = Engine(self.database, self.settings)

    def feed(self, spans: Sequence[S]) -> None:
        """Absorb one batch of spans."""
        self.feed_request(payload(spans))

    def feed_request(self, request: bytes) -> None:
        """Absorb the spans of one OTLP request."""
        batch = self._recogniser.recognise(decode([request]))
        first, self._next = self._next, self._next + len(batch)
        self.engine.start()
        sifted = self.engine.sift(batch, first, lambda rows: {row: fingerprint(self._stored[row]) for row in rows})
        row_ids = pa.array(range(first, first + len(batch)), pa.int64()).filter(pa.array(sifted.kept))
        kept = batch.take(sifted.kept)
        self._stored |= dict(zip(row_ids.to_pylist(), kept.spans.select(SPAN_SCHEMA.names).to_pylist(), strict=True))
        if len(kept):
            self.engine.admit(kept, row_ids, pa.repeat(NOW, len(kept)), sifted.superseded)
            self.engine.absorb()

    def evaluate(self, at_most: int = JUDGED_TRACES) -> int:
        """Judge every trace that waits, so many at once; how many revisions that made."""
        revisions = 0
        while self.engine.pending():
            self.engine.start()
            revisions += self.engine.evaluate(NOW, timedelta(0), at_most)
        return revisions

    def table(self, name: str) -> list[dict[str, object]]:
        """A published table's rows as users see them, sorted."""
        rows = self.engine.snapshot(name).to_pylist()
        visible = [{key: value for key, value in row.items() if key not in HIDDEN} for row in rows]
        return sorted(visible, key=repr)

    def view(self, name: str) -> list[dict[str, object]]:
        """The rows that users see in a view of the engine's published tables."""
        return self.views(name)[name]

    def views(self, *names: str) -> dict[str, list[dict[str, object]]]:
        """The same of several views at one moment: making them costs more than asking them."""
        with self.catalogue() as catalogue:
            return {name: catalogue.sql(f"FROM {name}").to_arrow_table().to_pylist() for name in names}

    def catalogue(self) -> duckdb.DuckDBPyConnection:
        """A database of its own with what is published, and the views of it."""
        catalogue = duckdb.connect(config=ONE_THREAD)
        catalogue.execute("CREATE SCHEMA lake")
        for table in PUBLISHED:
            catalogue.register("rows", self.engine.snapshot(table.name))
            catalogue.execute(f"CREATE TABLE lake.{table.name} AS FROM rows")
        for view, statement in zip(VIEWS, create_statements(self.settings), strict=False):
            if view not in FROM_SPANS_AND_HISTORY:
                catalogue.execute(statement)
        return catalogue

    def memories(self) -> dict[str, dict[str, object]]:
        """The newest version of each memory by its id."""
        rows = sorted(self.table("memory_versions"), key=lambda row: str(row["version"]).zfill(9))
        return {str(row["memory_id"]): row for row in rows}
