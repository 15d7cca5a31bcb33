"""One step of the analyst: some queue rows in; state, lake parts, catalogue and outbox out.

Everything up to the commit can be repeated, and repeating it changes nothing: parts get the same
names, and the queue row is released only after the commit. Everything after the commit is made
good at the next start.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
import structlog

from weaklink_analysis.engine import Engine
from weaklink_analysis.identity import fingerprint
from weaklink_analysis.operations import Settings
from weaklink_analysis.published import ABSORBED, EVALUATED, PUBLISHED, Published
from weaklink_analysis.recognition import CONTEXT, Recognised
from weaklink_analysis.spans import SPAN_SCHEMA
from weaklink_processor.analyst.departure import Departure
from weaklink_processor.analyst.state import Applied, State
from weaklink_processor.analyst.upkeep import Upkeep
from weaklink_processor.emit.evaluator import evaluator_spans
from weaklink_processor.errors import BrokenStore
from weaklink_processor.lake.lake import Lake
from weaklink_processor.lake.parts import Part
from weaklink_processor.lake.reading import TOMBSTONES
from weaklink_processor.lake.retention import FOR_EVER, Retention
from weaklink_processor.queue.store import Row

log = structlog.get_logger(__name__)

GRACE = timedelta(minutes=10)
"""How long superseded parts stay for readers that still list them."""

FEW = 1_000
"""A step of fewer spans and verdicts is hardly more than its fixed cost."""

TIDY_PAUSE = timedelta(minutes=1)
"""How often, without anything new to publish, it is looked for what has become too old."""

WRITERS = 2
"""Threads that write parts and catalogues while the models run."""

SENT_SCOPES = ("decision", "trace")
"""Whose evaluations are sent unless configured otherwise."""

VERDICTS = {True: "pass", False: "fail", None: "not_evaluable"}

LAKE_KEYS: Mapping[str, tuple[str, ...]] = {
    "spans": (),
    "evaluation_history": (),
    **{table.name: table.key for table in PUBLISHED},
}
LAKE_SOUGHT: Mapping[str, str] = {table.name: table.sought for table in PUBLISHED if table.sought}


@dataclass(frozen=True, slots=True)
class Sent:
    """How far every destination has the outbox and the queue."""

    outbox_seq: int
    queue_offset: int


@dataclass(frozen=True, slots=True)
class Done:
    """What a step did."""

    spans: int
    revisions: int
    verdicts: Mapping[tuple[str, str], int] = field(default_factory=dict)  # (scope, verdict) -> revisions

    @property
    def few(self) -> bool:
        """Whether that was hardly more than the fixed cost of a step."""
        return self.spans < FEW and self.revisions < FEW


class Step:
    """The work of one transaction, and what has to follow it."""

    def __init__(
        self,
        state: State,
        engine: Engine,
        lake: Lake,
        *,
        queue_id: str,
        settings: Settings,
        sent: Callable[[], Sent] | None,
        scopes: Collection[str] = SENT_SCOPES,
        retention: Retention = FOR_EVER,
        count_departed: Callable[[str, int], None] = lambda *_: None,
        merges_at_rest: bool = True,
    ) -> None:
        """`sent` tells what every destination has; None: there is none, and nothing is put into the outbox.

        `scopes`: of which evaluations go there, if any: decision, trace, session. `count_departed` hears how many spans
        left the lake, and why. `merges_at_rest`: whether parts are merged in time to spare.
        """
        self._state, self._engine, self._lake = state, engine, lake
        self._settings, self._sent, self._scopes = settings, sent, scopes
        self._applied = state.applied(queue_id)
        self._published = False
        self._publishing: Future[None] | None = None
        self._writing: list[Future[Part]] = []
        """The parts of the step under way."""
        self._aside = ThreadPoolExecutor(WRITERS, thread_name_prefix="parts")
        self._upkeep = Upkeep(state, lake, merges_at_rest=merges_at_rest)
        self._departure = Departure(state, engine, lake, retention, count_departed)
        self._tidied_at: datetime | None = None
        self._resting = False
        """Whether there is time to merge more: nothing waited behind the last rows, which were few or are long past."""

    @property
    def offset(self) -> int:
        """The last queue row that is applied."""
        return self._applied.offset

    def recover(self, now: datetime) -> None:
        """Make good what a crash may have left undone, and bring stored numbers in line with changed settings."""
        stored = self._state.parts()
        if self._lake.is_published and not stored:
            raise BrokenStore(
                "there are published spans, but the analysis state beside them (state.duckdb) is missing or empty: "
                "restore that file, or move the lake folder and weaklink.duckdb away to begin anew"
            )
        self._lake.check_formats(stored)
        listed = self._lake.listed()
        changed = self._state.changed_settings(self._settings)
        if changed and stored:
            log.info("settings changed: all that is stored is computed anew", changed=changed)
        with self._state.transaction():
            if changed:
                if stored:
                    self._engine.resettle()
                self._rebase(now)
                self._state.store_settings(self._settings)
            self._state.store_applied(self._applied)
            self._state.renew_grace(listed, now)
        self._lake.sweep(self._state.files())
        self.publish()
        self.settle(now)

    def apply(
        self, rows: Sequence[Row], batch: Recognised, now: datetime, *, caught_up: bool, judging: bool = True
    ) -> Done:
        """Apply queue rows, oldest first, of which `batch` holds the spans, and evaluate what is due, or much of it.

        While there is a backlog, the clock of arrivals is that of the rows, so that a trace whose
        spans still wait in the queue is not judged too early. Without `judging` nothing is evaluated.
        """
        applied = Applied(self._applied.queue_id, rows[-1].offset, self._applied.next_row_id, self._applied.seq + 1)
        rows_of = [row for row in rows for _ in row.requests]  # by number of the request
        with self._state.transaction():
            self._start()
            batch = self._without_own(batch, rows_of)
            self._absorb(batch, applied, rows_of)
            self._write_changes(ABSORBED, applied.seq, now.date())
            revisions = self._evaluate(now if caught_up else rows[-1].received_at) if judging else 0
            verdicts = self._finish(applied, now, revisions)
        self._engine.end()
        self._applied, self._published = applied, False
        done = Done(len(batch), revisions, verdicts)
        self._resting = caught_up and done.few
        return done

    def tick(self, now: datetime, quiet: timedelta | None = None) -> Done:
        """Evaluate what has become due with time, or much of it; `quiet` in place of the configured quiet period."""
        if not self.due(now, quiet):
            return Done(0, 0)
        applied = Applied(
            self._applied.queue_id, self._applied.offset, self._applied.next_row_id, self._applied.seq + 1
        )
        with self._state.transaction():
            self._start()
            revisions = self._evaluate(now, quiet)
            verdicts = self._finish(applied, now, revisions)
        self._engine.end()
        self._applied, self._published = applied, False
        return Done(0, revisions, verdicts)

    def due(self, now: datetime, quiet: timedelta | None = None) -> bool:
        """Whether a trace waits to be evaluated."""
        return self._engine.due(now, self._quiet if quiet is None else quiet)

    def close(self) -> None:
        """Stop the threads aside; twice is fine."""
        self._aside.shutdown()
        self._upkeep.close()

    # -- within the transaction -----------------------------------------------------------------------------------

    @property
    def _quiet(self) -> timedelta:
        return timedelta(seconds=self._settings.quiet_seconds)

    def _start(self) -> None:
        """Begin a step, once what is left of one that failed has ended: parts of both have the same names."""
        wait(self._writing)
        self._writing.clear()
        self._engine.start()

    def _write(self, table: str, rows: pa.Table, seq: int, day: date) -> None:
        self._writing.append(self._aside.submit(self._lake.append, table, rows, seq=seq, day=day))

    def _write_changes(self, tables: Sequence[Published], seq: int, day: date) -> None:
        for name in (table.name for table in tables if self._engine.has_changed(table.name)):
            changed, removed = self._engine.changes(name), self._engine.removals(name)
            self._writing.append(self._aside.submit(self._lake.delta, name, changed, removed, seq=seq, day=day))

    def _without_own(self, batch: Recognised, rows_of: Sequence[Row]) -> Recognised:
        """Leave out own spans that came back: not stored, not analysed; the forwarder learns of them."""
        own = self._state.returned(batch.keys)
        if not own:
            return batch
        for key in batch.keys.take(own).to_pylist():
            self._state.store_returned(rows_of[key["request"]].offset, key["trace"].bytes, key["span"])
        return batch.take(np.delete(np.arange(len(batch)), own))

    def _absorb(self, batch: Recognised, applied: Applied, rows_of: Sequence[Row]) -> None:
        seq, first = applied.seq, applied.next_row_id
        sifted = self._engine.sift(batch, first, self._fingerprints)
        row_ids = pa.array(np.arange(first, first + len(batch)))
        applied.next_row_id += len(batch)
        if not sifted.kept.all():
            batch, row_ids = batch.take(sifted.kept), row_ids.filter(pa.array(sifted.kept))
        if not len(batch):
            return
        day = rows_of[-1].received_at.date()
        self._write("spans", _with(batch.spans, row_ids, batch.context), seq, day)
        if sifted.superseded:
            self._write(TOMBSTONES, pa.table({"row_id": pa.array(sifted.superseded, pa.int64())}), seq, day)
        received = pa.array([row.received_at for row in rows_of], pa.timestamp("us", "UTC"))
        received_at = received.take(batch.keys.column("request").combine_chunks())
        self._engine.admit(batch, row_ids, received_at, sifted.superseded)
        self._engine.absorb()

    def _evaluate(self, now: datetime, quiet: timedelta | None = None) -> int:
        revisions = self._engine.evaluate(now, self._quiet if quiet is None else quiet)
        if revisions and self._sent and self._scopes:
            self._state.issue(evaluator_spans(self._engine.revised(self._scopes)))
        return revisions

    def _finish(self, applied: Applied, now: datetime, revised: int) -> Mapping[tuple[str, str], int]:
        self._write_changes(EVALUATED, applied.seq, now.date())
        revisions = self._engine.revisions() if revised else None
        if revisions:
            self._write("evaluation_history", revisions, applied.seq, now.date())
        self._state.add_parts(writing.result() for writing in self._writing)
        self._writing.clear()
        self._state.store_applied(applied)
        if self._sent:
            sent = self._sent()
            self._state.prune(sent.outbox_seq, sent.queue_offset)
        return _verdicts(revisions) if revisions else {}

    def _fingerprints(self, row_ids: Sequence[int]) -> dict[int, str]:
        if not row_ids:
            return {}
        stored = self._lake.rows(self._state.parts("spans"), row_ids)
        spans = stored.select(SPAN_SCHEMA.names).to_pylist()
        return dict(zip(stored.column("row_id").to_pylist(), map(fingerprint, spans), strict=True))

    def _rebase(self, now: datetime) -> None:
        """Write every table anew: at the first start an empty one, so that each view has its columns."""
        self._applied.seq += 1
        seq, day = self._applied.seq, now.date()
        first = not self._state.parts("spans")
        for table in PUBLISHED:
            self._state.supersede(self._state.parts(table.name), now)
            self._state.add_parts([self._base(table.name, seq, day)])
        if first:
            context = pa.schema([(name, pa.string()) for name in CONTEXT])
            spans = _with(SPAN_SCHEMA.empty_table(), pa.array([], pa.int64()), context.empty_table())
            self._state.add_parts([self._lake.append("spans", spans, seq=seq, day=day)])
            history = self._engine.snapshot("evaluations").schema.empty_table()
            self._state.add_parts([self._lake.append("evaluation_history", history, seq=seq, day=day)])

    def _base(self, table: str, seq: int, day: date) -> Part:
        return self._lake.base(table, self._engine.snapshot(table), seq=seq, day=day)

    # -- after the commit -----------------------------------------------------------------------------------------

    def publish(self) -> None:
        """Begin to let readers see what was committed since the last time, if anything; settle the last one first."""
        if not self._published:
            self._publishing = self._aside.submit(self._lake.publish, self._state.parts())
            self._published = True

    def settle(self, now: datetime) -> None:
        """Wait for the publication under way, then tidy up behind it.

        One that failed is raised here, and done again by the next `publish`.
        """
        publishing, self._publishing = self._publishing, None
        if publishing:
            try:
                publishing.result()
            except BaseException:
                self._published = False
                raise
        # A clock that was set back starts the pause anew, too.
        idle = self._tidied_at is None or not timedelta(0) <= now - self._tidied_at < TIDY_PAUSE
        self._resting |= idle
        if publishing or (self._published and (idle or self._upkeep.done)):
            self._tidy(now)

    def ask_to_compact(self) -> None:
        """Have all that is stored by now in as few parts as can be, merge by merge, beside the steps."""
        self._upkeep.ask(self._applied.seq)
        self._tidied_at = None

    @property
    def compacting(self) -> bool:
        """Whether what was asked for is not yet done, and published."""
        return self._upkeep.asked or not self._published or self._publishing is not None

    def compact(self, now: datetime, *, whole: bool = False) -> None:
        """Publish what is not published yet, and do every merge that is due; `whole`: all that can be done."""
        if whole:
            self.ask_to_compact()
        while True:
            self.settle(now)
            self.publish()
            self.settle(now)
            self._upkeep.begin(now, resting=True)
            if not self._upkeep.wait() and self._published:
                return

    def _tidy(self, now: datetime) -> None:
        """Let a merge that is done count, delete what readers have had time to let go of, and begin the next merge.

        What is superseded here is listed until the next publication, which therefore follows at once; so whatever a
        settled catalogue could still list is younger than the grace time.
        """
        with self._state.transaction():
            if self._upkeep.adopt(now):
                self._published = False
            if self._upkeep.idle and self._departure.apply(now):
                self._published = False
            # Files first: what a crash in between leaves is a note of a file that is gone, not a file that stays.
            self._lake.remove(self._state.expire(now, GRACE))
        self._upkeep.begin(now, resting=self._resting)
        self._tidied_at = now


def _verdicts(revisions: pa.Table) -> dict[tuple[str, str], int]:
    counted = revisions.group_by(["scope", "passed"]).aggregate([([], "count_all")]).to_pylist()
    return {(row["scope"], VERDICTS[row["passed"]]): row["count_all"] for row in counted}


def _with(spans: pa.Table, row_ids: pa.Array, context: pa.Table) -> pa.Table:
    """The columns of a span part."""
    columns = {name: context.column(name) for name in context.column_names}
    return pa.table({name: spans.column(name) for name in spans.column_names} | columns | {"row_id": row_ids})
