"""HTTP/1.1 as odd clients write it, byte by byte: what is acknowledged is taken, whole and once."""

import re
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest
from google.protobuf.json_format import Parse
from google.rpc.code_pb2 import INVALID_ARGUMENT
from google.rpc.status_pb2 import Status

from receive.harness import ANY_PORTS, GOOD, JSON, PROTOBUF, Receiver, running
from weaklink_processor.receive.http_connection import Patience

UPGRADE = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAAB")
SIZE = f"Content-Length: {len(GOOD)}"


def head(*lines: str, method: str = "POST") -> bytes:
    """That of an export."""
    first = (f"{method} /v1/traces HTTP/1.1", "Host: here", f"Content-Type: {PROTOBUF}")
    return "\r\n".join((*first, *lines, "", "")).encode()


def chunked(body: bytes) -> bytes:
    """A body in two chunks."""
    parts = (body[:7], body[7:], b"")
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


@contextmanager
def connected(receiver: Receiver) -> Iterator[socket.socket]:
    """A connection to it."""
    with socket.create_connection((receiver.bound.http.host, receiver.bound.http.port), timeout=10) as connection:
        yield connection


def statuses(connection: socket.socket, count: int) -> list[int]:
    """Of so many answers."""
    received = b""
    while len(found := re.findall(rb"^HTTP/1.1 (\d+)", received, re.MULTILINE)) < count:
        more = connection.recv(1 << 16)
        assert more, received
        received += more
    return [int(each) for each in found]


@pytest.fixture(scope="module")
def shared() -> Iterator[Receiver]:
    with running() as one:
        yield one


@pytest.fixture
def receiver(shared: Receiver) -> Receiver:
    shared.stored.clear()
    return shared


WHOLE = head(*UPGRADE, SIZE) + GOOD
AS_IT_COMES = {
    "at once": [WHOLE],
    "the body later": [head(*UPGRADE, SIZE), GOOD],
    "cut anywhere": [WHOLE[start : start + 11] for start in range(0, len(WHOLE), 11)],
    "chunked": [head(*UPGRADE, "Transfer-Encoding: chunked") + chunked(GOOD)],
    "a websocket": [head("Upgrade: websocket", "Connection: upgrade", SIZE) + GOOD],
    "several": [head(*UPGRADE, "Upgrade: TLS/1.0", SIZE), GOOD],
}


@pytest.mark.parametrize("pieces", AS_IT_COMES.values(), ids=AS_IT_COMES)
def test_an_upgrade_is_not_heeded(receiver: Receiver, pieces: Sequence[bytes]) -> None:
    """A request that offers to speak something else is taken as any other, as is what follows on its connection."""
    with connected(receiver) as connection:
        for piece in (*pieces, head(SIZE) + GOOD):
            connection.sendall(piece)
            time.sleep(0.002)  # a segment of its own
        assert statuses(connection, 2) == [200, 200]
    assert receiver.stored == [GOOD, GOOD]


@pytest.mark.parametrize("wait", [0, 0.05])
def test_an_upgrade_on_a_connection_that_is_to_be_closed(receiver: Receiver, wait: float) -> None:
    """It is taken, and the connection closed behind its answer."""
    with connected(receiver) as connection:
        connection.sendall(head("Connection: close, Upgrade", "Upgrade: h2c", SIZE))
        time.sleep(wait)
        connection.sendall(GOOD)
        assert statuses(connection, 1) == [200]
        assert connection.recv(1) == b""
    assert receiver.stored == [GOOD]


def test_an_upgrade_without_its_body_is_not_acknowledged(receiver: Receiver) -> None:
    """Nothing is said before the body that was announced is there."""
    with connected(receiver) as connection:
        connection.sendall(head(*UPGRADE, SIZE) + GOOD[:-1])
        connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            connection.recv(1)
    assert receiver.stored == []


def test_many_upgrades_ahead(receiver: Receiver) -> None:
    """Requests sent ahead of their answers may each offer an upgrade."""
    with connected(receiver) as connection:
        connection.sendall(WHOLE * 5)
        assert statuses(connection, 5) == [200] * 5
    assert receiver.stored == [GOOD] * 5


def test_what_is_no_http_for_a_tunnel(receiver: Receiver) -> None:
    """CONNECT is refused, with an upgrade or without, and takes nothing else with it."""
    with connected(receiver) as connection:
        connection.sendall(head(*UPGRADE, SIZE, method="CONNECT") + GOOD)
        assert statuses(connection, 1)[0] in {400, 404, 405}
    assert receiver.stored == []
    assert receiver.post(GOOD).status == 200


