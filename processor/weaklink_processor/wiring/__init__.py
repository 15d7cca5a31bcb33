"""The only place that constructs things: settings in, running parts out.

Imports of rooms are inside the functions, so that a process loads only what it runs: the parent of `serve`
holds neither gRPC nor DuckDB, and the receiver no DuckDB.
"""

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from weaklink_processor.config import Config, Http, ServerTls
from weaklink_processor.errors import BrokenStore, UsageError
from weaklink_processor.thrift import AS_A_SERVICE, Steps
from weaklink_processor.wiring.analysing import analysis_settings, decoder, own_conventions
from weaklink_processor.wiring.sending import built_destinations, destinations

if TYPE_CHECKING:
    import asyncio

    import duckdb
    from opentelemetry.trace import Tracer

    from weaklink_analysis.operations import Settings
    from weaklink_processor.analyst.analyst import Analyst
    from weaklink_processor.analyst.outbox import Outbox
    from weaklink_processor.analyst.state import State
    from weaklink_processor.analyst.step import Sent, Step
    from weaklink_processor.metrics import Tally
    from weaklink_processor.queue.store import QueueStore
    from weaklink_processor.receive.http_connection import Patience
    from weaklink_processor.receive.limits import Limits
    from weaklink_processor.receive.tls import TlsFiles
    from weaklink_processor.supervise.news import News

_MIB = 1024 * 1024
_RECEIVER_GRACE_SECONDS = 4  # less than the supervisor leaves it
_EMIT_DRAIN_SECONDS = 1.5
QUEUE_FILE = "queue.sqlite"
STATE_FILE = "state.duckdb"
CATALOGUE_FILE = "weaklink.duckdb"
ANALYST = "analyst"
"""The analyst's name among the queue's consumers."""
DEPARTED = {"age": "lake:too_old", "size": "lake:too_much"}
"""Marks in the queue's file: how many spans left the lake since the folder was made."""


def limits(config: Config) -> "Limits":
    """Return the bounds on a request that came in neither over gRPC nor over HTTP: the wider of the two."""
    return max(_grpc_limits(config), _http_limits(config), key=lambda limits: limits.max_recv_bytes)


def _grpc_limits(config: Config) -> "Limits":
    return _limits(config, config.receiver.grpc.max_recv_msg_size_mib * _MIB)


def _http_limits(config: Config) -> "Limits":
    return _limits(config, config.receiver.http.max_request_body_size)


def _limits(config: Config, max_recv_bytes: int) -> "Limits":
    from weaklink_processor.receive.limits import Limits

    return Limits(max_recv_bytes, **config.receiver.limits.model_dump())


@contextmanager
def open_queue(config: Config) -> "Iterator[QueueStore]":
    """Open the queue; every row waits for the analyst from the first one on."""
    from weaklink_processor.queue.store import QueueStore

    bounds = config.queue
    path = config.data_dir / QUEUE_FILE
    with closing(QueueStore.open(path, max_bytes=bounds.max_bytes, max_requests=bounds.max_requests)) as queue:
        queue.register(ANALYST)
        yield queue


@contextmanager
def look_into_queue(config: Config) -> "Iterator[QueueStore]":
    """Open the queue to look at it; nothing in it changes, also where the disk is full."""
    from weaklink_processor.queue.store import QueueStore

    with closing(QueueStore.open(config.data_dir / QUEUE_FILE, max_bytes=config.queue.max_bytes)) as queue:
        yield queue


@contextmanager
def open_catalogue(config: Config, *, to_read: bool = True) -> "Iterator[duckdb.DuckDBPyConnection]":
    """Open the views read-only, times shown in UTC; not `to_read`: only to see what they are.

    Raises:
        UsageError: there is no data folder, or nothing has been published yet.
        BrokenStore: a newer weaklink wrote them, or the folder was copied or moved, and they are of the old one.
    """
    import duckdb

    from weaklink_processor.lake.listing import check_format, check_place

    path = config.data_dir / CATALOGUE_FILE
    require_data_dir(config)
    _look_into_stores(config)
    if not is_published(config):
        raise UsageError(f"{path} is not there yet: it comes with the first span that `weaklink serve` has analysed")
    try:
        opened = duckdb.connect(path, read_only=True)
    except duckdb.Error as error:  # of a newer DuckDB, or none at all
        raise BrokenStore(f"{path}: this weaklink cannot read it: {error}") from error
    with opened as catalogue:
        check_format(catalogue, path)
        if to_read:
            check_place(catalogue, path)
        catalogue.execute("SET TimeZone = 'UTC'")
        yield catalogue


def refuse_newer(config: Config) -> None:
    """Refuse a data folder of which a newer weaklink wrote anything; a catalogue that nobody can read is made anew.

    Raises:
        BrokenStore: it is one.
    """
    import duckdb

    from weaklink_processor.lake.listing import check_format

    _look_into_stores(config)
    path = config.data_dir / CATALOGUE_FILE
    with suppress(duckdb.Error):
        if path.exists():
            with duckdb.connect(path, read_only=True) as catalogue:
                check_format(catalogue, path)


