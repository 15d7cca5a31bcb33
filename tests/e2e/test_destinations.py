"""Several downstream servers, over both protocols: each gets what it is to get, once, whatever the others do."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from e2e.clients import Load, grpc_export, send_by_grpc
from e2e.forwarded import originals, verdicts
from e2e.workload import workload
from http_sink import HttpSink
from scrape import scrape
from shell import printed, refused, weaklink
from sink import OtlpSink, Sink
from weaklink_processor import wiring
from weaklink_processor.config import Config
from weaklink_processor.queue import framing
from weaklink_processor.queue.store import QueueStats
from weaklink_service import SENT, Service, free_port, wait_until

SETTLED_SECONDS = 2.0
"""More than the quiet period after which a trace is judged, and a turn of the analyst."""

QUICKLY = {"initial_interval": 0.2, "max_interval": 0.5}


@pytest.fixture
def near() -> Iterator[OtlpSink]:
    with OtlpSink() as sink:
        yield sink


@pytest.fixture
def far() -> Iterator[HttpSink]:
    with HttpSink() as sink:
        yield sink


def over(sink: OtlpSink | HttpSink, **more: object) -> dict[str, object]:
    """A destination's settings."""
    protocol = "grpc" if isinstance(sink, OtlpSink) else "http/protobuf"
    return {"endpoint": sink.endpoint, "protocol": protocol, "retry_on_failure": QUICKLY, **more}


def serving(folder: Path, more: dict[str, str] | None = None, **destinations: dict[str, object]) -> Service:
    return Service(folder, settings={"WEAKLINK_FORWARD__DESTINATIONS": json.dumps(destinations)} | (more or {}))


def queue_of(service: Service) -> tuple[QueueStats, dict[str, int]]:
    """What waits, and what was passed over."""
    with wiring.open_queue(Config(data_dir=service.data_dir)) as queue:
        return queue.stats(), queue.passed_over()


def assert_once_each(sink: Sink[Any], requests: list[bytes], evaluations: int) -> None:
    """Every request byte for byte, and every evaluation."""
    assert Counter(originals(sink)) == Counter(requests)
    assert_evaluations_once_each(sink, evaluations)


def assert_evaluations_once_each(sink: Sink[Any], evaluations: int) -> None:
    found = Counter((span.trace_id, span.span_id) for span in verdicts(sink))
    assert (len(found), set(found.values())) == (evaluations, {1})


def made(service: Service) -> int:
    """How many evaluations there are to send, once no more are made."""
    wait_until(lambda: service.count(SENT), "the first verdicts")
    last, since = 0, time.monotonic()
    while time.monotonic() - since < SETTLED_SECONDS:
        now = service.count(SENT)
        if now != last or not is_analysed(service):
            last, since = now, time.monotonic()
        time.sleep(0.1)
    return last


def test_one_that_is_away_holds_up_no_other(tmp_path: Path, near: OtlpSink, far: HttpSink) -> None:
    """The one that is there gets everything meanwhile; the other gets it when it is back, after a restart too."""
    far.stop()
    requests = workload(seed=61, requests=24)
    with serving(tmp_path / "data", near=over(near), far=over(far, compression="gzip")) as service:
        send_by_grpc(service, requests[:12])
        wait_until(lambda: len(originals(near)) == 12, "the first half nearby")
        assert service.stop() == 0
        service.start()
        send_by_grpc(service, requests[12:])
        wait_until(lambda: len(originals(near)) == 24, "all requests nearby")
        evaluations = made(service)
        wait_until(lambda: len(verdicts(near)) >= evaluations, "all verdicts nearby")
        assert far.requests == []
        far.start()
        wait_until(lambda: len(originals(far)) >= 24, "all requests far away")
        wait_until(lambda: len(verdicts(far)) >= evaluations, "all verdicts far away")
        for sink in (near, far):
            assert_once_each(sink, requests, evaluations)
        assert {attempt.metadata["content-encoding"] for attempt in far.attempts} == {"gzip"}
        assert service.stop() == 0
    waiting, _ = queue_of(service)
    assert set(waiting.consumers) == {
        "analyst", "forward:near", "evaluations:near", "forward:far", "evaluations:far",
    }  # fmt: skip


