"""OTLP over gRPC: TraceService/Export in raw bytes, and the standard health service.

Nothing else is registered, so the metrics and logs services are UNIMPLEMENTED.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, NoReturn, TypeAlias

import grpc
import grpc.aio
import structlog
from grpc_health.v1.health import aio as health  # type: ignore[attr-defined]  # its stubs leave it out
from grpc_health.v1.health_pb2 import HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import add_HealthServicer_to_server

from weaklink_processor.errors import Overloaded, UsageError, WeaklinkError
from weaklink_processor.receive.address import Address, listen
from weaklink_processor.receive.credentials import HEADER, Credentials
from weaklink_processor.receive.intake import Intake
from weaklink_processor.receive.limits import MOST_OVERHEAD, Limits
from weaklink_processor.receive.status import answer_to, status_of
from weaklink_processor.receive.tls import Tls

TRACE_SERVICE: Final = "opentelemetry.proto.collector.trace.v1.TraceService"
HEALTH_NAMES: Final = ("", TRACE_SERVICE)  # the whole server, and its one service
LAST_CALLS_SECONDS: Final = 0.5  # the most that a stop waits for calls that come while it begins
STATUS_DETAILS: Final = "grpc-status-details-bin"  # where gRPC carries a google.rpc.Status

HANDSHAKE_SECONDS: Final = 10  # until a new connection speaks HTTP/2

Context = grpc.aio.ServicerContext[bytes, bytes]
Handler: TypeAlias = "grpc.RpcMethodHandler[bytes, bytes]"

log = structlog.get_logger(__name__)


class GrpcServer:
    """The gRPC listener; stop works without a start, and twice."""

    def __init__(self, intake: Intake, limits: Limits, credentials: Credentials) -> None:
        self._intake, self._limits = intake, limits
        self._doors = (_Door(credentials, intake),) if credentials else ()
        self._health = health.HealthServicer()
        self._server: grpc.aio.Server | None = None
        self._calls, self._stopping = 0, False

    async def start(self, address: Address, tls: Tls | None = None) -> Address:
        """Listen, and return the address with its real port; UsageError when that cannot be."""
        self._server = grpc.aio.server(
            interceptors=self._doors,
            options=(
                ("grpc.so_reuseport", 0),  # a taken port must fail, not be shared
                ("grpc.server_handshake_timeout_ms", HANDSHAKE_SECONDS * 1000),
                ("grpc.max_receive_message_length", self._limits.max_recv_bytes),  # as sent and decompressed
                # Between the two, 8 and 16 KiB unless told, gRPC refuses by chance.
                ("grpc.max_metadata_size", MOST_OVERHEAD),
                ("grpc.absolute_max_metadata_size", MOST_OVERHEAD),
            ),
        )
        # No deserializer: the handler gets the message's bytes.
        methods = {"Export": grpc.unary_unary_rpc_method_handler(self._export)}
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(TRACE_SERVICE, methods),))
        add_HealthServicer_to_server(self._health, self._server)
        port = _bind(self._server, address, tls)
        await self._server.start()
        for name in HEALTH_NAMES:
            await self._health.set(name, HealthCheckResponse.SERVING)
        return Address(address.host, port)

    async def stop(self, grace_seconds: float) -> None:
        """Report NOT_SERVING, refuse new calls, and give those under way some time."""
        await self._health.enter_graceful_shutdown()
        if self._server is not None:
            begun = time.monotonic()
            await self._answer_last_calls()
            await self._server.stop(max(grace_seconds - (time.monotonic() - begun), 0.0))

    async def _answer_last_calls(self) -> None:
        """Tell calls that have come, but not yet to us, to try again: the server would only cancel them."""
        self._stopping = True
        seen, end = -1, time.monotonic() + LAST_CALLS_SECONDS
        while seen != self._calls and time.monotonic() < end:
            seen = self._calls
            await asyncio.sleep(LAST_CALLS_SECONDS / 10)

    async def _export(self, payload: bytes, context: Context) -> bytes:
        self._calls += 1
        if self._stopping:
            await _refuse(Overloaded("the receiver is stopping"), context, self._intake)
        try:
            with self._intake.room.claim() as grow:
                grow(len(payload))
                response = await self._intake.take(payload, self._limits, "grpc")
        except WeaklinkError as error:
            await _refuse(error, context, self._intake)
        except Exception as error:
            log.exception("export failed")
            await _refuse(error, context, self._intake)
        return response.SerializeToString()


class _Door(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # it takes none when it runs
    """Refuses export calls without credentials before their message is read, let alone decompressed."""

    def __init__(self, credentials: Credentials, intake: Intake) -> None:
        self._credentials, self._intake = credentials, intake

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Handler]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Handler:
        if handler_call_details.method.startswith(f"/{TRACE_SERVICE}/"):
            sent = handler_call_details.invocation_metadata or ()
            try:
                self._credentials.check([str(value) for name, value in sent if name == HEADER])
            except WeaklinkError as error:
                return _refusal(error, self._intake)
        return await continuation(handler_call_details)


def _refusal(error: WeaklinkError, intake: Intake) -> Handler:
    # Of a stream of messages none is read unless the handler asks for it.
    async def refuse(_messages: object, context: Context) -> NoReturn:
        await _refuse(error, context, intake)

    return grpc.stream_unary_rpc_method_handler(refuse)


async def _refuse(error: Exception, context: Context, intake: Intake) -> NoReturn:
    intake.refused(error, "grpc")
    status = status_of(error)
    details = ((STATUS_DETAILS, status.SerializeToString()),)
    await context.abort(answer_to(error).grpc, status.message, details)


def _bind(server: grpc.aio.Server, address: Address, tls: Tls | None) -> int:
    listen(address).close()  # gRPC would not tell why it cannot
    try:
        if tls:
            return server.add_secure_port(str(address), tls.grpc_credentials())
        return server.add_insecure_port(str(address))
    except RuntimeError as error:
        raise UsageError(f"cannot listen on {address}: {error}") from error
