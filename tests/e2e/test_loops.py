"""A service that would send to itself does not start: every span would come back, and be sent again, for ever."""

from pathlib import Path

import pytest

from shell import refused
from weaklink_processor.commands.loops import refuse_loops
from weaklink_processor.errors import UsageError
from weaklink_processor.sources import load_config
from weaklink_service import free_port

TRACES, FORWARD = "telemetry.traces.otlp.endpoint", "forward.endpoint"
HTTP = "{protocol: http/protobuf, endpoint: 'URL'}"


def faults(text: str, folder: Path, grpc: str = "127.0.0.1:14317", http: str = "127.0.0.1:14318") -> list[str]:
    file = folder / "weaklink.yaml"
    file.write_text(text)
    try:
        refuse_loops(load_config(file, {}, {"--grpc": grpc, "--http": http}))
    except UsageError as error:
        return str(error).splitlines()
    return []


@pytest.mark.parametrize("endpoint", ["127.0.0.1:{}", "http://localhost:{}", "http://0.0.0.0:{}/"])
@pytest.mark.parametrize("key", [TRACES, FORWARD])
def test_a_loop_is_refused(tmp_path: Path, key: str, endpoint: str) -> None:
    """Neither spans about weaklink nor those that it received are sent to its own receiver."""
    port = free_port()
    file, own = tmp_path / "weaklink.yaml", endpoint.format(port)
    file.write_text(f"{key}: {own}")
    listening = ("--config", file, "--grpc", f"127.0.0.1:{port}", "--http", "127.0.0.1:0")
    message = refused("serve", "--data-dir", tmp_path / "data", *listening)
    assert f"{key}: '{own}': expected another server than this weaklink" in message


@pytest.mark.parametrize("url", ["http://localhost:14318", "[::]:14318", "https://127.0.0.1:14318/v1/traces"])
def test_over_http(tmp_path: Path, url: str) -> None:
    """The server for OTLP/HTTP is its own as well, whatever the path."""
    (fault,) = faults(f"forward: {HTTP.replace('URL', url)}", tmp_path)
    assert fault == f"forward.endpoint: {url!r}: expected another server than this weaklink"


def test_the_scheme_s_port_is_a_port(tmp_path: Path) -> None:
    """An endpoint without a port means that of its scheme."""
    text = f"forward: {HTTP.replace('URL', 'https://localhost')}"
    assert faults(text, tmp_path, http="0.0.0.0:443")
    assert not faults(text, tmp_path, http="0.0.0.0:80")


def test_each_destination_is_looked_at(tmp_path: Path) -> None:
    """All that lead back are told by their names; of destinations no value is shown."""
    own, other = "{endpoint: 'localhost:14317'}", "{endpoint: 'there:14317'}"
    text = f"forward: {{endpoint: '127.0.0.1:14317', destinations: {{a: {own}, b: {other}, c: {own}}}}}"
    assert [line.partition(": expected")[0] for line in faults(text, tmp_path)] == [
        "forward.endpoint: '127.0.0.1:14317'",
        "forward.destinations.a.endpoint: (not shown)",
        "forward.destinations.c.endpoint: (not shown)",
    ]


@pytest.mark.parametrize("endpoint", ["127.0.0.1:14319", "collector:14317", "'[::1]:14317'"])
def test_another_server_is_none(tmp_path: Path, endpoint: str) -> None:
    """Another port of this machine and the same port of another one are fine, or of its other loopback address."""
    assert faults(f"{FORWARD}: {endpoint}\n{TRACES}: {endpoint}", tmp_path) == []
