"""Which endpoints are understood."""

import pytest

from weaklink_processor.endpoint import Endpoint, Protocol, parse_endpoint

GRPC: Protocol = "grpc"
HTTP: Protocol = "http/protobuf"


@pytest.mark.parametrize(
    ("text", "endpoint"),
    [
        ("localhost:4317", Endpoint("localhost:4317", tls=False)),
        ("http://collector:4317", Endpoint("collector:4317", tls=False)),
        ("http://collector:4317/", Endpoint("collector:4317", tls=False)),
        ("https://otlp.example.org:443", Endpoint("otlp.example.org:443", tls=True)),
        ("[::1]:4317", Endpoint("[::1]:4317", tls=False)),
    ],
)
def test_grpc(text: str, endpoint: Endpoint) -> None:
    """host:port and http:// are plain, https:// is TLS."""
    assert parse_endpoint(text) == endpoint


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("localhost:4318", "http://localhost:4318/v1/traces"),
        ("http://collector:4318", "http://collector:4318/v1/traces"),
        ("http://collector:4318/", "http://collector:4318/v1/traces"),
        ("http://collector:4318/v1/traces", "http://collector:4318/v1/traces"),
        ("https://otlp.example.org", "https://otlp.example.org/v1/traces"),
        ("https://otlp.example.org/api/otel/", "https://otlp.example.org/api/otel/v1/traces"),
        ("https://otlp.example.org/api/v1/traces", "https://otlp.example.org/api/v1/traces"),
        ("[::1]:4318", "http://[::1]:4318/v1/traces"),
    ],
)
def test_http(text: str, url: str) -> None:
    """The path of the traces is appended, unless it is there; the port may be the scheme's own."""
    assert parse_endpoint(text, HTTP).url == url


NEITHER = [
    "",
    "localhost",
    ":4317",
    "http://",
    "localhost:0",
    "localhost:http",
    "localhost:70000",
    "a b:4317",
    "grpc://localhost:4317",
    "http://user:secret@localhost:4317",
    "http://[::1:4317",
    "http://localhost:4318?token=secret",
    "http://localhost:4318#there",
]


@pytest.mark.parametrize(
    ("text", "protocol", "expected"),
    [
        *((text, GRPC, "of an OTLP/gRPC server") for text in [*NEITHER, "http://localhost", "http://a:4318/v1/traces"]),
        *((text, HTTP, "of an OTLP/HTTP server") for text in NEITHER),
    ],
)
def test_refused(text: str, protocol: Protocol, expected: str) -> None:
    """Anything else is refused with what was expected, never guessed at."""
    with pytest.raises(ValueError, match=expected):
        parse_endpoint(text, protocol)
