"""Who may send: no, wrong and right credentials on both protocols, with the real SDK's exporters as clients."""

import gzip
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.trace import SpanContext, TraceFlags

from receive.harness import ANY_PORTS, EXPORT, GOOD, JSON, PROTOBUF, Receiver, running
from weaklink_processor.receive.credentials import Credentials, Unauthenticated

TOKEN, OTHER = "first.token~1", "second/token+2=="
KNOWN = Credentials([TOKEN, OTHER], {"ann": "pass:word ü", "bob": "x"})


def basic(name: str, password: str) -> str:
    return f"Basic {b64encode(f'{name}:{password}'.encode()).decode()}"


RIGHT = (f"Bearer {TOKEN}", f"bearer  {OTHER}", basic("ann", "pass:word ü"), basic("bob", "x"))
WRONG = (
    *("", TOKEN, "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", f"Digest {TOKEN}"),
    *(basic("ann", "x"), basic("ann", ""), basic("", "x"), basic("bob:x", ""), "Basic !", f"Bearer {TOKEN}, {TOKEN}"),
    "Bearer \udcff",
)


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with running(replace(ANY_PORTS, credentials=KNOWN)) as receiver:
        yield receiver


def span() -> ReadableSpan:
    return ReadableSpan("good", context=SpanContext(1, 1, is_remote=False, trace_flags=TraceFlags(1)))


@pytest.mark.parametrize("header", RIGHT)
def test_right_credentials_count(header: str) -> None:
    """Any token and any user count; the scheme's case and the spaces after it do not matter."""
    KNOWN.check([header])


@pytest.mark.parametrize("header", WRONG)
def test_wrong_credentials_do_not(header: str) -> None:
    """Anything else is refused, and the refusal does not repeat what was sent."""
    with pytest.raises(Unauthenticated) as refused:
        KNOWN.check([header])
    assert TOKEN not in str(refused.value)


def test_one_header_is_expected() -> None:
    """No header is refused, and so are two, even if one counts: proxies disagree on which of them it is."""
    for headers in ([], [RIGHT[0], RIGHT[0]], [RIGHT[0], WRONG[0]]):
        with pytest.raises(Unauthenticated):
            KNOWN.check(headers)


def test_without_credentials_everybody_may_send() -> None:
    """Nothing is asked for while none are configured, and what is sent is not looked at."""
    Credentials().check([])
    Credentials().check(["Bearer any", "Basic any"])


@pytest.mark.parametrize("header", RIGHT)
def test_exporters_with_right_credentials_are_taken(receiver: Receiver, header: str) -> None:
    """The SDK's exporters send them as headers, over both protocols."""
    before = len(receiver.stored)
    endpoint = f"http://{receiver.bound.http}/v1/traces"
    for exporter in (
        GrpcExporter(str(receiver.bound.grpc), insecure=True, headers=(("authorization", header),)),
        HttpExporter(endpoint, headers={"authorization": header}),
    ):
        assert exporter.export([span()]) is SpanExportResult.SUCCESS
        exporter.shutdown()
    assert len(receiver.stored) == before + 2


@pytest.mark.parametrize("header", [None, f"Bearer {TOKEN}x", basic("ann", "x")])
def test_others_are_refused_on_both_protocols(receiver: Receiver, header: str | None) -> None:
    """UNAUTHENTICATED and 401, which says what is expected; nothing is stored, and nothing is to be tried again."""
    before = list(receiver.stored)
    with grpc.insecure_channel(str(receiver.bound.grpc)) as channel:
        call = channel.unary_unary(EXPORT, bytes, bytes)
        with pytest.raises(grpc.RpcError) as refused:
            call(GOOD, timeout=30, metadata=(("authorization", header),) if header else ())
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    for media_type in (PROTOBUF, JSON):
        answer = receiver.post(GOOD, media_type, **({"authorization": header} if header else {}))
        assert (answer.status, answer.media_type) == (401, media_type)
        assert "Bearer" in answer.headers["www-authenticate"]
        assert "Basic" in answer.headers["www-authenticate"]
        assert "retry-after" not in answer.headers
        assert answer.error.code == grpc.StatusCode.UNAUTHENTICATED.value[0]
    assert receiver.stored == before


def test_what_strangers_send_is_not_even_read(receiver: Receiver) -> None:
    """Credentials come first: a body that is not what its headers say, or is too large, is refused for lack of them."""
    bomb = gzip.compress(bytes(100 << 20))
    for body, encoding in ((b"\xff" * 100, "gzip"), (bomb, "gzip"), (b"", "odd")):
        assert receiver.post(body, PROTOBUF, content_encoding=encoding).status == 401
    assert receiver.post(GOOD, "text/plain").status == 401
    with grpc.insecure_channel(str(receiver.bound.grpc)) as channel:
        call = channel.unary_unary(EXPORT, bytes, bytes)
        for message in (b"\xff" * 100, bytes(100 << 20)):
            with pytest.raises(grpc.RpcError) as refused:
                call(message, timeout=30, compression=grpc.Compression.Gzip)
            assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_probes_need_no_credentials(receiver: Receiver) -> None:
    """Whether it is alive and ready is told to everybody, on both protocols."""
    assert [receiver.http("GET", path).status for path in ("/healthz", "/readyz")] == [200, 200]
    with grpc.insecure_channel(str(receiver.bound.grpc)) as channel:
        call = channel.unary_unary("/grpc.health.v1.Health/Check", bytes, bytes)
        assert call(b"", timeout=30) == b"\x08\x01"