def test_each_gets_what_it_is_to_get(tmp_path: Path, near: OtlpSink, far: HttpSink) -> None:
    """Original spans, evaluations, and those of sessions are chosen for each destination, also for the unnamed one."""
    requests = workload(seed=62, requests=20)
    with OtlpSink() as third:
        unnamed = {"ENDPOINT": third.endpoint, "SPANS": "false"}
        more = {f"WEAKLINK_FORWARD__{name}": value for name, value in unnamed.items()}
        destinations = {"near": over(near, evaluations=False), "far": over(far, spans=False, sessions=True)}
        with serving(tmp_path / "data", more, **destinations) as service:
            send_by_grpc(service, requests)
            evaluations = made(service)
            wait_until(lambda: len(verdicts(third)) >= evaluations, "all verdicts")
            wait_until(lambda: len(verdicts(far)) > evaluations, "verdicts on sessions too")
            wait_until(lambda: len(near.requests) >= 20, "all requests")
            assert Counter(near.requests) == Counter(requests)
            assert (originals(third), originals(far)) == ([], [])
            assert_evaluations_once_each(third, evaluations)
            assert_evaluations_once_each(far, len(verdicts(far)))


def test_the_oldest_is_passed_over(tmp_path: Path, near: OtlpSink, far: HttpSink) -> None:
    """With drop_oldest a destination is left behind, and told so: each request is at it or counted, and elsewhere."""
    far.stop()
    requests = workload(seed=63, requests=60)
    bounded = over(far, sending_queue={"on_full": "drop_oldest", "max_bytes": 20_000})
    with serving(tmp_path / "data", near=over(near), far=bounded) as service:
        for half in (requests[:30], requests[30:]):
            send_by_grpc(service, half)
            evaluations = made(service)
        wait_until(lambda: len(originals(near)) == 60, "all requests nearby")
        wait_until(lambda: len(verdicts(near)) >= evaluations, "all verdicts nearby")
        wait_until(lambda: len(queue_of(service)[1]) == 2, "what is passed over")
        far.start()
        wait_until(lambda: sum_of(far, service) == (60, service.count(SENT)), "each request taken or counted")
        left = len(originals(far))
        assert 0 < left < 60
        assert set(originals(far)) == set(requests[-left:])
        wait_until(lambda: len(verdicts(near)) >= service.count(SENT), "the latest verdicts nearby")
        assert_once_each(near, requests, service.count(SENT))
    assert "passed over: forward:far" in printed("status", "--data-dir", tmp_path / "data")
    assert "passed_over" in service.log.read_text()


@pytest.mark.parametrize("on_full", ["block", "drop_oldest"])
def test_evaluations_that_wait_are_told(tmp_path: Path, far: HttpSink, on_full: str) -> None:
    """Whether or not they hold up the queue: that their destination is away, how many wait and for how long."""
    far.stop()
    metrics, name = f"127.0.0.1:{free_port()}", "evaluations:far"
    settings = {"WEAKLINK_TELEMETRY__METRICS__PROMETHEUS__ENDPOINT": metrics}
    own = over(far, spans=False, sending_queue={"on_full": on_full})
    with serving(tmp_path / "data", settings, far=own) as service:
        send_by_grpc(service, workload(seed=66, requests=5))
        evaluations = made(service)
        wait_until(lambda: problems(service) and f"{name} has not answered" in problems(service)[0], "a word")
        assert weaklink("status", "--check", "--data-dir", service.data_dir).returncode == 1
        wait_until(lambda: told(service)["lag"][name]["spans"] == evaluations, "the evaluations")
        assert told(service)["lag"][name]["seconds"] >= SETTLED_SECONDS
        shown = scrape(metrics)
        assert shown.value("weaklink_lag_spans", consumer=name) == evaluations
        assert shown.value("weaklink_lag_seconds", consumer=name) >= SETTLED_SECONDS
        assert shown.value("otelcol_exporter_queue_size", exporter="far") > 0
        far.start()
        wait_until(lambda: (told(service)["lag"][name]["spans"], problems(service)) == (0, []), "nothing that waits")
    with serving(tmp_path / "data") as service:
        wait_until(lambda: told(service)["destinations"] == [] and list(told(service)["lag"]) == ["analyst"], "none")


