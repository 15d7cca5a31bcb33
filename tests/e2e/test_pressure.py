"""What senders see of a service that cannot take more for a while, and that nothing of it is lost or doubled."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import grpc
import psutil
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from e2e.clients import Load, grpc_export, post
from e2e.settled import undisturbed, wait_for_tables
from e2e.workload import bulk, keys, workload
from otlp import S, payload
from receive.harness import PROTOBUF
from sink import OtlpSink
from small_disk import SmallDisk
from turns import TIMED
from weaklink_processor.queue.store import QueueStore
from weaklink_service import Service, wait_until


def refused_by_grpc(service: Service, request: bytes) -> Status | None:
    """The google.rpc.Status of a refusal, None for success; any code but UNAVAILABLE is an error."""
    with grpc_export(service) as export:
        try:
            export(request, timeout=30)
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.UNAVAILABLE:
                raise
            metadata: dict[str, bytes] = dict(error.trailing_metadata() or ())  # type: ignore[arg-type]
            return Status.FromString(metadata["grpc-status-details-bin"])
    return None


def refused_by_http(service: Service, request: bytes) -> Status | None:
    """As over gRPC, with any status but 503 an error."""
    answer = post(service, request)
    if answer.status == 200:
        return None
    assert (answer.status, answer.headers["retry-after"], answer.media_type) == (503, "1", PROTOBUF)
    return answer.error


DOORS = (refused_by_grpc, refused_by_http)


def assert_come_back(status: Status | None, complaint: str) -> None:
    """It says why, and when to try again."""
    assert status
    info = RetryInfo()
    assert [detail.Unpack(info) for detail in status.details] == [True]
    assert (status.code, info.retry_delay.seconds) == (grpc.StatusCode.UNAVAILABLE.value[0], 1)
    assert complaint in status.message


@contextmanager
def suspended(service: Service, name: str) -> Iterator[None]:
    """A child that does nothing for a while."""
    process = service.child(name)
    assert process
    process.suspend()
    try:
        yield
    finally:
        process.resume()


def send_until_refused(service: Service, requests: list[bytes]) -> list[bytes]:
    """Send one after the other; those that were taken."""
    for number, request in enumerate(requests):
        if refused_by_grpc(service, request):
            return requests[:number]
    raise AssertionError("all were taken")


@pytest.mark.parametrize(
    ("setting", "bound", "complaint"),
    [
        ("WEAKLINK_QUEUE__MAX_REQUESTS", "20", "20 requests, and 20 is its limit"),
        ("WEAKLINK_QUEUE__MAX_BYTES", "20000", "and 20000 is its limit"),
    ],
)
def test_a_full_queue(tmp_path: Path, setting: str, bound: str, complaint: str) -> None:
    """Over a bound both doors say when to come back, and why; when the analyst has caught up all is taken, and once."""
    requests = workload(5, 120)
    with Service(tmp_path / "data", settings={setting: bound}) as service:
        with suspended(service, "analyst"):
            taken = send_until_refused(service, requests)
            assert taken
            for refused in DOORS:
                assert_come_back(refused(service, requests[-1]), complaint)
                assert refused(service, taken[-1]) is None  # what is durable is acknowledged again
        with Load(service, requests):
            pass
        wait_for_tables(service, undisturbed(requests, tmp_path))


@TIMED
def test_a_queue_that_takes_too_long(tmp_path: Path) -> None:
    """While the queue cannot be written to both doors say after `queue.max_wait` when to come back."""
    request = payload([S(1, 1)])
    settings = {"WEAKLINK_QUEUE__MAX_WAIT": "500ms"}
    with OtlpSink() as sink, Service(tmp_path / "data", sink.endpoint, settings) as service:
        with held(service.data_dir / "queue.sqlite"):
            for refused in DOORS:
                began = time.monotonic()
                assert_come_back(refused(service, request), "within 0.5 s")
                assert time.monotonic() - began < 3
        for refused in DOORS * 2:
            assert refused(service, request) is None
        _assert_forwarded_once(sink, service, request)


@contextmanager
def held(file: Path) -> Iterator[None]:
    """The queue's write lock, held by somebody else."""
    with QueueStore(file, max_bytes=1)._writing():
        yield


@pytest.mark.parametrize("between", [lambda _: None, lambda service: _killed(service, "receiver")], ids=["", "killed"])
def test_a_retry_is_applied_once(tmp_path: Path, between: Callable[[Service], None]) -> None:
    """A request sent again, over either protocol or after the receiver's death, is acknowledged and forwarded once."""
    request = payload([S(1, 1)])
    with OtlpSink() as sink, Service(tmp_path / "data", sink.endpoint) as service:
        for refused in DOORS * 2:
            assert refused(service, request) is None
            sink.wait_for(lambda sink: len(sink.requests) == 1)
            between(service)
        _assert_forwarded_once(sink, service, request)


def _assert_forwarded_once(sink: OtlpSink, service: Service, request: bytes) -> None:
    """When nothing waits any more, the sink has this request and a later one once each."""
    last = payload([S(2, 1)])
    assert refused_by_grpc(service, last) is None
    sink.wait_for(lambda sink: last in sink.requests, timeout=30)
    with closing(QueueStore.open(service.data_dir / "queue.sqlite", max_bytes=1)) as queue:
        wait_until(lambda: not queue.stats().rows, "an empty queue", 30)
    assert sorted(sink.requests) == sorted([request, last])


def _killed(service: Service, name: str) -> None:
    process = service.child(name)
    service.kill(name)
    wait_until(lambda: service.child(name) not in {None, process}, f"another {name}")
    wait_until(lambda: _is_ready(service), "it to be ready")


def _is_ready(service: Service) -> bool:
    try:
        return post(service, b"").status == 200
    except OSError:
        return False


def test_the_analyst_lets_others_go_first(tmp_path: Path) -> None:
    """Where processors are short, senders and readers get them: they wait for an answer, analysis can catch up."""
    with Service(tmp_path / "data") as service:
        receiver, analyst = service.child("receiver"), service.child("analyst")
        assert receiver
        assert analyst
        ours = psutil.Process().nice()
        assert (receiver.nice(), analyst.nice()) == (ours, min(ours + 10, 19))


def test_a_full_disk(tmp_path: Path, small_disk: SmallDisk) -> None:
    """On a full disk nothing is acknowledged; with room again the service goes on by itself, and all is there once."""
    requests = [*workload(6, 150), *bulk(30, 200)]
    expected = undisturbed(requests, tmp_path)
    service = Service(small_disk.path / "data")
    service.log = tmp_path / "service.log"
    with service, Load(service, requests, pause=0.02) as load:
        wait_until(lambda: len(load.acknowledged) > 30, "some acknowledged requests")
        children = [service.child("receiver"), service.child("analyst")]
        for progress in (60, 120):
            small_disk.fill()
            wait_until(lambda: refused_by_http(service, payload([S(9, 9)])), "the first refusal")
            before = len(load.acknowledged)
            for refused in DOORS:
                assert_come_back(refused(service, requests[-1] + requests[-2]), "queue.sqlite")
            time.sleep(2)
            assert len(load.acknowledged) <= before + 4  # one a client was on its way
            small_disk.make_room()
            wait_until(lambda progress=progress: len(load.acknowledged) > progress, "more of them")  # type: ignore[misc]
        wait_until(lambda: len(load.acknowledged) == len(requests), "all of them")
        wait_for_tables(service, expected)
        rows = service.query("SELECT trace_id, span_id FROM spans")
        assert len(rows) == len(set(rows)) == len(keys(requests))
        assert [service.child("receiver"), service.child("analyst")] == children
