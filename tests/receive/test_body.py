"""Reading an HTTP body within bounds."""

import gzip
import tracemalloc
from collections.abc import Sequence

import pytest

from weaklink_processor.errors import BadData, Overloaded, TooLarge
from weaklink_processor.receive.asgi import Message, Request
from weaklink_processor.receive.body import read_body
from weaklink_processor.receive.room import SMALL_BYTES, Room

pytestmark = pytest.mark.anyio


def request(chunks: Sequence[bytes], encoding: str = "gzip", *, leaves: bool = False) -> Request:
    """A request whose body comes in these chunks, and whose client may leave before the last."""
    messages: list[Message] = [{"type": "http.request", "body": chunk, "more_body": True} for chunk in chunks]
    messages.append({"type": "http.disconnect"} if leaves else {"type": "http.request", "more_body": False})
    pending = iter(messages)

    async def receive() -> Message:
        return next(pending)

    headers = [(b"content-encoding", encoding.encode())] if encoding else []
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


CONTENT = b"0123456789" * 100


@pytest.mark.parametrize("size", [1, 7, 1000, 5000])
@pytest.mark.parametrize("encoding", ["", "identity", "gzip", "GZIP"])
async def test_split_anywhere(size: int, encoding: str) -> None:
    """However a body is cut into chunks, it is read whole."""
    sent = gzip.compress(CONTENT) if encoding.lower() == "gzip" else CONTENT
    chunks = [sent[start : start + size] for start in range(0, len(sent), size)]
    assert await read_body(request(chunks, encoding), 1000) == CONTENT


@pytest.mark.parametrize("size", [1, 7, 1000, 5000])
async def test_gzip_of_several_members(size: int) -> None:
    """Members of gzip behind each other are one body, however it is cut, and count together."""
    sent = b"".join(gzip.compress(part) for part in (CONTENT[:300], b"", CONTENT[300:]))
    chunks = [sent[start : start + size] for start in range(0, len(sent), size)]
    assert await read_body(request(chunks), 1000) == CONTENT
    with pytest.raises(TooLarge, match="more than 999 bytes"):
        await read_body(request(chunks), 999)


async def test_members_of_gzip_are_limited() -> None:
    """Each member takes time to begin with, so that very many empty ones are BadData."""
    empty = gzip.compress(b"")
    assert await read_body(request([empty * 1000] * 10), 1 << 20) == b""
    with pytest.raises(BadData, match="more than 10000 members"):
        await read_body(request([empty * 1000] * 10 + [empty]), 1 << 20)


@pytest.mark.parametrize("encoding", ["", "gzip"])
async def test_one_byte_too_many(encoding: str) -> None:
    """A body at the limit is read, and one byte more is TooLarge."""
    encode = gzip.compress if encoding else bytes
    assert len(await read_body(request([encode(CONTENT)], encoding), 1000)) == 1000
    with pytest.raises(TooLarge, match="more than 1000 bytes"):
        await read_body(request([encode(CONTENT + b"x")], encoding), 1000)


async def test_too_much_gzip_that_says_nothing() -> None:
    """What is sent counts by itself: a body that is small only after decompression is TooLarge too."""
    padded = gzip.compress(CONTENT[:900], 0)
    with pytest.raises(TooLarge):
        await read_body(request([padded[:500], padded[500:]]), len(padded) - 1)


async def test_a_bomb_takes_no_memory() -> None:
    """Of 100 MiB that one chunk becomes, not much more than the limit is ever in memory."""
    bomb = gzip.compress(bytes(100 << 20), 1)
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            await read_body(request([bomb]), 1 << 20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20


async def test_a_client_that_leaves() -> None:
    """A client that goes before the end of its body is BadData."""
    with pytest.raises(BadData, match="the client left"):
        await read_body(request([b"{"], "", leaves=True), 1000)


async def test_there_is_room_for_so_much_at_once() -> None:
    """Large requests share some room: what does not fit in is to come back later, and room is given back."""
    room = Room(1000)
    with room.claim() as grow, room.claim() as grow_too:
        assert await read_body(request([CONTENT], ""), 1000, grow) == CONTENT
        grow(SMALL_BYTES + 600)
        grow_too(SMALL_BYTES)
        with pytest.raises(Overloaded):
            grow_too(SMALL_BYTES + 401)
        grow_too(SMALL_BYTES + 400)
        with pytest.raises(Overloaded):
            grow(SMALL_BYTES + 601)
    with room.claim() as grow:
        grow(SMALL_BYTES + 1000)