def _look_into_stores(config: Config) -> None:
    from weaklink_processor.analyst import schema
    from weaklink_processor.queue import database
    from weaklink_processor.supervise.lock import is_held

    database.look_into(config.data_dir / QUEUE_FILE)
    if not is_held(config.data_dir):  # whoever is at work has looked, and must find the state unlocked
        schema.look_into(config.data_dir / STATE_FILE)


def listed_files(config: Config) -> int:
    """Return how many files of the lake are read by those who query it."""
    from weaklink_processor.lake.listing import listed_parts

    if not is_published(config):
        return 0
    with open_catalogue(config, to_read=False) as catalogue:
        return len(listed_parts(catalogue))


def is_published(config: Config) -> bool:
    """Return whether there are views to query."""
    return (config.data_dir / CATALOGUE_FILE).exists()


def require_data_dir(config: Config, file: str = "") -> None:
    """Refuse a folder that is not there, or that lacks this file of ours.

    Raises:
        UsageError: it is so.
    """
    if not (config.data_dir / file).exists():
        raise UsageError(
            f"no data folder {config.data_dir}: name one with --data-dir, or make one with `weaklink serve`"
        )


def run_receiver(config: Config, stop: threading.Event, on_ready: Callable[[], None], news: "News") -> None:
    """Take spans until `stop` is set, then drain.

    Raises:
        UsageError: an endpoint cannot be listened on.
    """
    import asyncio

    from weaklink_processor.queue.writer import Patience, QueueWriter
    from weaklink_processor.receive import process
    from weaklink_processor.receive.credentials import Credentials

    settings = process.ReceiverSettings(
        grpc=config.receiver.grpc.endpoint,
        http=config.receiver.http.endpoint,
        grpc_limits=_grpc_limits(config),
        http_limits=_http_limits(config),
        credentials=Credentials(config.receiver.auth.tokens, config.receiver.auth.users),
        grpc_tls=_tls_files(config.receiver.grpc.tls),
        http_tls=_tls_files(config.receiver.http.tls),
        http_patience=_patience(config.receiver.http),
        grace_seconds=_RECEIVER_GRACE_SECONDS,
    )
    patience = Patience(config.queue.max_pending_bytes, config.queue.max_pending_requests, config.queue.max_wait)

    async def receive() -> None:
        with open_queue(config) as queue:
            writer = QueueWriter(queue, patience=patience, duplicate_window_seconds=config.queue.duplicate_window)
            try:
                await process.run_receiver(
                    settings,
                    writer.append,
                    stop=_in_this_loop(stop),
                    on_ready=lambda _: on_ready(),
                    tally=news.tally,
                )
            finally:
                await writer.stop()

    asyncio.run(receive())


def _patience(http: Http) -> "Patience":
    from weaklink_processor.receive.http_connection import Patience

    return Patience(http.read_header_timeout, http.read_timeout, http.write_timeout, http.idle_timeout)


def _tls_files(tls: ServerTls) -> "TlsFiles | None":
    from weaklink_processor.receive.tls import TlsFiles

    if tls.cert_file is None or tls.key_file is None:
        return None
    return TlsFiles(tls.cert_file, tls.key_file, tls.client_ca_file)


def _in_this_loop(stop: threading.Event) -> "asyncio.Event":
    """Return an event of the running loop that is set when `stop` is."""
    import asyncio

    loop, stopped = asyncio.get_running_loop(), asyncio.Event()

    def forward() -> None:
        stop.wait()
        with suppress(RuntimeError):  # the loop has ended by itself
            loop.call_soon_threadsafe(stopped.set)

    threading.Thread(target=forward, name="stop", daemon=True).start()
    return stopped


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


def forget_others(config: Config, queue: "QueueStore") -> None:
    """Have nothing wait any longer for destinations that are not configured, as who drains the queue lets go of it.

    Raises:
        UsageError: something waits for one of them already.
    """
    from weaklink_processor.analyst.unsent import unsent

    others = sorted(queue.stats().consumers.keys() - {ANALYST, *destinations(config)})
    for consumer in others:
        waiting = f"{rows:,} rows of {QUEUE_FILE}" if (rows := queue.backlog(consumer).rows) else ""
        kind, _, name = consumer.partition(":")
        if not waiting and kind == "evaluations":  # those of rows that are let go of lie beside the queue
            made = unsent(config.data_dir / STATE_FILE, queue.mark(f"forward:{name}"))
            waiting = f"{made:,} evaluations of {STATE_FILE}" if made else ""
        if waiting:
            raise UsageError(
                f"{waiting} wait for {consumer}, which these settings do not have: "
                "name those of the service with --config, or have it run meanwhile"
            )
    for consumer in others:
        queue.forget(consumer)


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
    """
    from weaklink_processor.analyst.requests import settle
    from weaklink_processor.analyst.state import State

    with open_queue(config) as queue, closing(State.open(config.data_dir / STATE_FILE)) as state:
        settings = state.stored_settings() or analysis_settings(config)
        with closing(_step(config, queue, state, settings)) as step:
            step.compact(_now(), whole=True)
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
