"""What attribute values say, by semantics.md: confidences, ids, texts."""

import json
import re
from datetime import UTC, datetime, timedelta

from otlp import DAWN, SECOND, Value

Row = dict[str, object]
Memory = tuple[str, str, str]
"""Environment, store, id."""
NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


def as_text(value: Value) -> str:
    """An attribute as the span batch has it."""
    match value:
        case bool():
            return str(value).lower()
        case float():
            return str(value).replace("nan", "NaN").replace("inf", "Infinity")
        case int() | str():
            return str(value)
    return json.dumps(list(value), ensure_ascii=False, separators=(",", ":"))


def known(value: object) -> str | None:
    return None if value in {None, "", "unknown"} else str(value)


def confidence(raw: str | None) -> float | None:
    """A number from 0 to 1, or text that is one."""
    return float(raw) if raw is not None and NUMBER.fullmatch(raw) and 0 <= float(raw) <= 1 else None


def parsed(value: str | None) -> object:
    try:
        return json.loads(value or "null")
    except ValueError:
        return None


def names(value: object) -> list[str]:
    """The ids of a list, or of one bare id."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str) and item]


def cited(value: str | None) -> list[str]:
    """The ids of a text: a JSON array of ids, a JSON string, or one bare id."""
    listed = parsed(value)
    return names(listed if isinstance(listed, list | str) else value)


def moment(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(DAWN // SECOND, UTC) + timedelta(microseconds=nanoseconds // 1000)
