"""OTLP over HTTP: POST /v1/traces in protobuf or JSON, and what a probe asks for.

https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from weaklink_processor.errors import BadData, Overloaded, WeaklinkError
from weaklink_processor.receive import otlp_json
from weaklink_processor.receive.body import read_body
from weaklink_processor.receive.credentials import CHALLENGE, HEADER, Credentials
from weaklink_processor.receive.intake import Intake
from weaklink_processor.receive.limits import Limits
from weaklink_processor.receive.status import RETRY_SECONDS, NoSuchPath, WrongMethod, WrongType, answer_to, status_of

TRACES_PATH: Final = "/v1/traces"


@dataclass(frozen=True, slots=True)
class Encoding:
    """A content type of OTLP/HTTP: how to read a request in it, and to write an answer."""

    media_type: str
    to_protobuf: Callable[[Intake, bytes, Limits], Awaitable[bytes]]
    write: Callable[[Message], bytes]


async def _from_protobuf(_intake: Intake, body: bytes, _limits: Limits) -> bytes:
    return body


async def _from_json(intake: Intake, body: bytes, limits: Limits) -> bytes:
    if not body:
        return b""  # an empty request, as in protobuf
    return await intake.aside(otlp_json.to_protobuf, body, limits)  # too slow for the event loop


def _write_protobuf(message: Message) -> bytes:
    return message.SerializeToString()


def _write_json(message: Message) -> bytes:
    return MessageToJson(message, indent=None).encode()


PROTOBUF: Final = Encoding("application/x-protobuf", _from_protobuf, _write_protobuf)
JSON: Final = Encoding("application/json", _from_json, _write_json)
ENCODINGS: Final = {encoding.media_type: encoding for encoding in (PROTOBUF, JSON)}


def application(intake: Intake, limits: Limits, credentials: Credentials) -> Starlette:
    """Everything that is served over HTTP."""

    async def export(request: Request) -> Response:
        credentials.check(request.headers.getlist(HEADER))  # before anything of the body is read
        encoding = _encoding_of(request)
        if encoding is None:
            sent = request.headers.get("content-type", "")
            raise WrongType(f"content type {sent!r}: send {' or '.join(ENCODINGS)}")
        with intake.room.claim() as grow:
            body = await read_body(request, limits.max_recv_bytes, grow)
            answer = await intake.take(await encoding.to_protobuf(intake, body, limits), limits, "http")
        return Response(encoding.write(answer), media_type=encoding.media_type)

    async def refuse(request: Request, error: Exception) -> Response:
        if request.url.path == TRACES_PATH:  # probes are no exports
            intake.refused(error, "http")
        return await _refuse(request, error)

    async def healthz(_request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def readyz(_request: Request) -> Response:
        if not intake.ready:
            raise Overloaded("taking no data now")
        return PlainTextResponse("ready\n")

    app = Starlette(
        routes=[
            Route(TRACES_PATH, export, methods=["POST"]),
            Route("/healthz", healthz),
            Route("/readyz", readyz),
        ],
        exception_handlers={WeaklinkError: refuse, HTTPException: _refuse_route, Exception: refuse},
    )
    app.router.redirect_slashes = False  # a redirect is no answer to an exporter
    return app


def _encoding_of(request: Request) -> Encoding | None:
    media_type, _, _ = request.headers.get("content-type", "").partition(";")
    return ENCODINGS.get(media_type.strip().lower())


async def _refuse(request: Request, error: Exception) -> Response:
    """Answer with a google.rpc.Status, in the request's own type where it is one of ours."""
    encoding = _encoding_of(request) or JSON
    answer = answer_to(error)
    headers = {"Retry-After": str(RETRY_SECONDS)} if answer.retryable else {}
    if answer.http is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = CHALLENGE
    return Response(encoding.write(status_of(error)), answer.http, headers, encoding.media_type)


ROUTE_FAULTS: Final[dict[int, type[WeaklinkError]]] = {
    HTTPStatus.NOT_FOUND: NoSuchPath,
    HTTPStatus.METHOD_NOT_ALLOWED: WrongMethod,
}


async def _refuse_route(request: Request, error: Exception) -> Response:
    """Put what the router refuses in our own terms, and keep its headers, such as Allow."""
    if not isinstance(error, HTTPException):
        raise error
    fault = ROUTE_FAULTS.get(error.status_code, BadData)
    response = await _refuse(request, fault(f"{request.method} {request.url.path}: {error.detail}"))
    response.headers.update(error.headers or {})
    return response
