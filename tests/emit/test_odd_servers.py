"""The exporter against HTTP servers that answer as few do: nothing is lost, sent for ever or waited for without end."""

import time
from dataclasses import replace
from typing import Final

import pytest

from raw_server import Piece, RawServer
from turns import TIMED
from weaklink_processor.emit import http_client
from weaklink_processor.emit.exporter import OtlpExporter
from weaklink_processor.emit.retry import Backoff
from weaklink_processor.emit.settings import ExportSettings

QUICK: Final = ExportSettings(protocol="http/protobuf", backoff=Backoff(initial_seconds=0.02, max_seconds=0.1))
REQUEST: Final = b"\n\x02\x1a\x00"


def answer(code: int, *lines: str, body: bytes = b"") -> bytes:
    """One with a body."""
    return "\r\n".join((f"HTTP/1.1 {code} X", *lines, f"content-length: {len(body)}", "", "")).encode() + body


def interim(code: int) -> bytes:
    """One before the answer."""
    return f"HTTP/1.1 {code} X\r\nlink: </style.css>\r\n\r\n".encode()


OK: Final = answer(200)
BEFORE: dict[str, list[Piece]] = {
    "at once": [interim(103)],
    "a while": [interim(102), 0.05],
    "several": [interim(102), 0.05, interim(100), interim(103), interim(199)],
}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_an_interim_answer_is_none(before: list[Piece]) -> None:
    """What comes before the answer says nothing of the request (RFC 9110, 15.2), and is nobody else's answer."""
    with RawServer([*before, answer(503)], [*before, OK], [*before, answer(400)]) as server:
        exporter = OtlpExporter(server.endpoint, QUICK)
        assert exporter.export(REQUEST)
        assert exporter.export(REQUEST) is None
        exporter.close()
    assert len(server.requests) == 3


def test_another_protocol_is_no_success() -> None:
    """A server that goes over to another protocol, which nobody asked for, has not taken the request."""
    with RawServer([interim(101)]) as server:
        exporter = OtlpExporter(server.endpoint, QUICK)
        assert exporter.export(REQUEST) is None
        exporter.close()


@pytest.mark.parametrize(
    "delay", ["9" * 5000, "Wed, 21 Oct 99999 07:28:00 GMT", "Wed, 21 Oct 99999999999 07:28:00 GMT"]
)
def test_a_delay_that_cannot_be_reckoned(delay: str) -> None:
    """It counts as none, and the request is tried again."""
    with RawServer([answer(503, f"retry-after: {delay}")], [OK]) as server:
        exporter = OtlpExporter(server.endpoint, QUICK)
        assert exporter.export(REQUEST)
        exporter.close()
    assert len(server.requests) == 2


DAMAGED: dict[str, tuple[tuple[str, ...], list[Piece]]] = {
    "cut short": (("content-length: 100",), [b"half", 0.05]),
    "no gzip": (("content-encoding: gzip", "content-length: 4"), [b"nope"]),
    "no chunks": (("transfer-encoding: chunked",), [b"zz\r\n"]),
    "stalled": (("content-length: 100",), [b"half", 5.0]),
}


@pytest.mark.parametrize(("lines", "content"), DAMAGED.values(), ids=DAMAGED)
def test_the_code_is_the_answer(lines: tuple[str, ...], content: list[Piece]) -> None:
    """What was taken or refused is sent no more, and what is to come back is, whatever becomes of the content."""

    def damaged(code: int) -> list[Piece]:
        return ["\r\n".join((f"HTTP/1.1 {code} X", *lines, "connection: close", "", "")).encode(), *content]

    settings = replace(QUICK, timeout_seconds=0.3)
    with RawServer(damaged(200)) as taking, RawServer(damaged(400)) as refusing, RawServer(damaged(503), [OK]) as busy:
        exporters = [OtlpExporter(server.endpoint, settings) for server in (taking, refusing, busy)]
        assert [exporter.export(REQUEST) is not None for exporter in exporters] == [True, False, True]
        for exporter in exporters:
            exporter.close()
    assert [len(server.requests) for server in (taking, refusing, busy)] == [1, 1, 2]


def test_whom_phoenix_does_not_know_must_be_read() -> None:
    """Half of its answer does not say which annotations are unknown: they are sent again, and not dropped."""
    cut: list[Piece] = [b"HTTP/1.1 404 Not Found\r\ncontent-length: 100\r\nconnection: close\r\n\r\nSpans with", 0.05]
    with RawServer(cut, [OK]) as server:
        exporter = OtlpExporter(server.endpoint, replace(QUICK, protocol="phoenix", timeout_seconds=0.3))
        assert exporter.export(b'{"data": [{"span_id": "0123456789abcdef"}]}')
        exporter.close()
    assert len(server.requests) == 2


def test_what_phoenix_refuses_need_not_be_read() -> None:
    """A refusal for good is one, whatever becomes of its content."""
    cut: list[Piece] = [b"HTTP/1.1 422 X\r\ncontent-length: 100\r\nconnection: close\r\n\r\nbad", 0.05]
    with RawServer(cut, [OK]) as server:
        exporter = OtlpExporter(server.endpoint, replace(QUICK, protocol="phoenix", timeout_seconds=0.3))
        assert exporter.export(b'{"data": [{"span_id": "0123456789abcdef"}]}') is None
        exporter.close()
    assert len(server.requests) == 1


def drops(piece: bytes) -> list[Piece]:
    """Ten a second, for five seconds."""
    return [piece, 0.1] * 50


DRIPS: dict[str, list[Piece]] = {
    "the head": [b"HTTP/1.1 200 ", *drops(b"O")],
    "interim answers": drops(interim(102)),
    "the content": [b"HTTP/1.1 503 X\r\ncontent-length: 100\r\n\r\n", *drops(b"x")],
}


@TIMED
@pytest.mark.parametrize("drip", DRIPS.values(), ids=DRIPS)
def test_a_slow_answer_ends_with_the_timeout(drip: list[Piece]) -> None:
    """The timeout bounds an attempt as a whole, not each piece of its answer."""
    with RawServer(drip, [OK]) as server:
        exporter = OtlpExporter(server.endpoint, replace(QUICK, timeout_seconds=0.4))
        begun = time.monotonic()
        assert exporter.export(REQUEST)
        exporter.close()
    assert 0.4 <= time.monotonic() - begun < 2.0
    assert len(server.requests) == 2


def test_a_large_request_has_all_of_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time for connecting is no bound to sending, on a connection that is new and on one that is not."""
    monkeypatch.setattr(http_client, "_CONNECT_SECONDS", 0.2)
    request = bytes(16 << 20)  # more than lies between sender and reader
    with RawServer([OK], pace=0.6) as server:
        exporter = OtlpExporter(server.endpoint, QUICK)
        assert [exporter.export(each) is not None for each in (request, request)] == [True, True]
        exporter.close()
    assert exporter.stats().retried == 0


@TIMED
def test_a_server_that_does_not_read() -> None:
    """The timeout bounds sending too."""
    settings = replace(QUICK, timeout_seconds=0.4, backoff=Backoff(max_elapsed_seconds=0.1))
    with RawServer([OK], pace=5.0) as server:
        exporter = OtlpExporter(server.endpoint, settings)
        begun = time.monotonic()
        assert exporter.export(bytes(16 << 20)) is None
        exporter.close()
    assert 0.4 <= time.monotonic() - begun < 2.0
