"""How the analyst's steps went: counted for the metrics, and as spans of its own where they are asked for."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from opentelemetry.trace import NoOpTracer, Tracer

from weaklink_processor.analyst.step import Done
from weaklink_processor.metrics import ANALYSED_BYTES, ANALYSED_SPANS, EVALUATIONS, STEP_SECONDS, Tally
from weaklink_processor.queue.store import Row

Told = Callable[[Done], None]


class Watch:
    """Looks on while steps are done."""

    def __init__(self, tally: Tally | None = None, tracer: Tracer | None = None) -> None:
        self._tally = tally or Tally()
        self._tracer = tracer or NoOpTracer()

    @contextmanager
    def step(self, rows: Sequence[Row]) -> Iterator[Told]:
        """Surround a step that applies rows; the function is to be told what it did."""
        started = time.monotonic()
        attributes = {"weaklink.rows": len(rows), "weaklink.first_offset": rows[0].offset}
        with self._tracer.start_as_current_span("analyst.step", attributes=attributes) as span:

            def told(done: Done) -> None:
                span.set_attributes({"weaklink.spans": done.spans, "weaklink.revisions": done.revisions})
                self.count(done)

            yield told
        self._tally.record(STEP_SECONDS, time.monotonic() - started)
        self._tally.add(ANALYSED_BYTES, sum(len(request) for row in rows for request in row.requests))

    def count(self, done: Done) -> None:
        """Count what was done."""
        if done.spans:
            self._tally.add(ANALYSED_SPANS, done.spans)
        for (scope, verdict), number in done.verdicts.items():
            self._tally.add(EVALUATIONS, number, scope=scope, verdict=verdict)
