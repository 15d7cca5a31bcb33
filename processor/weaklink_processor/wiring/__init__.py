"""The only place that constructs things: settings in, running parts out. Here it is the analyst, in whichever process.

Imports of rooms are inside the functions, so that a process loads only what it runs: the parent of `serve`
holds neither gRPC nor DuckDB, and the receiver no DuckDB.
"""

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from weaklink_processor.config import Config
from weaklink_processor.errors import WeaklinkError
from weaklink_processor.thrift import AS_A_SERVICE, Steps
from weaklink_processor.wiring.analysing import analysis_settings, decoder, own_conventions
from weaklink_processor.wiring.folder import (
    ANALYST,
    CATALOGUE_FILE,
    DEPARTED,
    QUEUE_FILE,
    STATE_FILE,
    is_published,
    listed_files,
    look_into_queue,
    open_catalogue,
    open_queue,
    refuse_newer,
    require_data_dir,
)
from weaklink_processor.wiring.receiving import limits, run_receiver
from weaklink_processor.wiring.removed import forget_others
from weaklink_processor.wiring.sending import built_destinations

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from weaklink_analysis.operations import Settings
    from weaklink_processor.analyst.analyst import Analyst
    from weaklink_processor.analyst.outbox import Outbox
    from weaklink_processor.analyst.state import State
    from weaklink_processor.analyst.step import Sent, Step
    from weaklink_processor.metrics import Tally
    from weaklink_processor.queue.store import QueueStore
    from weaklink_processor.supervise.news import News

__all__ = [
    "ANALYST",
    "CATALOGUE_FILE",
    "DEPARTED",
    "QUEUE_FILE",
    "STATE_FILE",
    "compact",
    "compact_request",
    "drain",
    "forget_others",
    "is_published",
    "limits",
    "listed_files",
    "look_into_queue",
    "open_catalogue",
    "open_queue",
    "refuse_newer",
    "require_data_dir",
    "run_analyst",
    "run_receiver",
]

_EMIT_DRAIN_SECONDS = 1.5


def run_analyst(config: Config, stop: threading.Event, on_ready: Callable[[], None], news: "News") -> None:
    """Apply what is queued until `stop` is set, then as much of what is left as the drain time allows."""
    with (
        open_queue(config) as queue,
        _tracer(config) as tracer,
        _analyst(config, queue, news.tally, tracer) as (analyst, outbox),
        news.telling_of({"destinations": outbox.away, "waiting": outbox.waiting}),
    ):
        outbox.start()
        on_ready()
        analyst.run(stop)


def drain(config: Config, on_progress: Callable[[], None] = lambda: None, steps: Steps = AS_A_SERVICE) -> None:
    """Apply and evaluate all that is queued, then return; the caller holds the data folder's lock.

    `on_progress` hears of each step.

    Raises:
        UsageError: something waits for a destination that is not configured.
    """
    with open_queue(config) as queue:
        forget_others(config, queue)
        with _analyst(config, queue, on_progress=on_progress, steps=steps) as (analyst, outbox):
            outbox.start()
            analyst.drain()


