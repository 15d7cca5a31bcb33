"""What a downstream OTLP server gets: the original spans, and a verdict on each trace with memory operations."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from e2e.clients import otlp_json, post, send_by_grpc, send_by_http, send_by_json
from e2e.forwarded import originals, verdicts
from e2e.settled import assert_equal, undisturbed, wait_for_tables
from e2e.workload import joined, keys, spans_of, workload
from otlp import S, payload, read, write
from receive.harness import JSON
from sink import OtlpSink
from weaklink_service import SENT, Service, tables, wait_until

QUIET = 4.0
"""Longer than a busy machine takes to send a test's requests: spans of one trace are in many of them."""
SETTINGS = {"WEAKLINK_ANALYSIS__QUIET_PERIOD": str(QUIET)}
NAME = "memory_attribution_integrity_structural"
THREE_TRACES_AND_A_DECISION = 4
NAMES = ("effective_confidence", "confidence_flag", "chain_depth", "chain_min_confidence", "weakest_id")
NUMBERS = f"""
    SELECT o.trace_id, o.span_id, {", ".join(f"v.{name}" for name in NAMES)}
    FROM memory_operations AS o
    INNER JOIN memory_versions AS v
        ON o.environment = v.environment AND o.memory_id = v.memory_id AND o.resolved_version = v.version
    QUALIFY row_number() OVER (PARTITION BY o.trace_id, o.span_id ORDER BY v.effective_confidence, o.ordinal) = 1
"""


@pytest.fixture
def sink() -> Iterator[OtlpSink]:
    with OtlpSink() as sink:
        yield sink


@pytest.fixture
def service(tmp_path: Path, sink: OtlpSink) -> Iterator[Service]:
    with Service(tmp_path / "data", forward=sink.endpoint, settings=SETTINGS) as service:
        yield service


def test_everything_goes_on_and_verdicts_come_along(service: Service, sink: OtlpSink) -> None:
    """Every request arrives byte for byte, once; so does a verdict on every trace with memory operations, and on every
    decision that relied on a memory, and nothing else."""
    requests = workload(seed=3, requests=60)
    send_by_grpc(service, requests[::2])
    send_by_http(service, requests[1::2])
    wait_until(lambda: len(originals(sink)) >= len(requests), "all requests at the sink")
    wait_until(lambda: service.count("spans") == len(keys(requests)), "all spans in the lake")
    rows = "SELECT trace_id FROM memory_operations WHERE operation IN ('read', 'write')"
    remembering = {("trace", str(trace_id)) for (trace_id,) in service.query(rows)}
    of_traces = "evaluations WHERE scope = 'trace'"
    wait_until(lambda: service.count(of_traces) >= len(remembering), "all verdicts in the lake")
    deciding = service.query("SELECT 'decision', trace_id, span_id FROM decisions WHERE len(memory_ids) > 0")
    wait_until(lambda: len(verdicts(sink)) >= len(remembering) + len(deciding), "all verdicts at the sink")
    assert Counter(originals(sink)) == Counter(requests)
    judged = [(scope(span), span.trace_id.hex(), span.links[0].span_id.hex()) for span in verdicts(sink)]
    assert Counter((*key,) for *key, _ in judged if key[0] == "trace") == Counter(remembering)
    assert Counter(key for key in judged if key[0] == "decision") == Counter(deciding)
    assert len(judged) == len(remembering) + len(deciding) == service.count(SENT)
    assert len(deciding) > 10
    assert service.count("(SELECT DISTINCT trace_id FROM spans)") > len(remembering)


LATE_SECONDS = 6.0
"""How long after its evaluation a trace's last span comes; tests/analyst/test_step.py, with its own clock, takes 60."""


