"""What a receiver owes its clients, over real sockets: the stock exporters, and raw clients that behave badly."""

import gzip
import json
import socket
import threading
import zlib
from collections.abc import Callable, Iterator

import grpc
import pytest
from google.rpc import code_pb2
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

from receive.harness import EXPORT, GOOD, JSON, PROTOBUF, Receiver, request, running, span
from weaklink_processor.errors import BadData, BrokenStore, Overloaded, TooLarge

MIB = 1 << 20


def spans_json(*spans: dict[str, str]) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


GOOD_JSON = spans_json({"traceId": (b"t" * 16).hex(), "spanId": (b"s" * 8).hex(), "name": "good"})


@pytest.fixture(scope="module")
def running_receiver() -> Iterator[Receiver]:
    with running() as receiver:
        yield receiver


@pytest.fixture
def receiver(running_receiver: Receiver) -> Iterator[Receiver]:
    """A receiver that after whatever a test did to it still takes a good request on both protocols."""
    running_receiver.stored.clear()
    yield running_receiver
    running_receiver.failure = None
    running_receiver.stored.clear()
    assert running_receiver.post(GOOD).status == 200
    running_receiver.export(GOOD)
    assert running_receiver.stored == [GOOD, GOOD]


def refused(receiver: Receiver, payload: bytes, **options: object) -> tuple[grpc.StatusCode, Status | None]:
    """Export over gRPC; the code, and the google.rpc.Status behind it where the server sent one."""
    with pytest.raises(grpc.RpcError) as caught:
        receiver.export(payload, **options)  # type: ignore[arg-type]
    metadata: dict[str, bytes] = dict(caught.value.trailing_metadata() or ())  # type: ignore[arg-type]
    details = metadata.get("grpc-status-details-bin")
    status = None if details is None else Status.FromString(details)
    assert status is None or status.code == caught.value.code().value[0]
    return caught.value.code(), status


def retry_after(status: Status) -> int | None:
    """Seconds in the status's RetryInfo, None without one."""
    info = RetryInfo()
    return info.retry_delay.seconds if any(detail.Unpack(info) for detail in status.details) else None


EXPORTERS: dict[str, Callable[[Receiver], SpanExporter]] = {
    "grpc": lambda receiver: GrpcExporter(f"http://{receiver.bound.grpc}", insecure=True),
    "grpc, gzip": lambda receiver: GrpcExporter(
        f"http://{receiver.bound.grpc}", insecure=True, compression=grpc.Compression.Gzip
    ),
    "http": lambda receiver: HttpExporter(f"http://{receiver.bound.http}/v1/traces"),
    "http, gzip": lambda receiver: HttpExporter(
        f"http://{receiver.bound.http}/v1/traces", compression=Compression.Gzip
    ),
}


@pytest.mark.parametrize("exporter", EXPORTERS.values(), ids=EXPORTERS.keys())
def test_the_stock_exporters(receiver: Receiver, exporter: Callable[[Receiver], SpanExporter]) -> None:
    """What the OpenTelemetry SDK exports arrives, over each protocol, compressed or not."""
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter(receiver)))
    tracer = provider.get_tracer("test")
    with (
        tracer.start_as_current_span("outer", attributes={"memledger.memory.id": "m1"}),
        tracer.start_as_current_span("inner"),
    ):
        pass
    provider.shutdown()
    assert receiver.names() == ["inner", "outer"]


@pytest.mark.parametrize("media_type", [PROTOBUF, JSON, "Application/JSON; charset=utf-8"])
@pytest.mark.parametrize("encode", [bytes, gzip.compress])
def test_success(receiver: Receiver, media_type: str, encode: Callable[[bytes], bytes]) -> None:
    """A good request is answered in its own type, with partial_success unset, after it was appended."""
    body = GOOD if media_type == PROTOBUF else GOOD_JSON
    headers = {} if encode is bytes else {"content_encoding": "gzip"}
    answer = receiver.post(encode(body), media_type, **headers)
    assert (answer.status, answer.body) == (200, b"" if media_type == PROTOBUF else b"{}")
    assert answer.media_type == (PROTOBUF if media_type == PROTOBUF else JSON)
    assert receiver.stored == [GOOD]


@pytest.mark.parametrize(("media_type", "body"), [(PROTOBUF, b""), (JSON, b""), (JSON, b"{}"), (PROTOBUF, b"\x0a\x00")])
def test_an_empty_request_is_success(receiver: Receiver, media_type: str, body: bytes) -> None:
    """A request without spans succeeds on both protocols, and nothing is queued."""
    answer = receiver.post(body, media_type)
    assert (answer.status, answer.media_type, answer.response.HasField("partial_success")) == (200, media_type, False)
    assert not receiver.export(body if media_type == PROTOBUF else b"").HasField("partial_success")
    assert receiver.stored == []


