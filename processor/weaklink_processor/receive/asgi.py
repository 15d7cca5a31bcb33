"""ASGI, as far as OTLP needs it: a request, an answer, and what answers at a path.

https://asgi.readthedocs.io/en/latest/specs/www.html. A framework on top of it would bring anyio, whose pytest plugin
every test suite beside weaklink would load: 0.2 s at each start.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Final

from weaklink_processor.errors import BadData, WeaklinkError
from weaklink_processor.receive.status import NoSuchPath, WrongMethod

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

READING: Final = ("GET", "HEAD")
"""Of HEAD the server sends the head alone."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks for; its body is read when it is wanted."""

    scope: Mapping[str, Any]
    receive: Receive

    @property
    def method(self) -> str:
        """In capitals."""
        return str(self.scope["method"])

    @property
    def path(self) -> str:
        """Decoded, and without what follows a question mark."""
        return str(self.scope["path"])

    def headers(self, name: str) -> list[str]:
        """All values of a header; its name in lower case."""
        wanted = name.encode("latin-1")
        return [value.decode("latin-1") for key, value in self.scope["headers"] if key == wanted]

    def header(self, name: str) -> str:
        """The first value of a header; empty where there is none."""
        return next(iter(self.headers(name)), "")

    async def chunks(self) -> AsyncIterator[bytes]:
        """Give the body as it comes; BadData when the client leaves before its end."""
        more = True
        while more:
            event = await self.receive()
            if event["type"] == "http.disconnect":
                raise BadData("the client left before the end of its request")
            yield event.get("body", b"")
            more = event.get("more_body", False)


@dataclass(frozen=True, slots=True)
class Response:
    """What it gets; names of headers are in lower case."""

    body: bytes
    media_type: str
    status: int = HTTPStatus.OK
    headers: Mapping[str, str] = field(default_factory=dict)

    async def send(self, send: Send) -> None:
        """All at once."""
        told = {"content-type": self.media_type, "content-length": str(len(self.body)), **self.headers}
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in told.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


@dataclass(frozen=True, slots=True)
class Route:
    """What answers to a path, and to which methods."""

    answer: Callable[[Request], Awaitable[Response]]
    methods: tuple[str, ...] = READING


@dataclass(frozen=True, slots=True)
class Application:
    """Paths, and what answers where something is refused or fails; the latter is raised as well, to be logged."""

    routes: Mapping[str, Route]
    refuse: Callable[[Request, Exception], Response]

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI has it."""
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except Exception as error:
            refusal = self.refuse(request, error)
            await replace(refusal, headers={**refusal.headers, "connection": "close"}).send(send)
            raise  # which closes it
        await response.send(send)

    async def _answer(self, request: Request) -> Response:
        try:
            return await self._route(request).answer(request)
        except WeaklinkError as error:
            return self.refuse(request, error)

    def _route(self, request: Request) -> Route:
        asked = f"{request.method} {request.path}"
        route = self.routes.get(request.path)
        if route is None:
            raise NoSuchPath(f"{asked}: {HTTPStatus.NOT_FOUND.phrase}")
        if request.method not in route.methods:
            raise WrongMethod(f"{asked}: {HTTPStatus.METHOD_NOT_ALLOWED.phrase}", route.methods)
        return route
