"""What a service sends never goes to itself: each span would be received, and sent again."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError

_HERE = {"localhost", "127.0.0.1", "::1", "0.0.0.0", "::"}  # noqa: S104  compared with, not bound
_APART = {"127.0.0.1", "::1"}  # each may have another server on a port
_PORTS = {"http": 80, "https": 443}


def refuse_loops(config: Config) -> None:
    """Refuse spans about weaklink, original spans or evaluations that would go to one of its own two servers.

    Raises:
        UsageError: that is configured; a line for each setting.
    """
    own = [_place(server.endpoint) for server in (config.receiver.grpc, config.receiver.http)]
    faults = [
        f"{key}: {shown}: expected another server than this weaklink"
        for key, shown, url in _sent_to(config)
        if any(_same(_place(url), server) for server in own)
    ]
    if faults:
        raise UsageError("\n".join(faults))


def _sent_to(config: Config) -> Iterator[tuple[str, str, str]]:
    """Every setting that says where spans go, how it is shown, and the URL."""
    if spans := config.telemetry.traces.otlp.endpoint:
        yield "telemetry.traces.otlp.endpoint", repr(spans), spans
    if config.forward.endpoint:
        yield "forward.endpoint", repr(config.forward.endpoint), config.forward.url
    for name, destination in config.forward.destinations.items():
        yield f"forward.destinations.{name}.endpoint", "(not shown)", destination.url


def _place(url: str) -> tuple[str, int]:
    """Host and port of a URL or an endpoint, which are known to have them."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    return parts.hostname or "", parts.port if parts.port is not None else _PORTS[parts.scheme]


def _same(one: tuple[str, int], other: tuple[str, int]) -> bool:
    hosts = {one[0], other[0]}
    return one[1] == other[1] and (len(hosts) == 1 or (hosts <= _HERE and hosts != _APART))
