"""What a running service tells about itself: numbers that are scraped or sent, spans of its own, last errors."""

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest

from e2e.clients import grpc_export, http, post, send_by_grpc, send_by_http
from e2e.workload import keys, spans_of, workload
from metrics_sink import MetricsSink
from receive.harness import request, span
from scrape import Scraped, scrape
from shell import printed, refused
from sink import OtlpSink
from weaklink_processor.metrics import INSTRUMENTS
from weaklink_service import Service, free_port, wait_until

PROMETHEUS = "WEAKLINK_TELEMETRY__METRICS__PROMETHEUS__ENDPOINT"
METRICS = "WEAKLINK_TELEMETRY__METRICS__OTLP__ENDPOINT"
INTERVAL = "WEAKLINK_TELEMETRY__METRICS__OTLP__INTERVAL"
TRACES = "WEAKLINK_TELEMETRY__TRACES__OTLP__ENDPOINT"
NO_IDS = request(span("good"), span("bad", trace_id=b""), span("bad", span_id=b""))


def count(requests: list[bytes]) -> int:
    """How many spans are sent; some of them twice, as clients do."""
    return sum(len(spans_of(payload)) for payload in requests)


def test_a_scrape_has_what_happened(tmp_path: Path) -> None:
    """Every number equals what clients sent, what the sink got and what the views hold, under its documented name."""
    endpoint, requests = f"127.0.0.1:{free_port()}", workload(seed=21, requests=40)
    by_grpc, by_http = requests[:25], requests[25:]
    with OtlpSink() as sink, Service(tmp_path / "data", sink.endpoint, {PROMETHEUS: endpoint}) as service:
        assert f"  metrics      http://{endpoint}/metrics\n" in service.greeting
        before = scrape(endpoint)
        assert before.value("otelcol_receiver_accepted_spans") == before.value("otelcol_receiver_refused_spans") == 0
        send_by_grpc(service, by_grpc)
        send_by_http(service, by_http)
        assert post(service, NO_IDS).status == 200
        assert post(service, b"nonsense").status == 400
        assert http(service, "GET", "/healthz").status == 200
        spans = count(requests) + 1
        wait_until(lambda: service.count("spans") == len(keys(requests)) + 1, "the spans")
        wait_until(lambda: scrape(endpoint).value("weaklink_analysed_spans") == spans, "the analyst's count")
        wait_until(lambda: all_sent(service, sink, spans), "the sink's spans")
        wait_until(
            lambda: scrape(endpoint).value("otelcol_exporter_sent_spans") == len(sink.spans()), "the exporter's count"
        )
        scraped = scrape(endpoint)
        at_the_door = {
            labels: (
                scraped.value("otelcol_receiver_accepted_spans", receiver="otlp", transport=labels),
                scraped.value("otelcol_receiver_refused_spans", receiver="otlp", transport=labels),
                scraped.value("otelcol_receiver_requests", transport=labels, outcome="success"),
                scraped.value("otelcol_receiver_requests", transport=labels, outcome="refused"),
            )
            for labels in ("grpc", "http")
        }
        assert at_the_door == {
            "grpc": (count(by_grpc), 0, len(by_grpc), 0),
            "http": (count(by_http) + 1, 2, len(by_http) + 1, 1),
        }
        assert scraped.value("weaklink_accepted_bytes", transport="grpc") == sum(map(len, by_grpc))
        assert evaluations(scraped) == {
            (str(scope), str(verdict)): number
            for scope, verdict, number in service.query(
                "SELECT scope, CASE passed WHEN TRUE THEN 'pass' WHEN FALSE THEN 'fail' ELSE 'not_evaluable' END, "
                "count(*) FROM evaluation_history GROUP BY ALL"
            )
        }
        assert scraped.value("otelcol_exporter_queue_size", exporter=f"http://{sink.endpoint}", data_type="traces") == 0
        assert scraped.value("otelcol_exporter_queue_capacity", exporter=f"http://{sink.endpoint}") == 4 * 1024**3
        assert scraped.value("weaklink_step_duration_seconds_count") >= 1
        assert scraped.value("weaklink_step_duration_seconds_bucket", le="+Inf") == scraped.value(
            "weaklink_step_duration_seconds_count"
        )
        for name in ("receiver", "analyst"):
            process = service.child(name)
            assert process
            memory = scraped.value("otelcol_process_memory_rss", process=name)
            assert memory == pytest.approx(process.memory_info().rss, rel=0.5)
            assert scraped.value("otelcol_process_cpu_seconds", process=name) > 0
            assert 0 < scraped.value("otelcol_process_uptime", process=name) < 600
        told = {name.removesuffix("_total") for name in scraped.families} - {"target_info"}
        assert set(INSTRUMENTS) - told <= {"weaklink_errors", "otelcol_exporter_send_failed_spans"}
        assert told <= set(INSTRUMENTS)


