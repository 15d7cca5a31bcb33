"""Constructs what a service tells about itself: the journal always, metrics only where somebody reads them.

Everything here runs in the supervisor. That holds neither gRPC nor the OpenTelemetry SDK unless a setting asks for it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from weaklink_processor import wiring
from weaklink_processor.config import Config, Metrics, host_port
from weaklink_processor.metrics import Reading
from weaklink_processor.telemetry.journal import Journal
from weaklink_processor.telemetry.station import Station, together
from weaklink_processor.wiring.sending import destinations

if TYPE_CHECKING:
    from weaklink_processor.telemetry.board import Board


@contextmanager
def station(config: Config) -> Iterator[Station]:
    """Open the ear of a service.

    Raises:
        UsageError: the endpoint for metrics cannot be listened on.
    """
    with ExitStack() as stack:
        journal = stack.enter_context(closing(Journal(config.data_dir)))
        here = Station(journal)
        if config.telemetry.metrics.wanted:
            _show_metrics(config, here, stack)
        yield here


def _show_metrics(config: Config, here: Station, stack: ExitStack) -> None:
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader, MetricReader

    from weaklink_processor.telemetry.board import Board
    from weaklink_processor.telemetry.processes import process_readings

    wanted = config.telemetry.metrics
    scraped = InMemoryMetricReader()
    readers: list[MetricReader] = [scraped] if wanted.prometheus.endpoint else []
    if wanted.otlp.endpoint:
        from weaklink_processor.telemetry.push import metric_push

        readers.append(metric_push(wanted.otlp.endpoint, wanted.otlp.interval))
    observe = together(partial(process_readings, here.pids), partial(_queue, config, here))
    here.board = board = Board(readers, observe)
    stack.callback(_close, wanted, board)
    if wanted.prometheus.endpoint:
        from weaklink_processor.telemetry.endpoint import MetricsEndpoint
        from weaklink_processor.telemetry.exposition import exposition

        endpoint = MetricsEndpoint(
            *host_port(wanted.prometheus.endpoint), lambda: exposition(scraped.get_metrics_data())
        )
        stack.enter_context(closing(endpoint))
        here.metrics_url = endpoint.url


def _close(wanted: Metrics, board: "Board") -> None:
    if wanted.otlp.endpoint:
        from weaklink_processor.telemetry.push import last_words

        last_words(board.close)


def _queue(config: Config, here: Station) -> Iterator[Reading]:
    from weaklink_processor.queue.backlog import queue_readings
    from weaklink_processor.queue.outgoing import still_outgoing

    with wiring.look_into_queue(config) as queue:
        yield from queue_readings(
            queue,
            capacity=config.queue.max_bytes,
            destinations=destinations(config),
            outgoing=still_outgoing(queue, here.waiting()),
            bytes_per_span=here.bytes_per_span(),
            now=datetime.now(UTC),
        )