def test_a_late_span_makes_a_revision_if_a_verdict_changes(service: Service, sink: OtlpSink) -> None:
    """A trace judged already is judged again with a late span: revision 2 if a score or a verdict changes, else none;
    one EVALUATOR span each."""
    send_by_grpc(service, [payload([write(1, 1, "fact", 0.9, 1), write(2, 1, "other", 0.9, 1)])])
    wait_until(lambda: service.count("evaluations WHERE scope = 'trace'") == 2, "both verdicts in the lake")
    time.sleep(LATE_SECONDS)
    send_by_grpc(service, [payload([read(1, 2, "fact", 0.2, 60), read(2, 2, "other", 0.9, 60)])])
    wait_until(lambda: service.count("evaluation_history WHERE revision = 2"), "the second revision in the lake")
    wait_until(lambda: len(verdicts(sink)) >= service.count(SENT), "the verdicts at the sink")
    told = service.query("SELECT trace_id, revision, passed FROM evaluation_history WHERE scope = 'trace' ORDER BY ALL")
    assert told == [(f"{1:032x}", 1, True), (f"{1:032x}", 2, False), (f"{2:032x}", 1, True)]
    assert service.query("SELECT span_count FROM evaluations WHERE scope = 'trace'") == [(2,), (2,)]
    sent = Counter((scope(span), span.trace_id.hex(), passed(span)) for span in verdicts(sink))
    assert sent == Counter(
        [*(("trace", trace, verdict) for trace, _, verdict in told), *(("decision", f"{n:032x}", True) for n in (1, 2))]
    )


def scope(span: Span) -> str:
    return {"evaluators.mai_structural": "trace", "evaluators.mai_deterministic": "decision"}[span.name]


def passed(span: Span) -> object:
    return values(span.attributes)["eval.passed"]


def test_namespaces_tell_memories_apart(tmp_path: Path, sink: OtlpSink) -> None:
    """With analysis.service_namespace, one id in two namespaces is two memories, each with its own confidence; verdicts
    leave with the namespace and the environment of the spans that they judge."""
    settings = SETTINGS | {"WEAKLINK_ANALYSIS__SERVICE_NAMESPACE": "true"}
    shop, bank = ({"namespace": name, "environment": "prod"} for name in ("shop", "bank"))
    spans = [
        write(1, 1, "fact", 0.2, 1, **shop),
        write(2, 1, "fact", 0.9, 1, **bank),
        read(3, 1, "fact", 0.9, 2, **bank),
    ]
    with Service(tmp_path / "data", forward=sink.endpoint, settings=settings) as service:
        send_by_grpc(service, [payload(spans)])
        wait_until(
            lambda: len(verdicts(sink)) >= THREE_TRACES_AND_A_DECISION, "verdicts of three traces and a decision"
        )
        asked = "SELECT environment, declared_confidence, read_count FROM memories ORDER BY ALL"
        assert service.query(asked) == [("bank/prod", 0.9, 1), ("shop/prod", 0.2, 0)]
        assert set(service.query("SELECT environment FROM spans")) == {("bank/prod",), ("shop/prod",)}
    resources = [
        {item.key: item.value.string_value for item in each.resource.attributes}
        for request in sink.requests
        for each in ExportTraceServiceRequest.FromString(request).resource_spans
        if each.scope_spans[0].scope.name == "weaklink"
    ]
    assert {(one["service.namespace"], one["deployment.environment.name"]) for one in resources} == {
        ("shop", "prod"),
        ("bank", "prod"),
    }