def all_sent(service: Service, sink: OtlpSink, spans: int) -> bool:
    """Whether the sink has the original spans and the verdict on every trace."""
    verdicts = service.count("evaluation_history WHERE scope <> 'session' AND score IS NOT NULL")
    return verdicts > 0 and len(sink.spans()) >= spans + verdicts


def evaluations(scraped: Scraped) -> dict[tuple[str, str], float]:
    return {
        (sample.labels["scope"], sample.labels["verdict"]): sample.value
        for sample in scraped.samples
        if sample.name.startswith("weaklink_evaluations")
    }


def test_counts_outlive_a_child(tmp_path: Path) -> None:
    """A receiver that was killed and started again goes on counting where it was; its death is an error."""
    endpoint, requests = f"127.0.0.1:{free_port()}", workload(seed=22, requests=20)
    with Service(tmp_path / "data", settings={PROMETHEUS: endpoint}) as service:
        send_by_grpc(service, requests[:10])
        wait_until(
            lambda: scrape(endpoint).value("otelcol_receiver_accepted_spans") == count(requests[:10]), "its first count"
        )
        first = service.child("receiver")
        service.kill("receiver")
        wait_until(lambda: (now := service.child("receiver")) and now != first, "another receiver")
        wait_until(lambda: is_up(service), "a receiver that listens")
        send_by_grpc(service, requests[10:])
        wait_until(
            lambda: scrape(endpoint).value("otelcol_receiver_accepted_spans") == count(requests), "the whole count"
        )
        assert scrape(endpoint).value("weaklink_errors", process="serve") == 1


def is_up(service: Service) -> bool:
    try:
        return http(service, "GET", "/healthz").status == 200
    except OSError:
        return False


def test_what_waits_is_told(tmp_path: Path) -> None:
    """While a destination is away its queue grows in bytes, spans and seconds, and what it refuses is counted."""
    endpoint, requests = f"127.0.0.1:{free_port()}", workload(seed=23, requests=20)
    with OtlpSink() as sink, Service(tmp_path / "data", sink.endpoint, {PROMETHEUS: endpoint}) as service:
        sink.fail(grpc.StatusCode.UNAVAILABLE)
        send_by_grpc(service, requests)
        spans = count(requests)
        wait_until(lambda: scrape(endpoint).value("weaklink_analysed_spans") == spans, "the analyst")
        time.sleep(1)
        scraped, consumer = scrape(endpoint), f"forward:http://{sink.endpoint}"
        assert scraped.value("otelcol_exporter_queue_size", exporter=f"http://{sink.endpoint}") > 0
        assert scraped.value("weaklink_lag_spans", consumer=consumer) == pytest.approx(spans, rel=0.3)
        assert scraped.value("weaklink_lag_seconds", consumer=consumer) >= 1
        assert scraped.value("weaklink_lag_spans", consumer="analyst") == 0
        sink.fail(grpc.StatusCode.INVALID_ARGUMENT)
        exporter = f"http://{sink.endpoint}"
        wait_until(
            lambda: scrape(endpoint).value("otelcol_exporter_send_failed_spans", exporter=exporter) >= spans,
            "its refusals",
        )
        wait_until(lambda: scrape(endpoint).value("weaklink_lag_spans", consumer=consumer) == 0, "an empty queue")


def test_status_tells_of_trouble(tmp_path: Path) -> None:
    """While a service runs and after it, `weaklink status` has its destination's state and its last errors."""
    requests = workload(seed=28, requests=5)
    with OtlpSink() as sink, Service(tmp_path / "data", sink.endpoint) as service:
        look = partial(status, service)
        wait_until(lambda: look()["destinations"][0]["state"] == "answers", "a destination that answers")
        assert (look()["running"], look()["problems"]) == (True, [])
        sink.stop()
        send_by_grpc(service, requests)
        wait_until(lambda: look()["destinations"][0]["state"] == "away", "a destination that does not")
        consumer = f"forward:http://{sink.endpoint}"
        away = {one["consumer"]: one["since"] for one in look()["destinations"]}
        assert list(away) == [f"evaluations:http://{sink.endpoint}", consumer]
        assert look()["problems"] == [f"{name} has not answered since {since}" for name, since in away.items()]
        assert look()["lag"][consumer]["spans"] == count(requests)
        service.kill("analyst")
        wait_until(lambda: look()["errors"], "the error")
        assert look()["errors"][0]["text"] == "child died: child=analyst how=signal SIGKILL restart_in_seconds=0.2"
        sink.start()
        wait_until(lambda: look()["destinations"][0]["state"] == "answers", "a destination that is back")
        wait_until(lambda: look()["lag"][consumer]["rows"] == 0, "an empty queue")
    after = look()
    assert (after["running"], after["problems"]) == (False, ["no service is running"])
    assert (after["destinations"][0]["state"], len(after["errors"])) == ("unknown", 1)
    assert after["disk"]["queue"] > 0
    assert after["disk"]["lake"] > 0


