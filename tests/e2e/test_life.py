"""Starting, stopping and starting again."""

import asyncio
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from e2e.clients import Load, send_by_grpc
from e2e.settled import assert_equal, undisturbed, wait_for_tables
from e2e.workload import keys, workload
from incident import tell
from shell import refused
from weaklink_service import Service, free_port, tables, wait_until

STOP_SECONDS = 10.0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_stop_under_load(number: signal.Signals, tmp_path: Path) -> None:
    """A signal amid a load ends the service within 10 s, exit code 0; what it acknowledged is there when it is back."""
    with Service(tmp_path / "data") as service:
        with Load(service, workload(seed=8, requests=2000)) as load:
            wait_until(lambda: len(load.acknowledged) > 100, "a load")
            begun = time.monotonic()
            code = service.stop(number)
            took = time.monotonic() - begun
            load.give_up()
        assert (code, took < STOP_SECONDS) == (0, True), took
        assert 100 < len(load.acknowledged) < 2000
        service.start()
        assert keys(load.acknowledged) <= set(service.query("SELECT trace_id, span_id FROM spans"))
        assert service.count("(SELECT DISTINCT trace_id, span_id FROM spans)") == service.count("spans")
    assert "Traceback" not in service.log.read_text()


def test_a_restart_keeps_everything_and_a_second_service_is_refused(tmp_path: Path) -> None:
    """Tables after a restart are those before it, and grow on; meanwhile nobody else gets the folder."""
    requests = workload(seed=9, requests=40)
    with Service(tmp_path / "data") as service:
        send_by_grpc(service, requests[:20])
        (tmp_path / "half").mkdir()
        wait_for_tables(service, half := undisturbed(requests[:20], tmp_path / "half"))
        ports = [f"127.0.0.1:{free_port()}" for _ in range(2)]
        message = refused("serve", "--data-dir", service.data_dir, "--grpc", ports[0], "--http", ports[1])
        assert "is in use by another weaklink" in message
        assert service.stop() == 0
        service.start()
        assert_equal(tables(service.data_dir), half)
        send_by_grpc(service, requests[20:])
        wait_for_tables(service, undisturbed(requests, tmp_path))


SETTINGS: Mapping[str, tuple[Mapping[str, str], list[tuple[object, ...]]]] = {
    "lower thresholds": (
        {"WEAKLINK_ANALYSIS__MIN_THRESHOLD": "0.2", "WEAKLINK_ANALYSIS__FLAG_THRESHOLD": "0.5"},
        [("triage", 0.30, "FLAG"), ("diagnosis", 0.30, "FLAG"), ("action", 0.30, "FLAG")],
    ),
    "one hop": (
        {"WEAKLINK_ANALYSIS__MAX_HOPS": "1"},
        [("triage", 0.30, "FILTER"), ("diagnosis", 0.30, "FILTER"), ("action", 0.85, "PASS")],
    ),
    "the defaults again": (
        {},
        [("triage", 0.30, "FILTER"), ("diagnosis", 0.30, "FILTER"), ("action", 0.30, "FILTER")],
    ),
}


DECIDED = "evaluations WHERE scope = 'decision'"


def test_changed_settings_apply_to_what_is_stored(tmp_path: Path) -> None:
    """A service started with other thresholds or hops shows stored memories as if they had always been so."""
    data_dir = tmp_path / "data"
    with Service(data_dir) as service:
        provider = TracerProvider()
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=service.grpc, insecure=True)))
        asyncio.run(tell(provider, tmp_path, one_trace=True))
        provider.shutdown()
        wait_until(lambda: service.count("evaluations"), "the verdict")
        original = tables(data_dir)
    for settings, expected in SETTINGS.values():
        with Service(data_dir, settings=settings) as service:
            found = service.query(
                "SELECT agent_id, effective_confidence, confidence_flag FROM memories ORDER BY written_at"
            )
            assert found == expected
            flags = service.query(
                "SELECT DISTINCT confidence_flag FROM memory_operations WHERE confidence_flag IS NOT NULL"
            )
            assert {flag for (flag,) in flags} <= {flag for *_, flag in expected}
            if not settings:
                wait_for_tables(service, original)  # what is stored is judged again, too


def test_changed_numbers_of_verdicts_judge_again(tmp_path: Path) -> None:
    """A stored trace passes or fails by the threshold of the service that runs, and decisions lose points by its
    numbers: verdicts by the name that those had before are none any more."""
    data_dir = tmp_path / "data"
    with Service(data_dir) as service:
        send_by_grpc(service, workload(seed=10, requests=10))
        wait_until(lambda: service.count("evaluations WHERE score < 0.7 AND NOT passed"), "a failed trace")
        wait_until(lambda: service.count(DECIDED) == service.count("decisions") > 0, "every decision's verdict")
        decisions = service.count(DECIDED)
    attribution = {"NAME": "own/1", "UNATTRIBUTED": "0.9", "CORROBORATED": "0"}
    own = {f"WEAKLINK_ANALYSIS__ATTRIBUTION__{key}": value for key, value in attribution.items()}
    with Service(data_dir, settings={"WEAKLINK_ANALYSIS__THRESHOLD": "0", **own}) as service:
        wait_until(lambda: service.count("evaluations WHERE NOT passed") == 0, "every trace to pass")
        wait_until(
            lambda: service.count(f"{DECIDED} AND rubric = 'own/1'") == decisions, "every decision's new verdict"
        )
        assert (
            service.count("evaluations WHERE passed AND threshold = 0") == service.count("evaluations WHERE passed") > 0
        )
        assert service.count(DECIDED) == decisions
        assert service.count("evaluation_checks WHERE check_name = 'attribution_complete' AND weight < -0.4") > 0
