"""Reading OTLP files in every form."""

import gzip
import io
import json
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

import pytest
import zstandard
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from weaklink_processor.errors import UsageError
from weaklink_processor.queue import framing
from weaklink_processor.receive.files import read_requests
from weaklink_processor.receive.limits import Limits


def request(name: str) -> ExportTraceServiceRequest:
    span = Span(trace_id=b"t" * 16, span_id=b"s" * 8, name=name)
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[ScopeSpans(spans=[span])])])


REQUESTS = [request("first"), request("second " * 50), request("é")]
PAYLOADS = [each.SerializeToString() for each in REQUESTS]


def as_json(message: ExportTraceServiceRequest, indent: int | None = None) -> bytes:
    written = MessageToDict(message)
    for resource in written["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                span["traceId"], span["spanId"] = (b"t" * 16).hex(), (b"s" * 8).hex()
    return json.dumps(written, indent=indent).encode()


LINES = b"".join(as_json(each) + b"\n" for each in REQUESTS)


def as_the_collector(messages: Iterable[bytes]) -> bytes:
    """Of its file exporter: exportMessageAsBuffer in file_writer.go."""
    return b"".join(len(message).to_bytes(4, "big") + message for message in messages)


FORMS = {
    "JSON lines": (LINES, PAYLOADS),
    "JSON lines with blank ones": (b"\n\r\n" + LINES.replace(b"\n", b"\r\n\n  \n"), PAYLOADS),
    "no newline at the end": (LINES[:-1], PAYLOADS),
    "one object": (as_json(REQUESTS[0]), PAYLOADS[:1]),
    "one object over many lines": (as_json(REQUESTS[0], indent=2), PAYLOADS[:1]),
    "behind blank lines": (b"\n" * 600 + as_json(REQUESTS[0], indent=1), PAYLOADS[:1]),
    "no span in it": (b"{}\n", [b""]),
    "protobuf": (framing.join(PAYLOADS), PAYLOADS),
    "empty messages": (framing.join([b"", PAYLOADS[0], b""]), [b"", PAYLOADS[0], b""]),
    "the Collector's protobuf": (as_the_collector(PAYLOADS), PAYLOADS),
    "the Collector's protobuf, compressed": (as_the_collector(map(zstandard.compress, PAYLOADS)), PAYLOADS),
    "the Collector's JSON, compressed": (as_the_collector(map(zstandard.compress, map(as_json, REQUESTS))), PAYLOADS),
    "nothing": (b"", []),
}
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "gzip in two members": lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:]),
    "zstd": zstandard.ZstdCompressor().compress,
    "zstd in two frames": lambda data: zstandard.compress(data[:100]) + zstandard.compress(data[100:]),
}


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS.keys())
@pytest.mark.parametrize(("content", "payloads"), FORMS.values(), ids=FORMS.keys())
def test_every_form(tmp_path: Path, content: bytes, payloads: list[bytes], compress: Callable[[bytes], bytes]) -> None:
    """Whatever the form, the compression and the file's name, the requests come out as protobuf and in order."""
    file = tmp_path / "misleading.png"
    file.write_bytes(compress(content))
    assert list(read_requests(file)) == payloads
    assert list(read_requests(str(file))) == payloads