def status(service: Service) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed("status", "--json", "--data-dir", service.data_dir))
    return found


def test_metrics_are_sent(tmp_path: Path) -> None:
    """An OTLP server gets the same numbers under the same names, the last ones when the service stops."""
    requests = workload(seed=24, requests=10)
    with MetricsSink() as sink:
        settings = {METRICS: sink.endpoint, INTERVAL: "500ms"}
        with Service(tmp_path / "data", settings=settings) as service:
            wait_until(lambda: sink.latest, "metrics")
            send_by_grpc(service, requests)
            assert service.stop() == 0
        assert sink.value("otelcol_receiver_accepted_spans", transport="grpc") == count(requests)
        assert sink.value("weaklink_analysed_spans") == count(requests)
        assert sink.resource["service.name"] == "weaklink"
        assert sink.latest["otelcol_receiver_accepted_spans"].sum.is_monotonic
        units = {name: INSTRUMENTS[name].unit for name in sink.latest}
        assert {name: metric.unit for name, metric in sink.latest.items()} == units


def test_steps_are_traced(tmp_path: Path) -> None:
    """With an endpoint for traces, each step of the analyst is a span there that says what it did."""
    requests = workload(seed=25, requests=10)
    with OtlpSink() as sink, Service(tmp_path / "data", settings={TRACES: f"http://{sink.endpoint}"}) as service:
        send_by_grpc(service, requests)
        wait_until(lambda: traced(sink) == count(requests), "a span of each step")
        assert {span.name for span in sink.spans()} == {"analyst.step"}
        assert {each.key for each in sink.spans()[0].attributes} == {
            "weaklink.rows",
            "weaklink.first_offset",
            "weaklink.spans",
            "weaklink.revisions",
        }
        assert service.count("spans") == len(keys(requests))


def traced(sink: OtlpSink) -> int:
    """How many spans the steps say that they had."""
    return sum(each.value.int_value for one in sink.spans() for each in one.attributes if each.key == "weaklink.spans")


def test_nothing_is_told_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's own variables, which may point at weaklink itself, make no metrics and no spans."""
    requests = workload(seed=26, requests=5)
    with OtlpSink() as sink:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://{sink.endpoint}")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"http://{sink.endpoint}")
        with Service(tmp_path / "data") as service:
            send_by_grpc(service, requests)
            wait_until(lambda: service.count("spans") == len(keys(requests)), "the spans")
            assert service.stop() == 0
        assert sink.attempts == []


def test_a_taken_port_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a Collector, say, has the port already, the service says so and does not start."""
    with OtlpSink() as other:
        monkeypatch.setenv(PROMETHEUS, other.endpoint)
        listening = ("--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")
        message = refused("serve", "--data-dir", tmp_path / "data", *listening)
    assert f"cannot listen on {other.endpoint} for metrics" in message


def test_a_stopping_service_keeps_or_refuses(tmp_path: Path) -> None:
    """Whoever calls while a service stops is acknowledged, or told UNAVAILABLE; what was acknowledged is there."""
    requests = workload(seed=27, requests=400)
    taken: list[bytes] = []
    codes: set[grpc.StatusCode] = set()
    with Service(tmp_path / "data") as service:
        with grpc_export(service) as export:
            calls = [(payload, export.future(payload, timeout=30)) for payload in requests]  # type: ignore[attr-defined]
            assert service.stop() == 0
            for payload, call in calls:
                if error := call.exception():
                    codes.add(error.code())
                else:
                    taken.append(payload)
        assert codes <= {grpc.StatusCode.UNAVAILABLE}
        service.start()
        wait_until(lambda: set(keys(taken)) <= set(service.query("SELECT trace_id, span_id FROM spans")), "the spans")
