"""The exporter against HTTP servers that answer as few do: nothing is lost, sent for ever or waited for without end."""

from typing import Final

import pytest

from raw_server import Piece, RawServer
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