class Pipe(io.RawIOBase):
    """A stream that gives one byte at a time and cannot seek."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def read(self, _size: int = -1, /) -> bytes:
        return self._data.read(1)


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS.keys())
@pytest.mark.parametrize(("content", "payloads"), FORMS.values(), ids=FORMS.keys())
def test_from_a_pipe(content: bytes, payloads: list[bytes], compress: Callable[[bytes], bytes]) -> None:
    """A stream may give its bytes in whatever pieces, and is left open."""
    pipe = Pipe(compress(content))
    assert list(read_requests(pipe)) == payloads  # type: ignore[arg-type]  # a raw stream does as well
    assert not pipe.closed


@pytest.mark.parametrize("source", ["-", Path("-")])
def test_from_stdin(source: str | Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dash is standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LINES)))
    assert list(read_requests(source)) == PAYLOADS


@pytest.mark.parametrize("length", range(121, 126))
@pytest.mark.parametrize("second", [b"", b'"'], ids=["one resource", "two resources"])
def test_a_first_length_that_looks_like_json(length: int, second: bytes) -> None:
    """Length-delimited protobuf is told from JSON also where it begins with a brace, a line feed and a quote."""
    message = ExportTraceServiceRequest()
    for size in second:
        message.resource_spans.add(schema_url="x" * (size - 2))
    left = length - len(message.SerializeToString())
    message.resource_spans.add(schema_url="x" * (left - 4))
    payloads = [message.SerializeToString(), PAYLOADS[0]]
    content = framing.join(payloads)
    assert content.startswith(bytes([length]) + b"\n" + second)
    assert list(read_requests(io.BytesIO(content))) == payloads


GARBLED = LINES.splitlines(keepends=True)
BINARY = framing.join(PAYLOADS)
SECOND = len(framing.join(PAYLOADS[:1]))
FAULTS = {
    "text": (b"hello there", "stream: neither OTLP JSON nor protobuf: it is text that begins with 'hello there'"),
    "a longer text": (b"\n" + b"2026 started \xc3\xa9\r\n" * 99, "it is text that begins with '2026 started \u00e9'"),
    "JSON behind a mark of its encoding": (b"\xef\xbb\xbf{}", "it is text that begins with '\\ufeff{}'"),
    "the Collector's, cut short": (as_the_collector(PAYLOADS)[:-1], "cut short: 37 bytes of a message of 38"),
    "a length of the Collector's, cut short": (as_the_collector(PAYLOADS) + b"\x00", "cut short: 0 bytes of a message"),
    "the Collector's, damaged": (as_the_collector([zstandard.compress(PAYLOADS[0])[:-2]]), "stream: byte 0: damaged: "),
    "the Collector's, no protobuf": (
        as_the_collector([PAYLOADS[0], b"\xff"]),
        f"byte {SECOND + 3}: not an ExportTraceServiceRequest",
    ),
    "the Collector's, too large": (as_the_collector([PAYLOADS[0]]) + b"\x7f" * 4, "and 67108864 is the limit"),
    "an array": (b"[{}]", "stream:1: request: expected an object, got [{}]"),
    "a bad second line": (
        GARBLED[0] + b'{"resourceSpans": oops}\n',
        "stream:2: not JSON: Expecting value at column 19",
    ),
    "a bad first line": (b'{"resourceSpans": oops}\n' + GARBLED[0], "stream:1: not JSON: Expecting value at column 19"),
    "a blank line counts": (b"\n" + GARBLED[0] + b"\n\nx", "stream:5: not JSON: Expecting value at column 1"),
    "a bad value": (b'\n{"resourceSpans": 1}', "stream:2: resourceSpans: expected an array, got 1"),
    "a fault on line 3 of an object": (b'{\n"resourceSpans":\n[}\n', "stream:3: not JSON: Expecting value at column 2"),
    "two objects over many lines": (b"{\n}\n{\n}\n", "stream:3: not JSON: Extra data at column 1"),
    "a last line that is cut short": (LINES[:-9], "stream:3: not JSON: "),
    "an object that is cut short": (as_json(REQUESTS[0], indent=1)[:-9], "stream:"),
    "not UTF-8": (b'{"resourceSpans": "\xff"}', "stream:1: not JSON: 'utf-8' codec can't decode"),
    "deep": (b'{"a":' * 100_000, "stream:1: nested too deep"),
    "a last message that is cut short": (BINARY[:-1], "stream: byte 434: cut short: 37 bytes of a message of 38"),
    "a length that is cut short": (BINARY + b"\x80", f"stream: byte {len(BINARY)}: neither OTLP JSON nor the length"),
    "a length without an end": (b"\xff" * 20, "stream: byte 0: neither OTLP JSON nor the length of a protobuf message"),
    "no protobuf": (framing.join([PAYLOADS[0], b"\xff"]), f"stream: byte {SECOND}: not an ExportTraceServiceRequest"),
    "too large": (b"\x81\x80\x80\x20" + b"x", "stream: byte 0: a message of 67108865 bytes, and 67108864 is the limit"),
}


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS.keys())
@pytest.mark.parametrize(("content", "complaint"), FAULTS.values(), ids=FAULTS.keys())
def test_faults(content: bytes, complaint: str, compress: Callable[[bytes], bytes]) -> None:
    """What is no OTLP is a UsageError that names file and line, or file and offset in the decompressed bytes."""
    with pytest.raises(UsageError) as caught:
        list(read_requests(io.BytesIO(compress(content))))
    assert complaint in str(caught.value)


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("content", [LINES, framing.join(PAYLOADS)])
def test_damage_and_truncation(content: bytes, compress: Callable[[bytes], bytes]) -> None:
    """Wherever compressed data is cut, and whatever is behind it, that is told and not taken for the end."""
    whole = compress(content)
    for cut in (5, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        with pytest.raises(UsageError, match=r"^stream: damaged: "):
            list(read_requests(io.BytesIO(whole[:cut])))
    with pytest.raises(UsageError, match=r"^stream: damaged: "):
        list(read_requests(io.BytesIO(whole + b"\x00junk")))


def test_faults_name_the_file(tmp_path: Path) -> None:
    """A file that is missing, a folder, or faulty is named."""
    with pytest.raises(UsageError, match=r"missing\.json: No such file or directory"):
        list(read_requests(tmp_path / "missing.json"))
    with pytest.raises(UsageError, match=f"{tmp_path.name}: Is a directory"):
        list(read_requests(tmp_path))
    file = tmp_path / "faulty.jsonl"
    file.write_bytes(b"{}\n{]\n")
    with pytest.raises(UsageError, match=r"faulty\.jsonl:2: not JSON"):
        list(read_requests(file))


def test_what_stands_before_a_fault_is_given() -> None:
    """Reading is incremental: requests before the faulty one come out first."""
    reading = read_requests(io.BytesIO(LINES + b"x"))
    assert [next(reading) for _ in PAYLOADS] == PAYLOADS
    with pytest.raises(UsageError, match="stream:4"):
        next(reading)


def test_only_json_that_goes_on_is_read_on() -> None:
    """A faulty first line is told as such, and not mistaken for the beginning of an object as large as the file."""
    with pytest.raises(UsageError, match="stream:1: not JSON"):
        list(read_requests(io.BytesIO(b'{"resourceSpans": oops}\n' + LINES), Limits(max_recv_bytes=100)))


@pytest.mark.parametrize("separator", [b"", b"\n"])
def test_a_line_over_the_limit(separator: bytes) -> None:
    """A request over the limit is refused, on one line or on many."""
    content = separator.join([b"{", b'"resourceSpans": []', b" " * 1000, b"}"])
    assert list(read_requests(io.BytesIO(content), Limits(max_recv_bytes=len(content)))) == [b""]
    with pytest.raises(UsageError, match=f"stream:1: more than {len(content) - 1} bytes"):
        list(read_requests(io.BytesIO(content), Limits(max_recv_bytes=len(content) - 1)))


MANY = [request(Random(seed).randbytes(500).hex()) for seed in range(4000)]


@pytest.mark.parametrize("compress", COMPRESSIONS.values(), ids=COMPRESSIONS.keys())
@pytest.mark.parametrize(
    "content", [framing.join(each.SerializeToString() for each in MANY), b"\n".join(map(as_json, MANY))]
)
def test_memory_is_bounded(tmp_path: Path, content: bytes, compress: Callable[[bytes], bytes]) -> None:
    """Reading a large file takes no more memory than a small part of it."""
    file = tmp_path / "large"
    file.write_bytes(compress(content))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_requests(file))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == len(MANY)
    assert peak < len(content) / 8