MIXED = request(span("kept"), span("zero", trace_id=bytes(16)), span("short", span_id=b"1234567"))


def test_bad_ids_are_a_partial_success(receiver: Receiver) -> None:
    """Spans with ids that are zero or of a wrong length are rejected and counted, and the rest is kept."""
    mixed_json = spans_json(
        {"name": "kept", "traceId": "7" * 32, "spanId": "7" * 16},
        {"name": "zero", "traceId": "0" * 32, "spanId": "7" * 16},
        {"name": "short", "traceId": "7" * 32, "spanId": "7" * 14},
    )
    answers = [receiver.export(MIXED), receiver.post(MIXED).response, receiver.post(mixed_json, JSON).response]
    for answer in answers:
        assert answer.partial_success.rejected_spans == 2
        assert "1 with trace_id all zero" in answer.partial_success.error_message
    assert receiver.names() == ["kept"] * 3


def test_a_large_request(receiver: Receiver) -> None:
    """A request of many spans is judged like a small one: all of it, span by span."""
    body = request(*(span(f"{number}") for number in range(40_000)), span("bad", trace_id=bytes(16)))
    assert len(body) > MIB
    for response in (receiver.post(body).response, receiver.export(body)):
        assert response.partial_success.rejected_spans == 1
    assert receiver.names() == [f"{number}" for number in range(40_000)] * 2


def test_nothing_but_bad_ids(receiver: Receiver) -> None:
    """When every span is rejected the request still succeeds in part, and nothing is queued."""
    body = request(span(trace_id=bytes(16)))
    assert receiver.post(body).response.partial_success.rejected_spans == 1
    assert receiver.export(body).partial_success.rejected_spans == 1
    assert receiver.stored == []


def deep_protobuf() -> bytes:
    value = b""
    for _ in range(5000):
        for tag in (b"\x0a", b"\x2a"):
            value = tag + _varint(len(value)) + value
    for tag in (b"\x12", b"\x4a", b"\x12", b"\x12", b"\x0a"):
        value = tag + _varint(len(value)) + value
    return value


def _varint(number: int) -> bytes:
    head = b""
    while number > 0x7F:
        head += bytes([number & 0x7F | 0x80])
        number >>= 7
    return head + bytes([number])


BAD_PROTOBUF = {
    "no protobuf": b"hello",
    "cut short": GOOD[:-1],
    "deep arrays": deep_protobuf(),
    "deep groups": b"\x9b\x06" * 1_000_000,
}
BAD_JSON = {
    "no json": b"hello",
    "cut short": b'{"resourceSpans": [',
    "no utf-8": b'{"\xff": 1}',
    "a wrong type": b'{"resourceSpans": 1}',
    "ids that are not hex": b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"zz"}]}]}]}',
    "deep arrays": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "protobuf": GOOD,
}


@pytest.mark.parametrize("payload", BAD_PROTOBUF.values(), ids=BAD_PROTOBUF.keys())
def test_malformed_protobuf(receiver: Receiver, payload: bytes) -> None:
    """What is no OTLP protobuf is INVALID_ARGUMENT or 400, never to be retried, and nothing is queued."""
    code, status = refused(receiver, payload)
    assert status is not None
    assert (code, retry_after(status)) == (grpc.StatusCode.INVALID_ARGUMENT, None)
    answer = receiver.post(payload)
    assert (answer.status, answer.media_type, answer.error.code) == (400, PROTOBUF, code_pb2.INVALID_ARGUMENT)
    assert "retry-after" not in answer.headers
    assert receiver.stored == []


@pytest.mark.parametrize("payload", BAD_JSON.values(), ids=BAD_JSON.keys())
def test_malformed_json(receiver: Receiver, payload: bytes) -> None:
    """What is no OTLP JSON is 400, said in JSON."""
    answer = receiver.post(payload, JSON)
    assert (answer.status, answer.media_type, answer.error.code) == (400, JSON, code_pb2.INVALID_ARGUMENT)
    assert answer.error.message
    assert receiver.stored == []


@pytest.mark.parametrize("media_type", ["text/plain", "", "application/grpc", "application/x-protobuf2"])
def test_an_unknown_content_type(receiver: Receiver, media_type: str) -> None:
    """A content type that is not OTLP's is 415, said in JSON."""
    answer = receiver.post(GOOD, media_type)
    assert (answer.status, answer.media_type, answer.error.code) == (415, JSON, code_pb2.INVALID_ARGUMENT)
    assert PROTOBUF in answer.error.message


