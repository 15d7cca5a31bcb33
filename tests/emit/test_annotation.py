"""What an annotation says of an evaluation."""

import json
from dataclasses import replace
from typing import Any

import pytest

from emit.test_evaluator import NOT_EVALUABLE, attributes
from evaluations import STRUCTURAL, Evaluation, evaluator_span
from weaklink_processor.emit.annotation import Annotation, annotation, annotation_request
from weaklink_processor.emit.feed import OutboxRow

DECISION = replace(STRUCTURAL, name="memory_attribution_integrity", scope="decision")
SESSION = replace(STRUCTURAL, scope="session")


def told(evaluation: Evaluation, seq: int = 1) -> Annotation:
    span = evaluator_span(evaluation)
    return annotation(OutboxRow(seq, span.SerializeToString(), evaluation.service_name, evaluation.environment))


def content(evaluation: Evaluation) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(evaluation).content)
    return found


def test_an_annotation_in_full() -> None:
    """It has what the EVALUATOR span has, and the trace for its target."""
    span = attributes(evaluator_span(STRUCTURAL).attributes)
    assert content(STRUCTURAL) == {
        "trace_id": STRUCTURAL.trace_id,
        "name": span["annotations.0.annotation.name"],
        "annotator_kind": span["annotations.0.annotation.annotator_kind"],
        "identifier": "mai-structural/1",
        "result": {
            "label": span["annotations.0.annotation.label"],
            "score": span["annotations.0.annotation.score"],
            "explanation": span["annotations.0.annotation.explanation"],
        },
        "metadata": json.loads(span["annotations.0.annotation.metadata"]),
    }
    assert content(STRUCTURAL)["result"] == {
        "label": "pass", "score": 0.7, "explanation": STRUCTURAL.explanation,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("evaluation", "kind", "target"),
    [
        (STRUCTURAL, "trace_id", STRUCTURAL.trace_id),
        (DECISION, "span_id", DECISION.span_id),
        (SESSION, "session_id", SESSION.session_id),
    ],
    ids=["trace", "decision", "session"],
)
def test_the_target_is_that_of_its_scope(evaluation: Evaluation, kind: str, target: str) -> None:
    """A trace's evaluation is about the trace, a decision's about its span, a session's about the session."""
    assert content(evaluation)[kind] == target
    assert (told(evaluation).kind, told(evaluation).target) == (kind, target)


def test_a_revision_takes_the_place_of_the_one_before() -> None:
    """Phoenix keeps one of each name, target and identifier: revisions share all three, other evaluations do not."""
    revisions = [told(replace(STRUCTURAL, revision=number, span_id=f"{number:016x}")).key for number in (1, 2)]
    others = [
        told(replace(STRUCTURAL, **change)).key  # type: ignore[arg-type]
        for change in ({"rubric": "team/1"}, {"name": "other"}, {"trace_id": "f" * 32}, {"scope": "decision"})
    ]
    assert revisions[0] == revisions[1]
    assert len({revisions[0], *others}) == 5


def test_sessions_of_two_environments_are_two() -> None:
    """Phoenix has a session of one id once, so the identifier tells the environments apart."""
    assert told(SESSION).key != told(replace(SESSION, environment="staging")).key
    assert told(replace(SESSION, environment="")).identifier == "mai-structural/1"


def test_a_retracted_evaluation_has_no_score() -> None:
    """It says not_evaluable, and takes the score away that was there before."""
    assert content(NOT_EVALUABLE)["result"] == {
        "label": "not_evaluable", "score": None, "explanation": NOT_EVALUABLE.explanation,
    }  # fmt: skip
    assert told(NOT_EVALUABLE).key == told(STRUCTURAL).key


def test_what_postgresql_refuses_is_replaced() -> None:
    """A NUL becomes U+FFFD, in text and in metadata; a backslash before the letters u0000 stays what it is."""
    explanation = "a\0b \\u0000 \\\0 ü"
    metadata = json.dumps({"scope": "trace", "checks": [{"detail": "\0"}]})
    found = content(replace(STRUCTURAL, explanation=explanation, metadata=metadata))
    assert found["result"]["explanation"] == explanation.replace("\0", "\ufffd")
    assert {check["detail"] for check in found["metadata"]["checks"]} == {"\ufffd"}


def test_a_request_has_them_all() -> None:
    """Its body is what Phoenix documents: an object with the list."""
    both = [told(STRUCTURAL), told(replace(STRUCTURAL, trace_id="f" * 32))]
    assert json.loads(annotation_request(both)) == {"data": [json.loads(each.content) for each in both]}
