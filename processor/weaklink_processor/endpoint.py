"""Where a destination is: the forms of an endpoint that a user may write, by protocol.

https://opentelemetry.io/docs/specs/otel/protocol/exporter/
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import SplitResult, urlsplit

Protocol: TypeAlias = Literal["grpc", "http/protobuf", "phoenix"]

_TLS = {"": False, "http": False, "https": True}
_TRACES = "/v1/traces"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server, and whether it is spoken to over TLS."""

    target: str  # host:port, an IPv6 host in brackets; over HTTP maybe without a port
    tls: bool
    path: str = ""  # of the traces, of Phoenix itself; gRPC has none

    @property
    def url(self) -> str:
        """The endpoint as one text."""
        return f"{'https' if self.tls else 'http'}://{self.target}{self.path}"


@dataclass(frozen=True, slots=True)
class _Form:
    described: str
    fits: Callable[[SplitResult], bool]
    path: Callable[[str], str]


def parse_endpoint(text: str, protocol: Protocol = "grpc") -> Endpoint:
    """Read what a user wrote.

    `/v1/traces` is appended to the path of an OTLP/HTTP server, unless it ends so.

    Raises:
        ValueError: it has another form; the message says what was expected.
    """
    form = _FORMS[protocol]
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        understood = text.split() == [text] and _is_server(parts) and form.fits(parts)
    except ValueError:  # urllib's word for a bad port or IPv6 host
        understood = False
    if not understood:
        raise ValueError(f"expected {form.described}")
    return Endpoint(parts.netloc, _TLS[parts.scheme], form.path(parts.path))


def _is_server(parts: SplitResult) -> bool:
    bare = parts.username is None and not parts.query and not parts.fragment
    return bare and parts.scheme in _TLS and bool(parts.hostname)


def _has_port(parts: SplitResult) -> bool:
    return bool(parts.port) and parts.path in {"", "/"}


def _has_scheme_or_port(parts: SplitResult) -> bool:
    return bool(parts.port) or (parts.port is None and bool(parts.scheme))


def _traces_path(path: str) -> str:
    base = path.rstrip("/")
    return base if base.endswith(_TRACES) else base + _TRACES


_FORMS = {
    "grpc": _Form("HOST:PORT, http://HOST:PORT or https://HOST:PORT of an OTLP/gRPC server", _has_port, lambda _: ""),
    "phoenix": _Form(
        "HOST:PORT, http://HOST or https://HOST of Phoenix, maybe with a port, and a path without /v1/traces",
        lambda parts: _has_scheme_or_port(parts) and _traces_path(parts.path) != parts.path.rstrip("/"),
        lambda path: path.rstrip("/"),
    ),
    "http/protobuf": _Form(
        "HOST:PORT, http://HOST or https://HOST of an OTLP/HTTP server, maybe with a port and a path",
        _has_scheme_or_port,
        _traces_path,
    ),
}
