"""An analysis without a data folder: for the few spans of a test, and for a row that nobody dares to apply."""

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from weaklink_processor.config import Config
from weaklink_processor.wiring.analysing import analysis_settings, decoder, own_conventions

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from weaklink_analysis.operations import Settings
    from weaklink_analysis.recognition import Recognised


def catalogue_in_memory(config: Config, request: bytes) -> "duckdb.DuckDBPyConnection":
    """Analyse a serialized ExportTraceServiceRequest, judge all its traces, and open what users query.

    Raises:
        UsageError: a convention of the user's cannot be read or run.
    """
    import duckdb

    from weaklink_analysis.views import create_statements
    from weaklink_processor.lake.listing import FORMAT_VIEW

    settings = analysis_settings(config)
    catalogue = duckdb.connect(config={"threads": 1})
    catalogue.execute("SET TimeZone = 'UTC'; CREATE SCHEMA lake")
    for name, rows in _tables(config, [request], settings).items():
        catalogue.register("rows", rows)
        catalogue.execute(f'CREATE TABLE lake."{name}" AS FROM rows')
        catalogue.unregister("rows")
    for statement in (FORMAT_VIEW, *create_statements(settings)):
        catalogue.execute(statement)
    return catalogue


def rehearse(config: Config, requests: Sequence[bytes]) -> None:
    """Do with serialized requests all that the analyst does with them, on an empty state, and forget it."""
    _tables(config, requests, analysis_settings(config))


def _tables(config: Config, requests: Sequence[bytes], settings: "Settings") -> "dict[str, pa.Table]":
    """Make the tables of the lake as the analyst would publish them."""
    import numpy as np
    import pyarrow as pa

    from weaklink_analysis.engine import Engine
    from weaklink_analysis.published import PUBLISHED
    from weaklink_analysis.recognition import CONTEXT
    from weaklink_analysis.spans import SPAN_SCHEMA
    from weaklink_processor.analyst.state import scratch

    now = datetime.now(UTC)
    with closing(scratch()) as connection:
        batch = _recognised(config, requests, connection)
        engine = Engine(connection, settings)
        kept = engine.sift(batch, 0, lambda _: {}).kept
        row_ids, batch = pa.array(np.flatnonzero(kept)), batch.take(kept)
        engine.admit(batch, row_ids, pa.repeat(now, len(batch)), ())
        engine.absorb()
        engine.evaluate(now, timedelta(0), at_most=len(batch))
        spans = [*batch.spans.select(SPAN_SCHEMA.names).columns, *batch.context.select(CONTEXT).columns, row_ids]
        return {
            "spans": pa.table(spans, [*SPAN_SCHEMA.names, *CONTEXT, "row_id"]),
            "evaluation_history": engine.revisions(),
            **{table.name: engine.snapshot(table.name) for table in PUBLISHED},
        }


def _recognised(config: Config, requests: Sequence[bytes], connection: "duckdb.DuckDBPyConnection") -> "Recognised":
    from weaklink_analysis.conventions import CONVENTIONS
    from weaklink_analysis.operations import Matcher
    from weaklink_analysis.recognition import Recogniser

    matchers = [Matcher(own.span_name, own.attributes) for own in config.analysis.decisions]
    return Recogniser(connection, matchers, (*own_conventions(config), *CONVENTIONS)).recognise(
        decoder(config)(requests)
    )
