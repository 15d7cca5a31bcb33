"""The receiver: both listeners in one event loop, until told to stop."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from weaklink_processor.metrics import Tally
from weaklink_processor.receive.address import Address
from weaklink_processor.receive.credentials import Credentials
from weaklink_processor.receive.grpc_server import GrpcServer
from weaklink_processor.receive.http_connection import FAIR_PATIENCE, Patience
from weaklink_processor.receive.http_server import HttpServer
from weaklink_processor.receive.intake import Append, Intake
from weaklink_processor.receive.limits import Limits
from weaklink_processor.receive.tls import Tls, TlsFiles


@dataclass(frozen=True, slots=True)
class ReceiverSettings:
    """Where to listen, as host:port (port 0: any free one), how much to take, and from whom."""

    grpc: str = "127.0.0.1:4317"
    http: str = "127.0.0.1:4318"
    grpc_limits: Limits = field(default_factory=Limits)
    http_limits: Limits = field(default_factory=Limits)
    credentials: Credentials = field(default_factory=Credentials)
    grpc_tls: TlsFiles | None = None
    http_tls: TlsFiles | None = None
    http_patience: Patience = FAIR_PATIENCE
    grace_seconds: int = 5  # for requests under way at a stop


@dataclass(frozen=True, slots=True)
class Bound:
    """Where the receiver listens, with the real ports."""

    grpc: Address
    http: Address


async def run_receiver(
    settings: ReceiverSettings,
    append: Append,
    *,
    stop: asyncio.Event,
    on_ready: Callable[[Bound], None],
    tally: Tally | None = None,
) -> None:
    """Take OTLP on both protocols until `stop` is set, then drain.

    `append` returns when a request is durable; until then its client waits. UsageError: an address that cannot be
    listened on, named with the reason; nothing is left listening then.
    """
    intake = Intake(append, tally=tally)
    grpc = GrpcServer(intake, settings.grpc_limits, settings.credentials)
    http = HttpServer(intake, settings.http_limits, settings.credentials, settings.http_patience)
    try:
        bound = Bound(
            grpc=await grpc.start(Address.parse(settings.grpc), _tls(settings.grpc_tls)),
            http=await http.start(Address.parse(settings.http), _tls(settings.http_tls)),
        )
        on_ready(bound)
        await stop.wait()
    finally:
        intake.drain()
        await asyncio.gather(grpc.stop(settings.grace_seconds), http.stop(settings.grace_seconds))


def _tls(files: TlsFiles | None) -> Tls | None:
    return Tls(files) if files else None