def told(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed("status", "--json", "--data-dir", service.data_dir))
    return found


def problems(service: Service) -> list[str]:
    found: list[str] = told(service)["problems"]
    return found


def sum_of(sink: Sink[Any], service: Service) -> tuple[int, int]:
    """Requests and evaluations that the sink has or that were passed over for it."""
    _, passed = queue_of(service)
    return (
        len(originals(sink)) + passed.get("forward:far", 0),
        len(verdicts(sink)) + passed.get("evaluations:far", 0),
    )


@pytest.mark.parametrize("what", ["spans", "evaluations"])
def test_what_blocks_refuses_senders(tmp_path: Path, far: HttpSink, what: str) -> None:
    """A destination that is away fills the queue, with evaluations that wait too; when it is back, all goes on."""
    far.stop()
    other = {"spans": "evaluations", "evaluations": "spans"}[what]
    requests = workload(seed=64, requests=80)
    with serving(tmp_path / "data", {"WEAKLINK_QUEUE__MAX_BYTES": "20000"}, far=over(far, **{other: False})) as service:
        send_by_grpc(service, requests[:10])
        made(service)
        with grpc_export(service) as export:
            sent = next(number for number in range(10, 80) if not taken(export, requests[number]))
            wait_until(lambda: is_analysed(service), "the analysis")
            assert not taken(export, requests[sent])
        far.start()
        with Load(service, requests[sent:]):
            pass
        if what == "spans":
            wait_until(lambda: len(originals(far)) == len(requests), "all requests")
            assert Counter(far.requests) == Counter(requests)
        else:
            made(service)
            wait_until(lambda: len(verdicts(far)) >= service.count(SENT), "all verdicts")
            assert_once_each(far, [], service.count(SENT))


def taken(export: Callable[..., ExportTraceServiceResponse], request: bytes) -> bool:
    try:
        export(request, timeout=30)
    except grpc.RpcError as error:
        assert error.code() is grpc.StatusCode.UNAVAILABLE  # noqa: PT017  any other is a failure
        return False
    return True


def is_analysed(service: Service) -> bool:
    waiting, _ = queue_of(service)
    return waiting.consumers["analyst"] == waiting.last_offset


def test_one_that_is_taken_out_holds_nothing_back(tmp_path: Path, near: OtlpSink, far: HttpSink) -> None:
    """What waited for it alone is let go, by a service that says so, not by a replay that does not know of it; one that
    is added gets what still waits for another."""
    near.stop()
    requests = workload(seed=65, requests=10)
    with serving(tmp_path / "data", near=over(near)) as service:
        send_by_grpc(service, requests)
        wait_until(lambda: service.count("evaluations"), "the first verdicts")
    assert queue_of(service)[0].rows > 0
    with serving(tmp_path / "data", near=over(near), far=over(far)) as service:
        wait_until(lambda: len(originals(far)) == 10, "what waited")
        evaluations = made(service)
        wait_until(lambda: len(verdicts(far)) >= evaluations, "the verdicts")
    assert_once_each(far, requests, evaluations)
    file = tmp_path / "more.binpb"
    file.write_bytes(framing.join(workload(seed=66, requests=1)))
    before = queue_of(service)[0]
    assert "near, which these settings do not have" in refused("replay", file, "--data-dir", service.data_dir)
    assert queue_of(service)[0] == before
    with serving(tmp_path / "data", far=over(far)) as service:
        wait_until(lambda: queue_of(service)[0].rows == 0, "nothing to wait")
    assert "what waited for a destination that is not configured is let go" in service.log.read_text()
    assert set(queue_of(service)[0].consumers) == {"analyst", "forward:far", "evaluations:far"}
    assert_once_each(far, requests, evaluations)