def test_no_content_type(receiver: Receiver) -> None:
    """A request that does not say its type is 415."""
    assert receiver.http("POST", "/v1/traces", GOOD).status == 415


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_unknown_content_encoding(receiver: Receiver, encoding: str) -> None:
    """A content encoding other than gzip is 415, said in the request's own type."""
    answer = receiver.post(GOOD, content_encoding=encoding)
    assert (answer.status, answer.media_type, answer.error.code) == (415, PROTOBUF, code_pb2.INVALID_ARGUMENT)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("media_type", [PROTOBUF, JSON])
def test_a_wrong_method(receiver: Receiver, method: str, media_type: str) -> None:
    """A method other than POST is 405 with Allow."""
    answer = receiver.http(method, "/v1/traces", GOOD, {"content-type": media_type})
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert (answer.media_type, answer.error.code) == (media_type, code_pb2.UNIMPLEMENTED)


@pytest.mark.parametrize("path", ["/", "/v1/metrics", "/v1/logs", "/v1/traces/", "/v1development/profiles"])
def test_an_unknown_path(receiver: Receiver, path: str) -> None:
    """Whatever is not served is 404, also the paths of metrics and logs, and never a redirect."""
    answer = receiver.http("POST", path, GOOD, {"content-type": PROTOBUF})
    assert (answer.status, answer.media_type, answer.error.code) == (404, PROTOBUF, code_pb2.UNIMPLEMENTED)


@pytest.mark.parametrize(
    "method",
    [
        "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
        "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
        EXPORT.replace("Export", "Import"),
    ],
)
def test_an_unknown_service(receiver: Receiver, method: str) -> None:
    """Metrics and logs are UNIMPLEMENTED."""
    assert refused(receiver, GOOD, method=method)[0] is grpc.StatusCode.UNIMPLEMENTED


def bomb() -> bytes:
    """200 MiB of zeros in 200 KiB of gzip."""
    compressor = zlib.compressobj(1, wbits=31)
    return b"".join([compressor.compress(bytes(200 * MIB)), compressor.flush()])


HUNDRED_MB = bytes(100 * 10**6)


@pytest.mark.parametrize("media_type", [PROTOBUF, JSON])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_100_mb(receiver: Receiver, media_type: str, chunked: bool) -> None:  # noqa: FBT001
    """A body over the limit is 413, whether its length was announced or not, and never to be retried."""
    body = (HUNDRED_MB[:MIB] for _ in range(100)) if chunked else HUNDRED_MB
    answer = receiver.post(body, media_type)
    assert (answer.status, answer.media_type, answer.error.code) == (413, media_type, code_pb2.RESOURCE_EXHAUSTED)
    assert "retry-after" not in answer.headers
    assert retry_after(answer.error) is None


def test_a_message_of_100_mb(receiver: Receiver) -> None:
    """A message over the limit is RESOURCE_EXHAUSTED without RetryInfo."""
    assert refused(receiver, HUNDRED_MB) == (grpc.StatusCode.RESOURCE_EXHAUSTED, None)


def test_large_metadata(receiver: Receiver) -> None:
    """A token of a usual head's size is taken each time, as over HTTP; what is larger than a head may be is refused."""

    def export(size: int) -> None:
        call(GOOD, timeout=30, metadata=(("authorization", "x" * size),))

    with grpc.insecure_channel(str(receiver.bound.grpc)) as channel:
        call = channel.unary_unary(EXPORT, bytes, bytes)
        for _ in range(20):
            export(60_000)
        with pytest.raises(grpc.RpcError) as caught:
            export(70_000)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert receiver.post(GOOD, authorization="x" * 60_000).status == 200


def test_a_gzip_bomb_over_http(receiver: Receiver) -> None:
    """What is over the limit after decompression is 413."""
    answer = receiver.post(bomb(), content_encoding="gzip")
    assert (answer.status, answer.error.code) == (413, code_pb2.RESOURCE_EXHAUSTED)


def test_a_gzip_bomb_over_grpc(receiver: Receiver) -> None:
    """What is over the limit after decompression is RESOURCE_EXHAUSTED without RetryInfo."""
    answer = refused(receiver, bytes(200 * MIB), compression=grpc.Compression.Gzip)
    assert answer == (grpc.StatusCode.RESOURCE_EXHAUSTED, None)


