"""How the scalar functions read a record: what counts as a confidence, an author, a session, a hedge.

A record is a mapping, or an object with the same fields as attributes (a memledger `MemoryRecord`).
"""

from decimal import Decimal
from math import isnan
from numbers import Real
from typing import Any

_FIELDS = ("id", "created_by", "confidence", "importance", "session_id")


def field(record: Any, name: str, default: object = None) -> Any:
    """A record's field; `default` where the record has no such field."""
    return record.get(name, default) if hasattr(record, "get") else getattr(record, name, default)


def require_record(record: Any, place: str) -> None:
    """Raise TypeError for what is no record at all. `place` names it in the message."""
    if not hasattr(record, "get") and not any(hasattr(record, name) for name in _FIELDS):
        raise TypeError(f"{place} is no record: expected a mapping, or an object with {', '.join(_FIELDS)}: {record!r}")


def confidence(value: object) -> float | None:
    """The value as a number in [0, 1], also from text; None for anything else: NaN, 1.7, "high", True."""
    if isinstance(value, str):
        # What SQL takes for a number too: Python alone reads other scripts' digits, and 1_0 as 10.
        if not value.isascii() or "_" in value:
            return None
    elif isinstance(value, bool) or not isinstance(value, Real | Decimal):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= 1 else None


def raw_confidence(record: Any, default: object = None) -> Any:
    """A record's `confidence` as it came, else its `importance` where it has no such field."""
    return field(record, "confidence", field(record, "importance", default))


def known(value: Any) -> Any:
    """An author or a session; None for what names none: '', 'unknown', NaN (a data frame's missing value)."""
    missing = not value or value == "unknown" or (isinstance(value, float) and isnan(value))
    return None if missing else value


def is_hedged(value: object) -> bool:
    """Whether a hedge mark is set: true (also numpy's), or the text that OTLP exporters make of it."""
    return value == "true" if isinstance(value, str) else str(value) == "True"
