"""Everything a client can get wrong, sent to one real service, which goes on and stays small."""

import gzip
import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import grpc
import psutil
import pytest
from google.rpc import code_pb2

from e2e.clients import grpc_export, otlp_json, post
from e2e.clients import http as call_http
from otlp import S, payload
from receive.harness import JSON, PROTOBUF, Answer
from weaklink_service import Service, wait_until

MIB = 1 << 20
MOST_MEMORY = 400 * MIB
HUNDRED_MB = bytes(100 * 10**6)
GOOD = payload([S(1, 1, "good")])
ZERO_ID = payload([S(0, 7, "bad")])
MIXED = payload([S(0, 8, "bad"), S(2, 2, "kept")])
CODES = grpc.StatusCode


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """It must take good requests after all that was done to it, and never have grown beyond its measure."""
    with Service(tmp_path_factory.mktemp("bad") / "data") as service, _peak_memory(service, "receiver") as peak:
        receiver = service.child("receiver")
        yield service
        with grpc_export(service) as export:
            export(payload([S(3, 1, "by grpc")]), timeout=30)
        assert post(service, payload([S(3, 2, "by http")])).status == 200
        wait_until(lambda: service.count("spans WHERE name LIKE 'by %'") == 2, "good spans after the bad ones")
        assert service.child("receiver") == receiver
        assert service.count("spans WHERE name = 'bad'") == 0
        print(f"receiver's peak: {peak() / MIB:.0f} MiB")  # noqa: T201
        assert peak() < MOST_MEMORY


@contextmanager
def _peak_memory(service: Service, name: str) -> Iterator[Callable[[], int]]:
    """The most resident memory of a child, looked at a hundred times a second."""
    process, done, most = service.child(name), threading.Event(), 0
    assert process

    def watch() -> None:
        nonlocal most
        with suppress(psutil.NoSuchProcess):
            while not done.wait(0.01):
                most = max(most, process.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: most
    finally:
        done.set()
        watcher.join()


def _bomb() -> bytes:
    """1 GiB of zeros in 1 MiB of gzip."""
    compressor = zlib.compressobj(9, wbits=31)
    return b"".join([*(compressor.compress(bytes(MIB)) for _ in range(1024)), compressor.flush()])


GZIP = {"content_encoding": "gzip"}
HTTP: dict[str, tuple[Callable[[Service], Answer], int, str, int]] = {
    "malformed protobuf": (lambda s: post(s, b"hello"), 400, PROTOBUF, code_pb2.INVALID_ARGUMENT),
    "malformed json": (lambda s: post(s, b'{"resourceSpans": [', JSON), 400, JSON, code_pb2.INVALID_ARGUMENT),
    "protobuf said to be json": (lambda s: post(s, GOOD, JSON), 400, JSON, code_pb2.INVALID_ARGUMENT),
    "wrong content type": (lambda s: post(s, GOOD, "text/plain"), 415, JSON, code_pb2.INVALID_ARGUMENT),
    "wrong method": (
        lambda s: call_http(s, "GET", "/v1/traces", headers={"content-type": PROTOBUF}), 405, PROTOBUF,
        code_pb2.UNIMPLEMENTED,
    ),
    "metrics": (
        lambda s: call_http(s, "POST", "/v1/metrics", GOOD, {"content-type": PROTOBUF}), 404, PROTOBUF,
        code_pb2.UNIMPLEMENTED,
    ),
    "100 MB": (lambda s: post(s, HUNDRED_MB), 413, PROTOBUF, code_pb2.RESOURCE_EXHAUSTED),
    "100 MB of json": (lambda s: post(s, b" " * 10**8, JSON), 413, JSON, code_pb2.RESOURCE_EXHAUSTED),
    "100 MB unannounced": (
        lambda s: post(s, (HUNDRED_MB[:MIB] for _ in range(96))), 413, PROTOBUF, code_pb2.RESOURCE_EXHAUSTED
    ),
    "gzip bomb": (lambda s: post(s, _bomb(), **GZIP), 413, PROTOBUF, code_pb2.RESOURCE_EXHAUSTED),
    "gzip bomb of json": (lambda s: post(s, _bomb(), JSON, **GZIP), 413, JSON, code_pb2.RESOURCE_EXHAUSTED),
    "truncated gzip": (lambda s: post(s, gzip.compress(GOOD)[:-9], **GZIP), 400, PROTOBUF, code_pb2.INVALID_ARGUMENT),
    "truncated gzip of json": (
        lambda s: post(s, gzip.compress(otlp_json(GOOD))[:-9], JSON, **GZIP), 400, JSON, code_pb2.INVALID_ARGUMENT
    ),
}  # fmt: skip


@pytest.mark.parametrize(("send", "status", "media_type", "code"), HTTP.values(), ids=HTTP)
def test_over_http(
    service: Service, send: Callable[[Service], Answer], status: int, media_type: str, code: int
) -> None:
    """Each gets its status, a google.rpc.Status in its own type, and no invitation to try again."""
    answer = send(service)
    assert (answer.status, answer.media_type, answer.error.code) == (status, media_type, code)
    assert answer.error.message
    assert "retry-after" not in answer.headers
    assert list(answer.error.details) == []


GRPC = {
    "malformed protobuf": (b"hello", grpc.Compression.NoCompression, CODES.INVALID_ARGUMENT),
    "100 MB": (HUNDRED_MB, grpc.Compression.NoCompression, CODES.RESOURCE_EXHAUSTED),
    "gzip bomb": (bytes(500 * MIB), grpc.Compression.Gzip, CODES.RESOURCE_EXHAUSTED),
}


@pytest.mark.parametrize(("body", "compression", "code"), GRPC.values(), ids=GRPC)
def test_over_grpc(service: Service, body: bytes, compression: grpc.Compression, code: grpc.StatusCode) -> None:
    """Each gets its code, and no RetryInfo."""
    with grpc_export(service) as export, pytest.raises(grpc.RpcError) as caught:
        export(body, timeout=30, compression=compression)
    assert caught.value.code() is code
    assert "RetryInfo" not in str(caught.value.trailing_metadata())


@pytest.mark.parametrize("body", [ZERO_ID, MIXED], ids=["alone", "among others"])
def test_a_trace_id_of_zeros(service: Service, body: bytes) -> None:
    """The span is rejected, the request is not: success in part over every door."""
    with grpc_export(service) as export:
        answers = [
            export(body, timeout=30),
            post(service, body).response,
            post(service, otlp_json(body), JSON).response,
        ]
    for answer in answers:
        assert answer.partial_success.rejected_spans == 1
        assert "trace_id" in answer.partial_success.error_message


def test_a_trace_id_that_is_no_hex(service: Service) -> None:
    """JSON whose ids are not hex is malformed."""
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "zz" * 16, "spanId": "00" * 8}]}]}]}
    assert post(service, json.dumps(spans), JSON).status == 400
