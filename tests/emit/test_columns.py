"""Messages that are encoded a column at a time."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from evaluations import Evaluation, evaluator_span, rows
from weaklink_processor.emit.columns import delimited, fixed64, flag, message, together
from weaklink_processor.emit.evaluator import evaluator_spans

# DuckDB, where they come from, has no text with half a surrogate pair.
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from([0, 63, 64, 8_191, 8_192]).map("é".__mul__)
numbers = st.floats(allow_nan=False)
evaluations = st.builds(
    Evaluation,
    name=texts,
    scope=st.sampled_from(["decision", "trace", "session"]),
    trace_id=st.binary(min_size=16, max_size=16).map(bytes.hex),
    span_id=st.binary(min_size=8, max_size=8).map(bytes.hex),
    session_id=texts,
    environment=texts,
    service_name=texts,
    score=st.none() | numbers,
    passed=st.none() | st.booleans(),
    label=texts,
    explanation=texts,
    rubric=texts,
    revision=st.integers(1, 2**31),
    annotator_kind=texts,
    evaluated_at=st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    record_ids=texts,
    framework=texts,
    metadata=texts,
)


def as_upb_makes_it(of: Evaluation, span_id: bytes) -> Span:
    """The same span, built of messages."""
    outcome = {True: "pass", False: "fail", None: None}[of.passed]
    trace_id, target = bytes.fromhex(of.trace_id), bytes.fromhex(of.span_id)
    moment = (of.evaluated_at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1000
    span = Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=target,
        name=f"evaluators.mai_{of.framework}",
        kind=Span.SPAN_KIND_INTERNAL,
        start_time_unix_nano=moment,
        end_time_unix_nano=moment,
        links=[Span.Link(trace_id=trace_id, span_id=target)],
    )
    told = {
        "openinference.span.kind": "EVALUATOR",
        "eval.name": of.name,
        "eval.score": of.score,
        "eval.passed": of.passed,
        "eval.outcome": outcome,
        "eval.framework": of.framework,
        "eval.record_ids": of.record_ids,
        "session.id": of.session_id,
        "annotations.0.annotation.name": of.name,
        "annotations.0.annotation.score": of.score,
        "annotations.0.annotation.label": of.label,
        "annotations.0.annotation.explanation": of.explanation,
        "annotations.0.annotation.annotator_kind": of.annotator_kind,
        "annotations.0.annotation.identifier": of.rubric,
        "annotations.0.annotation.metadata": of.metadata,
    }
    span.attributes.extend(pairs(told))
    result = {
        "gen_ai.evaluation.name": of.name,
        "gen_ai.evaluation.score.value": of.score,
        "gen_ai.evaluation.score.label": of.label,
        "gen_ai.evaluation.explanation": of.explanation,
    }
    span.events.add(time_unix_nano=moment, name="gen_ai.evaluation.result", attributes=pairs(result))
    return span


def pairs(values: dict[str, str | bool | float | None]) -> list[KeyValue]:
    """Attributes; neither null nor empty ones."""
    held = {str: "string_value", bool: "bool_value", float: "double_value"}
    told = {key: value for key, value in values.items() if value is not None and value != ""}
    return [KeyValue(key=key, value=AnyValue(**{held[type(value)]: value})) for key, value in told.items()]  # type: ignore[arg-type]


@given(st.lists(evaluations, max_size=3))
def test_a_column_of_spans_is_what_upb_reads_and_would_have_written(told: list[Evaluation]) -> None:
    """Whatever the evaluations hold, each span has every field that the same span made of messages has."""
    issued = evaluator_spans(rows(*told)).to_pylist()
    spans = [Span.FromString(row["span"]) for row in issued]
    ids = [row["span_id"].to_bytes(8) for row in issued]
    assert spans == list(map(as_upb_makes_it, told, ids))
    assert [evaluator_span(each) for each in told] == spans  # alone, too


@given(st.lists(st.tuples(st.none() | texts, st.none() | st.booleans(), st.none() | numbers), min_size=1))
def test_what_is_null_is_not_there(values: list[tuple[str | None, bool | None, float | None]]) -> None:
    """A message has the fields that are not null; of pieces that belong together none, if one is null."""
    text, truth, number = map(pa.array, zip(*values, strict=True), (pa.large_string(), pa.bool_(), pa.float64()))
    fields = delimited(1, text), flag(2, truth), fixed64(4, number)
    for got, whole, (said, holds, much) in zip(
        message(*fields).to_pylist(), together(*fields).to_pylist(), values, strict=True
    ):
        wanted = [AnyValue(string_value=said), AnyValue(bool_value=holds), AnyValue(double_value=much)]  # type: ignore[arg-type]
        there = [value is not None for value in (said, holds, much)]
        told = b"".join(each.SerializeToString() for each, is_there in zip(wanted, there, strict=True) if is_there)
        assert (got, whole) == (told, told if all(there) else None)


def test_a_part_of_an_array_is_encoded_as_that_part() -> None:
    """Arrow's slices share the memory of the whole array."""
    part = pa.array([1.0, None, 2.0, 3.0]).slice(1, 2)
    assert fixed64(4, part).to_pylist() == [None, AnyValue(double_value=2.0).SerializeToString()]
