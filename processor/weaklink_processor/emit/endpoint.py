"""Where to export to: the forms of an endpoint that a user may write."""

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from weaklink_processor.errors import UsageError

_TLS = {"": False, "http": False, "https": True}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A gRPC target and whether it is spoken to over TLS."""

    target: str  # host:port, an IPv6 host in brackets
    tls: bool


def parse_endpoint(text: str) -> Endpoint:
    """Read `host:port`, `http://host:port` or `https://host:port` (TLS).

    Raises:
        UsageError: for anything else; the message quotes the text.
    """
    try:
        parts = urlsplit(text if "://" in text else f"//{text}")
        understood = parts.scheme in _TLS and _is_host_port(parts)
    except ValueError:  # urllib's word for a bad port or IPv6 host
        understood = False
    if not understood:
        raise UsageError(f"endpoint {text!r} is not the host:port, http://host:port or https://host:port of OTLP/gRPC")
    return Endpoint(parts.netloc, _TLS[parts.scheme])


def _is_host_port(parts: SplitResult) -> bool:
    bare = parts.username is None and parts.path in {"", "/"} and not parts.query and not parts.fragment
    return bare and bool(parts.hostname and parts.port)