def test_a_length_of_thousands_of_digits(receiver: Receiver) -> None:
    """It is refused as bad data, and is no failure of ours."""
    with connected(receiver) as connection:
        connection.sendall(head(f"Content-Length: {len(GOOD):05000}") + GOOD)
        assert statuses(connection, 1) == [400]
    assert receiver.stored == []


def test_a_client_that_has_said_all_it_wants_to(receiver: Receiver) -> None:
    """One that closes its half of the connection behind its requests gets all answers, and then the end of it."""
    with connected(receiver) as connection:
        receiver.gate.clear()
        connection.sendall((head(SIZE) + GOOD) * 3)
        connection.shutdown(socket.SHUT_WR)
        time.sleep(0.2)  # until it has been seen
        receiver.gate.set()
        assert statuses(connection, 3) == [200] * 3
        assert connection.recv(1) == b""
    assert receiver.stored == [GOOD] * 3


def test_a_client_that_leaves_amid_a_request(receiver: Receiver) -> None:
    """What it has not sent is not waited for."""
    with connected(receiver) as connection:
        connection.sendall(head(SIZE) + GOOD[:-1])
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    assert receiver.stored == []


def test_half_a_request_at_a_stop() -> None:
    """Its client is told to come back: it has been given up, and not failed."""
    with ExitStack() as later:
        with running(replace(ANY_PORTS, grace_seconds=1)) as receiver:
            connection = later.enter_context(connected(receiver))
            connection.sendall(head(SIZE) + GOOD[:-1])
            time.sleep(0.3)  # until it is being read
        assert statuses(connection, 1) == [503]
        assert receiver.stored == []


NOT_YET_READ = {
    "a type that is none": (415, [head(SIZE).replace(PROTOBUF.encode(), b"text/plain"), GOOD]),
    "a body in pieces": (404, [head(SIZE).replace(b"traces", b"logs"), GOOD[:5], GOOD[5:]]),
    "nothing but an empty line": (200, [head(SIZE) + GOOD, b"\r\n"]),
}


@pytest.mark.parametrize(("status", "pieces"), NOT_YET_READ.values(), ids=NOT_YET_READ)
def test_what_comes_behind_an_answer_keeps_no_connection_open(status: int, pieces: Sequence[bytes]) -> None:
    """One whose request was answered before its end is idle after that, and closed in its time."""
    with running(replace(ANY_PORTS, http_patience=Patience(idle_timeout=0.5))) as receiver, connected(receiver) as line:
        for piece in pieces:
            line.sendall(piece)
            time.sleep(0.1)  # until it is answered
        assert statuses(line, 1) == [status]
        line.settimeout(3)
        assert line.recv(1) == b""


NO_HTTP = {
    "two lengths": (head(SIZE, SIZE) + GOOD, "Duplicate Content-Length"),
    "a length and chunks": (head(SIZE, "Transfer-Encoding: chunked") + chunked(GOOD), "Transfer-Encoding can't be"),
    "a folded header": (head("X-Tenant: a,", " b", SIZE) + GOOD, "whitespace after header value"),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "gRPC has a port of its own"),
    "TLS": (b"\x16\x03\x01\x02\x00\x01", "Invalid method"),
    "too many": ((head(SIZE) + GOOD) * 40, "too many requests ahead"),
}


def last_answer(connection: socket.socket) -> tuple[bytes, bytes]:
    """Head and content of what comes before the connection is closed."""
    received = b""
    while more := connection.recv(1 << 16):
        received += more
    first, _, content = received[received.rindex(b"HTTP/1.1 ") :].partition(b"\r\n\r\n")
    return first, content


@pytest.mark.parametrize(("sent", "why"), NO_HTTP.values(), ids=NO_HTTP)
def test_what_is_no_http_is_told_why(receiver: Receiver, sent: bytes, why: str) -> None:
    """It is refused as OTLP has it, by a google.rpc.Status, and the connection is closed."""
    with connected(receiver) as connection:
        connection.sendall(sent)
        first, content = last_answer(connection)
    assert first.startswith(b"HTTP/1.1 400 ")
    assert {b"connection: close", f"content-type: {JSON}".encode()} < set(first.split(b"\r\n"))
    status = Parse(content, Status())
    assert status.code == INVALID_ARGUMENT
    assert why in status.message


def test_the_connection_of_a_failure_is_told_to_close(receiver: Receiver) -> None:
    """A client that heeds it sends nothing more on a connection that is being closed."""
    receiver.failure = ZeroDivisionError("a bug")
    try:
        assert receiver.post(GOOD).headers["connection"] == "close"
    finally:
        receiver.failure = None
