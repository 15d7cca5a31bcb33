"""Which endpoints are understood."""

import pytest

from weaklink_processor.emit.endpoint import Endpoint, parse_endpoint
from weaklink_processor.errors import UsageError


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
def test_understood(text: str, endpoint: Endpoint) -> None:
    """host:port and http:// are plain, https:// is TLS."""
    assert parse_endpoint(text) == endpoint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost",
        ":4317",
        "http://localhost",
        "localhost:0",
        "localhost:http",
        "localhost:70000",
        "grpc://localhost:4317",
        "http://localhost:4318/v1/traces",
        "http://user:secret@localhost:4317",
        "http://[::1:4317",
    ],
)
def test_refused(text: str) -> None:
    """Anything else is a usage error that quotes it, never a guess."""
    with pytest.raises(UsageError) as error:
        parse_endpoint(text)
    assert repr(text) in str(error.value)