def test_a_verdict_in_full(service: Service, sink: OtlpSink) -> None:
    """The EVALUATOR span has the attributes, the event and the one link that backends know, from its evaluation."""
    root = S(7, 1, "invoke_agent", end=5, service="checkout", environment="production")
    more = {"parent": 1, "service": "checkout", "environment": "production", "session": "s-9"}
    spans = [root, read(7, 2, "guess", 0.3, 1, **more), write(7, 3, "plan", 0.9, 2, parents=["guess"], **more)]
    send_by_grpc(service, [payload(spans)])
    wait_until(lambda: verdicts(sink), "the verdicts")
    verdict, decision = sorted(verdicts(sink), key=scope, reverse=True)
    (resource,) = ExportTraceServiceRequest.FromString(sink.requests[-1]).resource_spans
    wait_until(lambda: service.count("evaluations"), "the evaluation in the lake")
    row = "SELECT explanation, rubric, revision FROM evaluations WHERE scope = 'trace'"
    ((explanation, rubric, revision),) = service.query(row)
    checks = service.query("SELECT check_name, passed, weight, detail FROM evaluation_checks WHERE scope = 'trace'")

    trace_id, target = (7).to_bytes(16), (1).to_bytes(8)
    assert (verdict.trace_id, verdict.parent_span_id) == (trace_id, target)
    assert verdict.span_id not in {span_id.to_bytes(8) for span_id in range(4)}
    assert verdict.start_time_unix_nano == verdict.end_time_unix_nano == verdict.events[0].time_unix_nano
    assert list(verdict.links) == [Span.Link(trace_id=trace_id, span_id=target)]
    attributes = values(verdict.attributes)
    metadata = json.loads(str(attributes.pop("annotations.0.annotation.metadata")))
    assert attributes == {
        "openinference.span.kind": "EVALUATOR",
        "eval.name": NAME,
        "eval.score": 0.5,
        "eval.passed": False,
        "eval.outcome": "fail",
        "eval.framework": "structural",
        "eval.record_ids": "guess,plan",
        "session.id": "s-9",
        "annotations.0.annotation.name": NAME,
        "annotations.0.annotation.score": 0.5,
        "annotations.0.annotation.label": "fail",
        "annotations.0.annotation.explanation": explanation,
        "annotations.0.annotation.annotator_kind": "CODE",
        "annotations.0.annotation.identifier": "mai-structural/1",
    }
    assert {key: metadata[key] for key in ("rubric", "revision", "scope", "span_count", "threshold")} == {
        "rubric": rubric, "revision": revision, "scope": "trace", "span_count": 2, "threshold": 0.7,
    }  # fmt: skip
    assert sorted(tuple(check.values()) for check in metadata["checks"]) == sorted(checks)
    (event,) = verdict.events
    assert (event.name, values(event.attributes)) == (
        "gen_ai.evaluation.result",
        {
            "gen_ai.evaluation.name": NAME,
            "gen_ai.evaluation.score.value": 0.5,
            "gen_ai.evaluation.score.label": "fail",
            "gen_ai.evaluation.explanation": explanation,
        },
    )
    judged = values(decision.attributes)
    assert (judged["eval.name"], judged["eval.score"], judged["eval.record_ids"]) == (
        "memory_attribution_integrity", 0.4, "guess",
    )  # fmt: skip
    assert json.loads(str(judged["annotations.0.annotation.metadata"]))["score_effective"] == 0.4
    about = values(resource.resource.attributes)
    assert (about["service.name"], about["deployment.environment.name"]) == ("checkout", "production")


def test_verdicts_that_come_back_change_nothing(service: Service, sink: OtlpSink, tmp_path: Path) -> None:
    """Sent into weaklink again, alone or among other spans, they are neither stored, analysed nor forwarded."""
    requests = workload(seed=33, requests=20)
    send_by_grpc(service, requests)
    wait_for_tables(service, undisturbed(requests, tmp_path))  # till the last trace is judged
    wait_until(lambda: len(verdicts(sink)) >= service.count(SENT) > 0, "the verdicts")
    wait_until(lambda: len(originals(sink)) == len(requests), "all requests at the sink")
    before, seen = tables(service.data_dir), list(sink.requests)
    returning = [request for request in seen if request not in requests]
    marker = payload([S(99_999, 1, "marker")])

    send_by_http(service, [*returning, joined([*returning, marker])])
    send_by_json(service, returning)
    wait_until(lambda: service.count("spans WHERE name = 'marker'"), "the marker")
    wait_until(lambda: len(sink.requests) > len(seen), "the marker at the sink")
    send_by_grpc(service, [last := payload([S(99_999, 2, "marker")])])
    wait_until(lambda: last in sink.requests, "the second marker at the sink")
    time.sleep(QUIET + 1)  # long enough for a trace that were taken up again to be judged again

    after = tables(service.data_dir)
    markers = [row for row in after["spans"] if "marker" in row]
    assert len(markers) == 2
    assert_equal({**after, "spans": [row for row in after["spans"] if row not in markers]}, before)
    assert service.count("evaluation_history") == len(before["evaluations"])
    (without_own, with_last) = sink.requests[len(seen) :]
    assert [span.name for span in spans_of(without_own)] == ["marker"]
    assert with_last == last


