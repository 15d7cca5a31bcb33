"""What the structural checks count as memledger 2.0.1 does, to the letter, for the rubric `memledger/2.0`.

One a span, values as they came, the number of parents on one span for depth. Where the reference would raise for a
value, the value counts as missing.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from weaklink_analysis.mai.measures import Measures
from weaklink_analysis.mai.records import field, raw_confidence
from weaklink_analysis.mai.rubrics import Rubric
from weaklink_analysis.mai.spans import Attributes, loads, memledger_attributes

_JUDGED = ("search", "recall", "add")
_READS = ("search", "recall")


def measure_spans(spans: Iterable[Mapping[str, Any]], rubric: Rubric) -> Measures:
    """Count over those spans that carry memledger's attributes or have one of its memory names."""
    found = [attributes for attributes in map(memledger_attributes, spans) if attributes is not None]
    judged = [attributes for attributes in found if _value(attributes, "operation") in _JUDGED]
    return Measures(
        spans=len(found),
        counted=len(found),
        with_confidence=sum(_value(attributes, "confidence") is not None for attributes in found),
        judged=len(judged),
        above=sum(_confidence(attributes, rubric) >= rubric.confident for attributes in judged),
        with_agent=sum(_value(attributes, "source_agent_id") not in (None, "", "unknown") for attributes in found),
        deepest=max((_parent_count(attributes) for attributes in found), default=0),
        low_unhedged=sum(
            _value(attributes, "operation") in _READS
            and _confidence(attributes, rubric) < rubric.low
            and not _value(attributes, "hedged")
            for attributes in found
        ),
    )


def span_of_record(record: Any) -> dict[str, Any]:
    """The attributes that a read of the record would carry."""
    carried = {
        "id": field(record, "id", ""),
        "confidence": raw_confidence(record, 0.5),
        "source_agent_id": field(record, "created_by", ""),
        "parent_ids": json.dumps(field(record, "derived_from", []), default=str),
        "operation": "search",
        "hedged": field(record, "hedged", False),
    }
    return {f"memledger.memory.{name}": value for name, value in carried.items()}


def _value(attributes: Attributes, name: str) -> Any:
    return attributes.get(f"memledger.memory.{name}")


def _confidence(attributes: Attributes, rubric: Rubric) -> Any:
    """Whatever compares with a number: also True, 1.7, NaN."""
    value = _value(attributes, "confidence")
    try:
        value >= 0  # noqa: B015 - whether it compares is the question
    except TypeError:
        return rubric.missing_confidence
    return value


def _parent_count(attributes: Attributes) -> int:
    value = _value(attributes, "parent_ids")
    parents = loads(value) if isinstance(value, str) else value
    return len(parents) if isinstance(parents, list) else 0
