"""What answers a request, where a real server does not show it on demand."""

import pytest

from weaklink_processor.errors import BadData
from weaklink_processor.receive.asgi import Application, Message, Request, Response, Route

pytestmark = pytest.mark.anyio


async def test_a_refusal_that_fails_is_answered() -> None:
    """An error while a refusal is put into words is refused in its turn, and raised for the log."""

    async def answer(_request: Request) -> Response:
        raise BadData("this cannot be written")

    def refuse(_request: Request, error: Exception) -> Response:
        if isinstance(error, BadData):
            raise UnicodeError
        return Response(b"internal error", "text/plain", 500)

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    sent: list[Message] = []
    with pytest.raises(UnicodeError):
        await Application({"/": Route(answer)}, refuse)({"method": "GET", "path": "/", "headers": []}, receive, send)
    assert [message.get("status", message.get("body")) for message in sent] == [500, b"internal error"]
