"""Spans out of files: what Phoenix and CloudWatch export as JSON, and OTLP JSON; one JSON value, or one a line.

Spans come out as `evaluate_structural` takes them: `name`, `attributes` and `resource`, attributes as flat mappings.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from weaklink_analysis.mai.rubrics import STRUCTURAL, Rubric
from weaklink_analysis.mai.structural import StructuralEvalResult, evaluate_structural


def evaluate_from_file(
    trace_file: str | PathLike[str],
    threshold: float = 0.7,
    *,
    rubric: str | Rubric = STRUCTURAL,
    findings: Iterable[str] | None = None,
) -> StructuralEvalResult:
    """Score the spans of a file, all together (MAI Tier 3).

    Args:
        trace_file: UTF-8 JSON: an array of spans, an object with them under `spans` or `data`, one span, or an OTLP
            request (`resourceSpans`); or such values one a line, as the Collector's file exporter writes them.
        threshold: As for `evaluate_structural`.
        rubric: As for `evaluate_structural`.
        findings: As for `evaluate_structural`.

    Raises:
        OSError: The file cannot be read.
        ValueError: It holds something else; the message names the file, and the line.
    """
    return evaluate_structural(read_spans(trace_file), threshold, rubric=rubric, findings=findings)


def read_spans(trace_file: str | PathLike[str]) -> list[Mapping[str, Any]]:
    """The spans of a file. Raises as `evaluate_from_file` does."""
    path = Path(trace_file)
    spans = [(place, span) for place, value in _values(path) for span in _spans(value, place)]
    for place, span in spans:
        if not isinstance(span, Mapping):
            raise ValueError(f"{place}: not a span: {json.dumps(span)[:80]}")  # noqa: TRY004 - it is the file's content
    return [span for _, span in spans]


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """The file's JSON values, each with where it is: the file, and the line if there are several."""
    try:
        whole = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8: {error}") from error
    lines = [(number, line) for number, line in enumerate(whole.split("\n"), 1) if line.strip()]
    if len(lines) > 1 and _is_json(lines[0][1]):
        yield from ((f"{path}:{number}", _load(line, f"{path}:{number}")) for number, line in lines)
    else:
        yield str(path), _load(whole, str(path))


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _load(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: not JSON: {error}") from error


def _spans(value: Any, place: str) -> list[Any]:
    if isinstance(value, Mapping):
        if "resourceSpans" in value:
            try:
                return list(_otlp_spans(value))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{place}: not an OTLP request: {error!r}") from error
        value = value.get("spans", value.get("data", [value]))
    if not isinstance(value, list):
        raise ValueError(f"{place}: expected spans, an array of objects: {json.dumps(value)[:80]}")  # noqa: TRY004
    return value


def _otlp_spans(request: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for of_resource in request["resourceSpans"] or ():
        resource = {"attributes": _flat((of_resource.get("resource") or {}).get("attributes"))}
        for of_scope in of_resource.get("scopeSpans") or ():
            for span in of_scope.get("spans") or ():
                yield {**span, "attributes": _flat(span.get("attributes")), "resource": resource}


def _flat(attributes: Iterable[Mapping[str, Any]] | None) -> dict[str, Any]:
    """OTLP's list of keys and values as a mapping; of a key that is there twice the first counts."""
    flat: dict[str, Any] = {}
    for attribute in attributes or ():
        flat.setdefault(attribute["key"], _plain(attribute.get("value") or {}))
    return flat


def _plain(value: Mapping[str, Any]) -> Any:
    """An OTLP AnyValue as a Python value; None for an empty one."""
    match value:
        case {"intValue": number}:
            return int(number)
        case {"doubleValue": number}:
            return float(number)  # also "NaN" and "Infinity", which JSON has no numbers for
        case {"arrayValue": array}:
            return [_plain(item) for item in (array or {}).get("values") or ()]
        case {"kvlistValue": entries}:
            return _flat((entries or {}).get("values"))
    return next((value[kind] for kind in ("stringValue", "boolValue", "bytesValue") if kind in value), None)