@contextmanager
def _analyst(
    config: Config,
    queue: "QueueStore",
    tally: "Tally | None" = None,
    tracer: "Tracer | None" = None,
    *,
    on_progress: Callable[[], None] = lambda: None,
    steps: Steps = AS_A_SERVICE,
) -> "Iterator[tuple[Analyst, Outbox]]":
    """Open the analyst's state and build it around that; on the way out the outbox is drained as far as time allows."""
    from weaklink_analysis.conventions import CONVENTIONS
    from weaklink_analysis.operations import Matcher
    from weaklink_analysis.recognition import Recogniser
    from weaklink_processor.analyst.ahead import Ahead
    from weaklink_processor.analyst.analyst import BATCH_BYTES, Analyst
    from weaklink_processor.analyst.caution import Caution
    from weaklink_processor.analyst.outbox import Outbox
    from weaklink_processor.analyst.requests import CompactRequests
    from weaklink_processor.analyst.state import State, scratch
    from weaklink_processor.analyst.watch import Watch
    from weaklink_processor.wiring.in_memory import rehearse

    analysis, settings = config.analysis, analysis_settings(config)
    with closing(State.open(config.data_dir / STATE_FILE)) as state:
        outbox = Outbox(queue, state, built_destinations(config, state, settings), [ANALYST], tally)
        step = _step(config, queue, state, settings, sent=outbox.sent, scopes=outbox.scopes, steps=steps)
        matchers = [Matcher(own.span_name, own.attributes) for own in analysis.decisions]
        decode = decoder(config)
        recogniser = Recogniser(scratch(), matchers, (*own_conventions(config), *CONVENTIONS))

        def told() -> None:
            outbox.wake()
            on_progress()

        step_bytes = steps.batch_bytes or BATCH_BYTES
        ahead = Ahead(queue, lambda requests: recogniser.recognise(decode(requests)), step_bytes)
        analyst = Analyst(
            queue,
            ahead,
            step,
            Caution(queue, partial(rehearse, config)),
            clock=_now,
            publish_seconds=analysis.publish_interval,
            release=partial(queue.release, ANALYST),
            on_progress=told,
            heed=CompactRequests(queue, step).heed,
            watch=Watch(tally, tracer),
            batch_bytes=step_bytes,
        )
        try:
            with closing(step), closing(ahead):
                yield analyst, outbox
        finally:  # amid a fault too: a thread that waits for a destination would keep the process from ending
            outbox.stop(_EMIT_DRAIN_SECONDS)


def _step(
    config: Config,
    queue: "QueueStore",
    state: "State",
    settings: "Settings",
    *,
    sent: "Callable[[], Sent] | None" = None,
    scopes: "Collection[str]" = (),
    steps: Steps = AS_A_SERVICE,
) -> "Step":
    """Build the analyst's step, and make good what a crash may have left."""
    from weaklink_analysis.engine import JUDGED_TRACES, Engine
    from weaklink_analysis.views import create_statements
    from weaklink_analysis.views.comments import comment_statements
    from weaklink_processor.analyst.step import LAKE_KEYS, LAKE_SOUGHT, Step
    from weaklink_processor.lake.lake import Lake
    from weaklink_processor.lake.retention import Retention

    kept = config.lake.retention
    step = Step(
        state,
        Engine(state.connection, settings, steps.judged_traces or JUDGED_TRACES),
        Lake(config.data_dir, LAKE_KEYS, [*create_statements(settings), *comment_statements()], LAKE_SOUGHT),
        queue_id=queue.id,
        settings=settings,
        sent=sent,
        scopes=scopes,
        retention=Retention(timedelta(seconds=kept) if kept else None, config.lake.max_bytes),
        count_departed=lambda reason, spans: queue.set_mark(DEPARTED[reason], queue.mark(DEPARTED[reason]) + spans),
        merges_at_rest=steps.merges_at_rest,
    )
    step.recover(_now())
    return step


def compact(config: Config) -> None:
    """Merge the lake's parts into as few as can be; the caller holds the data folder's lock.

    With the settings that its numbers were made with: other ones are for a service to apply, or a replay.

    Raises:
        WeaklinkError: some could not be merged, and are as they were.
    """
    from weaklink_processor.analyst.requests import settle
    from weaklink_processor.analyst.state import State

    with open_queue(config) as queue, closing(State.open(config.data_dir / STATE_FILE)) as state:
        settings = state.stored_settings() or analysis_settings(config)
        with closing(_step(config, queue, state, settings)) as step:
            step.compact(_now(), whole=True)
            if step.compacting:
                raise WeaklinkError("some files could not be merged, and are as they were; the log above says why")
        settle(queue)


@contextmanager
def compact_request(config: Config) -> "Iterator[Callable[[], bool]]":
    """Ask the service that holds the data folder's lock to compact; yields whether it is done."""
    from weaklink_processor.analyst.requests import ask, is_done

    with open_queue(config) as queue:
        yield partial(is_done, queue, ask(queue))


@contextmanager
def _tracer(config: Config) -> "Iterator[Tracer | None]":
    """Yield what makes spans of the analyst's own work; None: they are not wanted, and nothing is loaded for them."""
    endpoint = config.telemetry.traces.otlp.endpoint
    if endpoint is None:
        yield None
        return
    from weaklink_processor.telemetry.push import tracing

    with tracing(endpoint) as tracer:
        yield tracer


def _now() -> datetime:
    return datetime.now(UTC)
