"""Spans out of files: the forms that are read, and what is said of others."""

import json
from math import inf
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from otlp import request
from otlp import write as written
from weaklink_analysis import evaluate_from_file, evaluate_structural
from weaklink_analysis.mai.files import read_spans

SPAN = {
    "name": "memledger.memory.recall",
    "attributes": {
        "memledger.memory.operation": "recall",
        "memledger.memory.id": "ключ",
        "memledger.memory.confidence": 0.9,
        "memledger.memory.source_agent_id": "a",
    },
}
OTHER = {"name": "chat", "attributes": {}}
OTLP = MessageToDict(request([written(1, 1, "m", 0.9, environment="staging"), written(1, 2, "n", 0.9, parents=["m"])]))

FORMS = {
    "an array": (json.dumps([SPAN, OTHER]), 1),
    "under spans": (json.dumps({"spans": [SPAN, SPAN]}), 2),
    "under data": (json.dumps({"data": [SPAN]}, indent=2), 1),
    "one span": (json.dumps(SPAN, ensure_ascii=False), 1),
    "one span a line": (f"{json.dumps(SPAN)}\r\n\r\n{json.dumps(SPAN)}\n", 2),
    "with a byte order mark": (f"\ufeff{json.dumps([SPAN])}", 1),
    "no spans": ("[]", 0),
    "an OTLP request": (json.dumps(OTLP, indent=2), 2),
    "OTLP requests a line": (f"{json.dumps(OTLP)}\n{json.dumps(OTLP)}\n", 4),
    "an empty OTLP request": ('{"resourceSpans": []}', 0),
}

NOT_SPANS = {
    "nothing": ("", r"spans.json: not JSON"),
    "no JSON": ("hello", r"spans.json: not JSON"),
    "half of it": (json.dumps([SPAN])[:-5], r"spans.json: not JSON"),
    "half a line": (f"{json.dumps(SPAN)}\n{json.dumps(SPAN)[:20]}", r"spans.json:2: not JSON"),
    "a number": ("5", r"spans.json: expected spans, an array of objects: 5"),
    "a number a line": (f"{json.dumps(SPAN)}\n\n5", r"spans.json:3: expected spans, an array of objects: 5"),
    "numbers": ("[1]", r"spans.json: not a span: 1"),
    "no list of spans": ('{"spans": {"a": 1}}', r'spans.json: expected spans, an array of objects: {"a": 1}'),
    "too deep": ("[" * 100_000, r"spans.json: not JSON"),
    "broken OTLP": ('{"resourceSpans": [{"scopeSpans": [{"spans": [5]}]}]}', r"spans.json: not an OTLP request"),
    "OTLP without a key": (
        '{"resourceSpans": [{"resource": {"attributes": [{"value": {}}]}}]}', r"spans.json: not an OTLP request",
    ),
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "spans.json"


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_read(file: Path, form: str) -> None:
    """Phoenix-style exports as the reference takes them, OTLP JSON, and lines of either."""
    content, count = FORMS[form]
    file.write_text(content, "utf-8")
    result = evaluate_from_file(str(file), 0.5)
    assert (result.span_count, result.threshold, result.passed) == (count, 0.5, count > 0)
    assert evaluate_from_file(file, rubric="memledger/2.0").span_count == count


@pytest.mark.parametrize("case", NOT_SPANS)
def test_other_files_are_refused(file: Path, case: str) -> None:
    """The message names the file, and the line where there are several."""
    content, message = NOT_SPANS[case]
    file.write_text(content, "utf-8")
    with pytest.raises(ValueError, match=message):
        evaluate_from_file(file)


def test_other_encodings_are_refused(file: Path) -> None:
    """A file is UTF-8, whatever the machine's locale."""
    file.write_bytes(json.dumps(SPAN, ensure_ascii=False).encode("utf-16"))
    with pytest.raises(ValueError, match=r"spans\.json: not UTF-8"):
        evaluate_from_file(file)


def test_a_missing_file_is_an_os_error(file: Path) -> None:
    """As `open` says it."""
    with pytest.raises(FileNotFoundError):
        evaluate_from_file(file)


VALUES: list[tuple[dict[str, Any], Any]] = [
    ({"stringValue": ""}, ""),
    ({"boolValue": False}, False),
    ({"intValue": "9223372036854775807"}, 2**63 - 1),
    ({"intValue": 5}, 5),
    ({"doubleValue": 1}, 1.0),
    ({"doubleValue": "-Infinity"}, -inf),
    ({"bytesValue": "AA=="}, "AA=="),
    ({"arrayValue": {"values": [{"stringValue": "a"}, {}]}}, ["a", None]),
    ({"arrayValue": {}}, []),
    ({"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": True}}]}}, {"k": True}),
    ({}, None),
]


@pytest.mark.parametrize(("value", "expected"), VALUES)
def test_otlp_values_become_plain(file: Path, value: dict[str, Any], expected: object) -> None:
    """Each kind of AnyValue is its Python value; of a key that is there twice the first counts."""
    attributes = [{"key": "a", "value": value}, {"key": "a", "value": {"stringValue": "second"}}]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "svc"}}]}
    spans = [{"name": "x", "attributes": attributes}]
    file.write_text(json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": spans}]}]}))
    assert read_spans(file) == [
        {"name": "x", "attributes": {"a": expected}, "resource": {"attributes": {"service.name": "svc"}}}
    ]


def test_a_file_scores_as_its_spans(file: Path) -> None:
    """Reading changes nothing."""
    file.write_text(json.dumps([SPAN, OTHER]))
    assert evaluate_from_file(file, 0.9) == evaluate_structural([SPAN, OTHER], 0.9)
