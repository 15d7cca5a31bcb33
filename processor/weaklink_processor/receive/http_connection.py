"""One HTTP connection: uvicorn's own, with an end to waiting for clients that are slow on purpose.

uvicorn waits for ever for a head, a body, for its answer to be read, and for the next request once more came behind an
answer; and it keeps as much of heads, chunk extensions and requests sent ahead as comes.
"""

import sys
from asyncio import BaseTransport, TimerHandle
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, ClassVar, Final

from google.protobuf.json_format import MessageToJson
from google.rpc.code_pb2 import DEADLINE_EXCEEDED, INVALID_ARGUMENT
from google.rpc.status_pb2 import Status
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from weaklink_processor.receive.http_parser import Parser
from weaklink_processor.receive.limits import MOST_OVERHEAD

MOST_AHEAD: Final = 16  # requests of a connection that wait for the answer to another
HTTP_2: Final = "Pause on PRI/Upgrade"  # the parser's words for the first line of a gRPC client


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that a client may take, named as in the Collector's servers."""

    read_header_timeout: float = 10.0  # for a head, from the connection or the request's first byte on
    read_timeout: float = 60.0  # for a body
    write_timeout: float = 30.0  # while it reads nothing of its answers
    idle_timeout: float = 60.0  # between two requests


FAIR_PATIENCE: Final = Patience()


def connections(patience: Patience) -> type[HttpToolsProtocol]:
    """Make the protocol class that uvicorn is to use."""
    return type("Connection", (_Connection,), {"patience": patience})


class _Connection(HttpToolsProtocol):
    patience: ClassVar[Patience]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.parser: Parser = Parser(self)
        self.timeout_keep_alive = self.patience.idle_timeout  # type: ignore[assignment]  # fractions count too
        self._reading: TimerHandle | None = None
        self._writing: TimerHandle | None = None
        self._overhead = 0  # bytes in a row
        self._amid = False  # a request has begun, and has not ended

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]  # uvicorn knows that it reads and writes
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        _cancel(self._reading)
        _cancel(self._writing)
        super().connection_lost(exc)

    def eof_received(self) -> bool:  # type: ignore[override]  # uvicorn always hangs up
        """Answer a client first that only sends nothing more; return whether the connection stays open for that.

        TLS has no such half of a connection.
        """
        owed = not self._amid and not getattr(self.cycle, "response_complete", True) and self.scheme == "http"
        if owed:
            self.cycle.keep_alive = False
        return owed

    def data_received(self, data: bytes) -> None:
        self._overhead += len(data)
        super().data_received(data)
        if self._overhead > MOST_OVERHEAD and not self.transport.is_closing():
            status = Status(code=INVALID_ARGUMENT, message="head, trailers or chunk extensions are too large")
            self._give_up(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, status)
        self._expect_another()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._amid = True
        self._overhead = 0
        self._expect_head()

    def on_headers_complete(self) -> None:
        if self.parser.offered:
            return
        if len(self.pipeline) >= MOST_AHEAD:
            raise ValueError("too many requests ahead")  # the parser's caller answers 400 and hangs up
        super().on_headers_complete()
        self._expect(self.patience.read_timeout, "the body did not come in time")

    def on_body(self, body: bytes) -> None:
        self._overhead = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        if self.parser.offered:
            return
        self._overhead = 0
        self._amid = False
        _cancel(self._reading)
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._writing = self.loop.call_later(self.patience.write_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        _cancel(self._writing)

    def timeout_keep_alive_handler(self) -> None:
        self.transport.abort()  # does not wait until the last answer is read

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  the same whatever is wrong
        """Refuse what is no HTTP, as OTLP has it; comes while the parser's error is handled, which says why."""
        fault = sys.exception()
        why = str(fault.__context__ if fault and isinstance(fault.__context__, ValueError) else fault)
        if why == HTTP_2:
            why = "this port speaks HTTP/1.1, not HTTP/2: gRPC has a port of its own, see receiver.grpc.endpoint"
        status = Status(code=INVALID_ARGUMENT, message=f"bad HTTP request: {why}")
        self._give_up(HTTPStatus.BAD_REQUEST, status)

    def _expect_another(self) -> None:
        """Have an idle connection closed in time, also where more came behind its answer: the rest of the request."""
        idle = not self._amid and getattr(self.cycle, "response_complete", False) and not self.transport.is_closing()
        if idle and self.timeout_keep_alive_task is None:
            handler = self.timeout_keep_alive_handler
            self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, handler)

    def _expect_head(self) -> None:
        self._expect(self.patience.read_header_timeout, "the head did not come in time")

    def _expect(self, seconds: float, fault: str) -> None:
        _cancel(self._reading)
        status = Status(code=DEADLINE_EXCEEDED, message=f"{fault}: {seconds} s")
        self._reading = self.loop.call_later(seconds, self._give_up, HTTPStatus.REQUEST_TIMEOUT, status)

    def _give_up(self, code: HTTPStatus, status: Status) -> None:
        """Answer, if nothing else is being answered, and hang up whether that is read or not."""
        answering = getattr(self.cycle, "response_started", False) and not self.cycle.response_complete
        if not answering:
            self.transport.write(_answer(code, status))
        self.transport.close()
        _cancel(self._writing)
        self._writing = self.loop.call_later(self.patience.write_timeout, self.transport.abort)


def _cancel(timer: TimerHandle | None) -> None:
    if timer:
        timer.cancel()


def _answer(code: HTTPStatus, status: Status) -> bytes:
    body = MessageToJson(status, indent=None)
    lines = (
        f"HTTP/1.1 {code} {code.phrase}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "connection: close",
    )
    return "\r\n".join((*lines, "", body)).encode()
