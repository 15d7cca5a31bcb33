"""The endpoint that is scraped."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from scrape import scrape
from weaklink_processor.errors import UsageError
from weaklink_processor.telemetry.endpoint import MetricsEndpoint
from weaklink_service import wait_until


@pytest.fixture
def endpoint() -> Iterator[MetricsEndpoint]:
    with closing(MetricsEndpoint("127.0.0.1", 0, lambda: "a 1\n")) as endpoint:
        yield endpoint


def address(endpoint: MetricsEndpoint) -> tuple[str, int]:
    host, _, port = endpoint.url.removeprefix("http://").removesuffix("/metrics").partition(":")
    return host, int(port)


def test_only_metrics_are_served(endpoint: MetricsEndpoint) -> None:
    """GET /metrics is answered, anything else is not found."""
    assert scrape("{}:{}".format(*address(endpoint))).text == "a 1\n"
    with pytest.raises(HTTPError, match="404"):
        urlopen(endpoint.url.replace("/metrics", "/"), timeout=5)  # noqa: S310  our own


def test_idle_connections_leave_room(endpoint: MetricsEndpoint) -> None:
    """However many clients connect and say nothing, a scraper is served once the first of them are hung up on."""
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(socket.create_connection(address(endpoint), timeout=5))
        wait_until(lambda: _scraped(endpoint) == "a 1\n", "an answer", 10)


def _scraped(endpoint: MetricsEndpoint) -> str | None:
    try:
        return scrape("{}:{}".format(*address(endpoint))).text
    except OSError:  # there is no place yet
        return None


def test_a_taken_port_is_a_message(endpoint: MetricsEndpoint) -> None:
    """A port that somebody has is told with the address."""
    host, port = address(endpoint)
    with pytest.raises(UsageError, match=f"cannot listen on {host}:{port} for metrics"):
        MetricsEndpoint(host, port, str)


def test_ipv6() -> None:
    """An IPv6 host is written in brackets."""
    with closing(MetricsEndpoint("[::1]", 0, lambda: "b 2\n")) as other:
        assert scrape(other.url.removeprefix("http://").removesuffix("/metrics")).text == "b 2\n"
