"""The receiver's life: it starts whole or not at all, and drains before it stops."""

import asyncio
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from http.client import HTTPConnection

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub

from receive.harness import ANY_PORTS, GOOD, Receiver, running
from turns import TIMED
from weaklink_processor.errors import UsageError
from weaklink_processor.receive.credentials import Credentials
from weaklink_processor.receive.grpc_server import GrpcServer
from weaklink_processor.receive.http_server import HttpServer
from weaklink_processor.receive.intake import Intake
from weaklink_processor.receive.limits import Limits
from weaklink_processor.receive.process import Bound, ReceiverSettings, run_receiver


async def nowhere(_payload: bytes) -> None:
    raise AssertionError


def never(_bound: Bound) -> None:
    raise AssertionError


def listening_on(protocol: str, address: str, other: str) -> ReceiverSettings:
    grpc_address, http_address = (address, other) if protocol == "grpc" else (other, address)
    return ReceiverSettings(grpc=grpc_address, http=http_address)


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_free(address: str) -> bool:
    host, port = address.rsplit(":", 1)
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) != 0


@pytest.mark.anyio
@pytest.mark.parametrize("protocol", ["grpc", "http"])
async def test_a_taken_port(protocol: str) -> None:
    """A port that is taken is a UsageError with address and reason, and the other listener is closed again."""
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.create_server(("127.0.0.1", 0)) as spare:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        other = f"127.0.0.1:{spare.getsockname()[1]}"
        spare.close()
        settings = listening_on(protocol, address, other)
        with pytest.raises(UsageError, match=f"cannot listen on {address}: Address already in use"):
            await run_receiver(settings, nowhere, stop=asyncio.Event(), on_ready=never)
        assert is_free(other)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("4317", "cannot listen on '4317': not of the form host:port"),
        (":4317", "cannot listen on ':4317': not of the form host:port"),
        ("localhost:http", "cannot listen on 'localhost:http': not of the form host:port"),
        ("localhost:65536", "cannot listen on 'localhost:65536': not of the form host:port"),
        ("name.invalid:4317", "cannot listen on name.invalid:4317: "),
        ("192.0.2.1:4317", "cannot listen on 192.0.2.1:4317: Cannot assign requested address"),
    ],
)
@pytest.mark.parametrize("protocol", ["grpc", "http"])
async def test_an_address_that_is_none(protocol: str, address: str, complaint: str) -> None:
    """An address that cannot be listened on is a UsageError that says why."""
    with pytest.raises(UsageError) as caught:
        await run_receiver(
            listening_on(protocol, address, "127.0.0.1:0"), nowhere, stop=asyncio.Event(), on_ready=never
        )
    assert str(caught.value).startswith(complaint)


@pytest.mark.parametrize("host", ["localhost", "[::1]"])
def test_other_ways_to_name_a_host(host: str) -> None:
    """A host may be a name or an IPv6 address in brackets."""
    if host == "[::1]" and not has_ipv6():
        pytest.skip("no IPv6 on this machine")
    with running(replace(ANY_PORTS, grpc=f"{host}:0", http=f"{host}:0")) as receiver:
        assert str(receiver.bound.grpc).startswith(f"{host}:")
        assert receiver.post(GOOD).status == 200
        receiver.export(GOOD)
        assert receiver.stored == [GOOD, GOOD]


def has_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


def test_grpc_health() -> None:
    """The health service says SERVING for the server and for the trace service, and knows no other."""
    with running() as receiver, grpc.insecure_channel(str(receiver.bound.grpc)) as channel:
        health = HealthStub(channel)
        for service in ("", "opentelemetry.proto.collector.trace.v1.TraceService"):
            assert health.Check(HealthCheckRequest(service=service)).status == HealthCheckResponse.SERVING
        with pytest.raises(grpc.RpcError) as caught:
            health.Check(HealthCheckRequest(service="another"))
        assert caught.value.code() is grpc.StatusCode.NOT_FOUND


def health_changes(receiver: Receiver) -> list[int]:
    """Every state that a watcher is told of, until the connection ends."""
    changes: list[int] = []
    with grpc.insecure_channel(str(receiver.bound.grpc)) as channel, suppress(grpc.RpcError):
        changes.extend(change.status for change in HealthStub(channel).Watch(HealthCheckRequest()))
    return changes


def test_what_is_under_way_is_finished() -> None:
    """At a stop the health turns NOT_SERVING, new clients are turned away, and those under way get their answers."""
    with ThreadPoolExecutor(4) as clients:
        with running(replace(ANY_PORTS, grace_seconds=1)) as receiver:
            watching = clients.submit(health_changes, receiver)
            receiver.gate.clear()
            http, grpc_call = clients.submit(receiver.post, GOOD), clients.submit(receiver.export, GOOD)
            wait_until(lambda: receiver.waiting == 2)
            receiver.stop()
            wait_until(lambda: is_free(str(receiver.bound.http)))
            assert not http.done()
            assert not grpc_call.done()
            receiver.gate.set()
            assert http.result(5).status == 200
            assert not grpc_call.result(5).HasField("partial_success")
        assert receiver.stored == [GOOD, GOOD]
        assert watching.result(5) == [HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING]
        assert is_free(str(receiver.bound.grpc))


@TIMED
def test_a_stop_does_not_wait_for_ever() -> None:
    """A request that does not end within the grace is given up, and its client told to come back."""
    with ThreadPoolExecutor(2) as clients:
        with running(replace(ANY_PORTS, grace_seconds=1)) as receiver:
            receiver.gate.clear()
            http, call = clients.submit(receiver.post, GOOD), clients.submit(receiver.export, GOOD)
            wait_until(lambda: receiver.waiting == 2)
            began = time.monotonic()
            receiver.stop()
            answer = http.result(10)
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            with pytest.raises(grpc.RpcError) as caught:
                call.result(10)
            assert caught.value.code() in {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED}
        assert time.monotonic() - began < 4


def test_started_again_at_once() -> None:
    """The ports of a receiver that stopped a moment ago are free for the next."""
    with running() as receiver, closing(HTTPConnection(*receiver.bound.http)) as connection:
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        settings = replace(ANY_PORTS, grpc=str(receiver.bound.grpc), http=str(receiver.bound.http))
        receiver.stop()  # closes the connection, whose address stays in TIME_WAIT
        wait_until(lambda: is_free(settings.http) and is_free(settings.grpc))
    with running(settings) as receiver:
        assert receiver.post(GOOD).status == 200


@pytest.mark.anyio
async def test_stop_without_start_and_twice() -> None:
    """Servers that never ran, or already stopped, stop."""
    intake = Intake(nowhere)
    for server in (server(intake, Limits(), Credentials()) for server in (GrpcServer, HttpServer)):
        await server.stop(1)
        await server.stop(1)
    stop = asyncio.Event()
    stop.set()
    await run_receiver(ANY_PORTS, nowhere, stop=stop, on_ready=lambda _: None)
