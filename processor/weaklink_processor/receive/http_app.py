"""OTLP over HTTP: POST /v1/traces in protobuf or JSON, and what a probe asks for.

https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message

from weaklink_processor.errors import Overloaded
from weaklink_processor.receive import otlp_json
from weaklink_processor.receive.asgi import Application, Request, Response, Route
from weaklink_processor.receive.body import read_body
from weaklink_processor.receive.credentials import CHALLENGE, HEADER, Credentials
from weaklink_processor.receive.intake import Intake
from weaklink_processor.receive.limits import Limits
from weaklink_processor.receive.status import RETRY_SECONDS, WrongMethod, WrongType, answer_to, status_of

TRACES_PATH: Final = "/v1/traces"
PLAIN: Final = "text/plain; charset=utf-8"


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


def application(intake: Intake, limits: Limits, credentials: Credentials) -> Application:
    """Everything that is served over HTTP."""

    async def export(request: Request) -> Response:
        credentials.check(request.headers(HEADER))  # before anything of the body is read
        encoding = _encoding_of(request)
        if encoding is None:
            sent = request.header("content-type")
            raise WrongType(f"content type {sent!r}: send {' or '.join(ENCODINGS)}")
        with intake.room.claim() as grow, intake.until_stopped():
            body = await read_body(request, limits.max_recv_bytes, grow)
            answer = await intake.take(await encoding.to_protobuf(intake, body, limits), limits, "http")
        return Response(encoding.write(answer), encoding.media_type)

    async def healthz(_request: Request) -> Response:
        return Response(b"alive\n", PLAIN)

    async def readyz(_request: Request) -> Response:
        if not intake.ready:
            raise Overloaded("taking no data now")
        return Response(b"ready\n", PLAIN)

    def refuse(request: Request, error: Exception) -> Response:
        if (request.method, request.path) == ("POST", TRACES_PATH):  # probes are no exports
            intake.refused(error, "http")
        return _refusal(request, error)

    routes = {TRACES_PATH: Route(export, ("POST",)), "/healthz": Route(healthz), "/readyz": Route(readyz)}
    return Application(routes, refuse)


def _encoding_of(request: Request) -> Encoding | None:
    media_type, _, _ = request.header("content-type").partition(";")
    return ENCODINGS.get(media_type.strip().lower())


def _refusal(request: Request, error: Exception) -> Response:
    """Answer with a google.rpc.Status, in the request's own type where it is one of ours."""
    encoding = _encoding_of(request) or JSON
    answer = answer_to(error)
    headers = {"retry-after": str(RETRY_SECONDS)} if answer.retryable else {}
    if answer.http is HTTPStatus.UNAUTHORIZED:
        headers["www-authenticate"] = CHALLENGE
    if isinstance(error, WrongMethod):
        headers["allow"] = ", ".join(error.allowed)
    return Response(encoding.write(status_of(error)), encoding.media_type, answer.http, headers)
