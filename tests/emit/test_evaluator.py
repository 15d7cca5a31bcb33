"""The EVALUATOR span of an evaluation."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from evaluations import STRUCTURAL, Evaluation, evaluator_span
from golden import REGENERATE

GOLDEN = Path(__file__).with_name("golden") / "evaluator_span.json"

NOT_EVALUABLE = replace(STRUCTURAL, score=None, passed=None, label="not_evaluable", revision=3)


def attributes(items: Iterable[KeyValue]) -> dict[str, Any]:
    """Return attributes as a dict; a key that comes twice fails the test."""
    pairs = [(item.key, getattr(item.value, item.value.WhichOneof("value") or "")) for item in items]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def span_id(evaluation: Evaluation) -> bytes:
    """Return the id of its span."""
    return evaluator_span(evaluation).span_id


def test_golden() -> None:
    """The whole span, every field; WEAKLINK_REGENERATE=1 writes it anew."""
    got = MessageToDict(evaluator_span(STRUCTURAL))
    if REGENERATE:
        GOLDEN.write_text(json.dumps(got, indent=2, ensure_ascii=False) + "\n")
    assert got == json.loads(GOLDEN.read_text())


def test_it_is_a_point_in_the_same_trace_with_exactly_one_link_to_its_target() -> None:
    """Trace, times and the one link are the evaluation's."""
    span = evaluator_span(STRUCTURAL)
    assert span.trace_id.hex() == STRUCTURAL.trace_id
    assert [(link.trace_id.hex(), link.span_id.hex()) for link in span.links] == [
        (STRUCTURAL.trace_id, STRUCTURAL.span_id)
    ]
    assert span.start_time_unix_nano == span.end_time_unix_nano == 1772366400123456000
    assert span.kind == Span.SPAN_KIND_INTERNAL


def test_attributes_are_typed_as_the_reference_types_them() -> None:
    """eval.* as memledger sets them: a double, a bool, comma-joined ids."""
    got = attributes(evaluator_span(STRUCTURAL).attributes)
    assert {key: value for key, value in got.items() if not key.startswith("annotations.")} == {
        "openinference.span.kind": "EVALUATOR",
        "eval.name": "memory_attribution_integrity_structural",
        "eval.score": 0.7,
        "eval.passed": True,
        "eval.outcome": "pass",
        "eval.framework": "structural",
        "eval.record_ids": "m-1,m-2",
        "session.id": "incident-42",
    }


def test_one_genai_event_repeats_the_verdict() -> None:
    """One gen_ai.evaluation.result event with name, score, label and explanation."""
    (event,) = evaluator_span(STRUCTURAL).events
    assert event.name == "gen_ai.evaluation.result"
    assert event.time_unix_nano == 1772366400123456000
    assert attributes(event.attributes) == {
        "gen_ai.evaluation.name": STRUCTURAL.name,
        "gen_ai.evaluation.score.value": 0.7,
        "gen_ai.evaluation.score.label": "pass",
        "gen_ai.evaluation.explanation": STRUCTURAL.explanation,
    }


def test_a_failed_evaluation_says_fail() -> None:
    """A verdict of False is an outcome of its own, not a missing one."""
    got = attributes(evaluator_span(replace(STRUCTURAL, passed=False, label="fail", score=0.0)).attributes)
    assert got["eval.passed"] is False
    assert (got["eval.outcome"], got["eval.score"]) == ("fail", 0.0)


def test_null_scores_leave_score_and_outcome_out() -> None:
    """A target that ceased to be one has a label and no number."""
    span = evaluator_span(NOT_EVALUABLE)
    got = attributes(span.attributes) | attributes(span.events[0].attributes)
    absent = {"eval.score", "eval.passed", "eval.outcome"}
    absent |= {"annotations.0.annotation.score", "gen_ai.evaluation.score.value"}
    assert not absent & got.keys()
    assert got["annotations.0.annotation.label"] == got["gen_ai.evaluation.score.label"] == "not_evaluable"


def test_empty_session_and_records_are_left_out() -> None:
    """The reference sets session.id and eval.record_ids only when there is one."""
    got = attributes(evaluator_span(replace(STRUCTURAL, session_id="", record_ids="")).attributes)
    assert not {"session.id", "eval.record_ids"} & got.keys()


def test_the_time_zone_of_evaluated_at_does_not_matter() -> None:
    """The same instant in another zone is the same span."""
    moved = STRUCTURAL.evaluated_at.astimezone(timezone(timedelta(hours=9)))
    assert evaluator_span(replace(STRUCTURAL, evaluated_at=moved)) == evaluator_span(STRUCTURAL)


@pytest.mark.parametrize(
    "change",
    [
        {"revision": 3},
        {"name": "memory_attribution_integrity"},
        {"scope": "decision"},
        {"trace_id": "1af7651916cd43dd8448eb211c80319c"},
        {"rubric": "mai-structural-strict/1"},
        {"annotator_kind": "LLM"},
    ],
)
def test_span_id_differs_with_each_part_of_the_key(change: dict[str, Any]) -> None:
    """Another key or revision, another span."""
    assert span_id(replace(STRUCTURAL, **change)) != span_id(STRUCTURAL)


def test_span_id_is_stable_in_everything_else() -> None:
    """What the evaluation found, and which span stands for its trace, is not part of the key."""
    other = replace(STRUCTURAL, score=0.1, passed=False, span_id="00f067aa0ba902b7", session_id="x")
    assert span_id(other) == span_id(STRUCTURAL) == bytes.fromhex("31285fdd7e32a9ab")


def test_a_decisions_target_is_its_span() -> None:
    """Two decisions of one trace have evaluations of their own."""
    decision = replace(STRUCTURAL, scope="decision")
    assert span_id(decision) != span_id(replace(decision, span_id="00f067aa0ba902b7"))


def test_a_sessions_target_is_its_environment_and_id() -> None:
    """The trace that stands for a session does not matter, its environment does."""
    session = replace(STRUCTURAL, scope="session")
    assert span_id(replace(session, trace_id="f" * 32)) == span_id(session)
    assert span_id(replace(session, environment="staging")) != span_id(session)


def test_span_id_is_never_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """OTLP has no all-zero span id, whatever the hash says."""

    class Zero:
        def digest(self) -> bytes:
            return bytes(32)

    monkeypatch.setattr("hashlib.sha256", lambda _: Zero())
    assert span_id(STRUCTURAL) == bytes(7) + b"\x01"
