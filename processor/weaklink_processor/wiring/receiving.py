"""The receiver from its settings."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from weaklink_processor.config import Config, Http, ServerTls
from weaklink_processor.wiring.folder import open_queue

if TYPE_CHECKING:
    import asyncio

    from weaklink_processor.receive.http_connection import Patience
    from weaklink_processor.receive.limits import Limits
    from weaklink_processor.receive.tls import TlsFiles
    from weaklink_processor.supervise.news import News

_MIB = 1024 * 1024
_RECEIVER_GRACE_SECONDS = 4  # less than the supervisor leaves it


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