def test_json_goes_on_as_protobuf(service: Service, sink: OtlpSink) -> None:
    """A JSON request reaches the sink as a protobuf request that says the same."""
    (request,) = workload(seed=5, requests=1, spans_each=40)
    assert post(service, otlp_json(request), JSON).status == 200
    wait_until(lambda: originals(sink), "the request at the sink")
    assert ExportTraceServiceRequest.FromString(originals(sink)[0]) == ExportTraceServiceRequest.FromString(request)


def test_memory_spans_leave_with_their_numbers(tmp_path: Path, sink: OtlpSink) -> None:
    """With forward.enrich, a span has the numbers of the weakest version it touches, and all else is as it came."""
    plain = payload([S(99_999, 1, "tool call"), S(99_999, 2, "tool call")])
    everything = joined(workload(seed=8, requests=40))
    settings = SETTINGS | {"WEAKLINK_FORWARD__ENRICH": "true"}
    with Service(tmp_path / "data", forward=sink.endpoint, settings=settings) as service:
        send_by_grpc(service, [everything, plain])
        wait_until(lambda: len(originals(sink)) == 2, "both requests at the sink")
        sent = len(keys([everything, plain]))
        wait_until(lambda: service.count("spans") == sent, "all spans in the lake")
        rows = service.query(NUMBERS)
    expected = {tuple(map(str, row[:2])): dict(zip(NAMES, row[2:], strict=True)) for row in rows}
    assert plain in originals(sink)
    (enriched,) = [request for request in originals(sink) if request != plain]
    message = ExportTraceServiceRequest.FromString(enriched)
    found = {}
    for span in (span for each in message.resource_spans for scope in each.scope_spans for span in scope.spans):
        ours = [each for each in span.attributes if each.key.startswith("weaklink.memory.")]
        if ours:
            assert list(span.attributes)[-len(ours) :] == ours
            del span.attributes[-len(ours) :]
            found[span.trace_id.hex(), span.span_id.hex()] = dict.fromkeys(NAMES) | typed_values(ours)
    assert found == expected
    assert len(spans_of(everything)) > len(found) > 100
    assert {numbers["chain_min_confidence"] is None for numbers in found.values()} == {True, False}
    assert message.SerializeToString() == everything


def test_what_does_nothing_is_told(tmp_path: Path) -> None:
    """Settings of an endpoint that is not there are named in the log; refused they are not, as it may be elsewhere."""
    settings = {"WEAKLINK_FORWARD__ENRICH": "true", "WEAKLINK_FORWARD__HEADERS": "key=s3cret"}
    with Service(tmp_path / "data", settings=settings) as service:
        assert service.stop() == 0
    (line,) = [line for line in service.log.read_text().splitlines() if "without effect" in line]
    assert "'forward.headers', 'forward.enrich', 'forward.retry_on_failure'" in line
    assert "s3cret" not in line
    with OtlpSink() as sink, Service(tmp_path / "other", sink.endpoint, settings) as service:
        assert service.stop() == 0
    assert "without effect" not in service.log.read_text()


def test_downstream_away(tmp_path: Path) -> None:
    """What was taken while downstream was away arrives once when it is back, even after a restart."""
    with OtlpSink() as sink:
        sink.stop()
        requests = workload(seed=6, requests=20)
        with Service(tmp_path / "data", forward=sink.endpoint) as service:
            send_by_grpc(service, requests[:10])
            wait_until(lambda: service.count("evaluations"), "the first verdicts")
            assert service.stop() == 0
            service.start()
            send_by_grpc(service, requests[10:])
            sink.start()
            wait_until(lambda: len(originals(sink)) >= len(requests), "all requests at the sink")
            wait_until(lambda: len(verdicts(sink)) >= service.count(SENT), "all verdicts at the sink")
            assert Counter(originals(sink)) == Counter(requests)
            assert len({(span.trace_id, span.span_id) for span in verdicts(sink)}) == len(verdicts(sink))


def typed_values(attributes: Iterable[KeyValue]) -> dict[str, object]:
    """The values without the prefix of their names, each as the type it was sent as."""
    return {
        each.key.removeprefix("weaklink.memory."): getattr(each.value, str(each.value.WhichOneof("value")))
        for each in attributes
    }


def values(attributes: Iterable[KeyValue]) -> dict[str, object]:
    return {each.key: next(iter(MessageToDict(each.value).values())) for each in attributes}