ZIPPED = gzip.compress(GOOD)
BAD_GZIP = {
    "nothing": b"",
    "half a header": ZIPPED[:5],
    "no data": ZIPPED[:10],
    "no trailer": ZIPPED[:-8],
    "half a trailer": ZIPPED[:-1],
    "wrong checksum": ZIPPED[:-8] + bytes(4) + ZIPPED[-4:],
    "more behind it": ZIPPED + b"x",
    "no gzip": GOOD,
}


@pytest.mark.parametrize("body", BAD_GZIP.values(), ids=BAD_GZIP.keys())
@pytest.mark.parametrize("media_type", [PROTOBUF, JSON])
def test_a_bad_gzip_stream(receiver: Receiver, body: bytes, media_type: str) -> None:
    """A gzip stream that is damaged, cut short or followed by something is 400."""
    answer = receiver.post(body, media_type, content_encoding="gzip")
    assert (answer.status, answer.media_type, answer.error.code) == (400, media_type, code_pb2.INVALID_ARGUMENT)
    assert "gzip" in answer.error.message
    assert receiver.stored == []


@pytest.mark.parametrize("failure", [Overloaded("the disk is full"), BrokenStore("queue.sqlite: malformed")])
@pytest.mark.parametrize("media_type", [PROTOBUF, JSON])
def test_overload(receiver: Receiver, failure: Exception, media_type: str) -> None:
    """When the queue cannot take data the client is told when to come back, on both protocols."""
    receiver.failure = failure
    code, status = refused(receiver, GOOD)
    assert status is not None
    assert (code, retry_after(status), status.message) == (grpc.StatusCode.UNAVAILABLE, 1, str(failure))
    body = GOOD if media_type == PROTOBUF else GOOD_JSON
    answer = receiver.post(body, media_type)
    assert (answer.status, answer.headers["retry-after"], answer.media_type) == (503, "1", media_type)
    assert answer.error == status


def test_the_stock_exporter_comes_back(receiver: Receiver) -> None:
    """An exporter that was told of overload tries again, and its span arrives once."""
    receiver.failure = Overloaded("the disk is full")
    threading.Timer(0.5, setattr, (receiver, "failure", None)).start()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(EXPORTERS["grpc"](receiver)))
    provider.get_tracer("test").start_span("late").end()
    provider.shutdown()
    assert receiver.names() == ["late"]


@pytest.mark.parametrize(
    ("failure", "code", "http_status"),
    [
        (BadData("bad"), grpc.StatusCode.INVALID_ARGUMENT, 400),
        (TooLarge("large"), grpc.StatusCode.RESOURCE_EXHAUSTED, 413),
        (ZeroDivisionError("a secret"), grpc.StatusCode.INTERNAL, 500),
    ],
)
def test_what_is_not_to_be_retried(
    receiver: Receiver, failure: Exception, code: grpc.StatusCode, http_status: int
) -> None:
    """Every other failure of append is permanent, and a bug keeps its text to itself."""
    receiver.failure = failure
    refused_code, status = refused(receiver, GOOD)
    assert status is not None
    assert (refused_code, retry_after(status), "secret" in status.message) == (code, None, False)
    answer = receiver.post(GOOD)
    assert (answer.status, answer.error) == (http_status, status)
    assert "retry-after" not in answer.headers


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_probe_may_ask_for_the_head_alone(receiver: Receiver, method: str) -> None:
    """What stands behind a question mark is no part of the path."""
    answer = receiver.http(method, "/healthz?from=probe")
    assert (answer.status, answer.media_type, answer.headers["content-length"]) == (
        200,
        "text/plain; charset=utf-8",
        str(len(b"alive\n")),
    )
    refused = receiver.http("POST", "/healthz")
    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")


def test_probes(receiver: Receiver) -> None:
    """While running /healthz is 200; /readyz is 503 after an overload until data is taken again."""
    assert [receiver.http("GET", path).status for path in ("/healthz", "/readyz")] == [200, 200]
    receiver.failure = Overloaded("the disk is full")
    receiver.post(GOOD)
    not_ready = receiver.http("GET", "/readyz")
    assert (not_ready.status, not_ready.error.code) == (503, code_pb2.UNAVAILABLE)
    assert receiver.http("GET", "/healthz").status == 200
    receiver.failure = None
    receiver.post(GOOD)
    assert receiver.http("GET", "/readyz").status == 200


def test_a_client_that_leaves_harms_nobody(receiver: Receiver) -> None:
    """A connection that ends in the middle of a body, or speaks no HTTP, is dropped."""
    for sent in (
        b"POST /v1/traces HTTP/1.1\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n{",
        b"\x16\x03\x01",
    ):
        with socket.create_connection(receiver.bound.http) as connection:
            connection.sendall(sent)
    assert receiver.stored == []
