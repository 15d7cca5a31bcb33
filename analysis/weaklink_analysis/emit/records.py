"""Memory records as `gen_ai.memory.records` has them: id, content, score, and provenance in `metadata`."""

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import TypedDict, Unpack

from weaklink_analysis.emit.encoder import encoder
from weaklink_analysis.emit.guard import swallow
from weaklink_analysis.emit.scope import Scope

Record = Mapping[str, object]
"""Has `id`; may have `content`, `score`, `metadata`. Provenance is in `metadata`, or beside it."""
Records = str | Record | Iterable[str | Record]
"""One or many, as ids or as records."""

_MAX_DEPTH = 6  # of values that JSON has no form for: they may contain themselves
# What contains itself ends in a RecursionError, which is as good.
_encode = encoder()


class Provenance(TypedDict, total=False):
    """What weaklink judges a memory by, all of it optional."""

    confidence: float | None
    """How sure the author is, 0 to 1."""
    hedged: bool | None
    """Marked as a guess."""
    derived_from: Records | None
    """The memories that it was made from."""
    supersedes: Records | None
    """The memories that it replaces."""
    created_by: str | None
    """Who wrote it; of a write, by default the agent of the run."""
    session_id: str | None
    """Where it was written; of a write, by default the session of the run, else its conversation."""
    source: str | None
    namespace: str | None
    type: str | None


PROVENANCE = tuple(Provenance.__annotations__)
_LISTS = frozenset({"derived_from", "supersedes"})


def record(
    memory_id: str | None, content: object = None, *, score: float | None = None, **provenance: Unpack[Provenance]
) -> dict[str, object]:
    """Make a record; what is None is left out."""
    made: dict[str, object] = {}
    if memory_id is not None:
        made["id"] = memory_id
    if content is not None:
        made["content"] = content
    if score is not None:
        made["score"] = score
    metadata: dict[str, object] = {}
    for key, value in provenance.items():
        if value is not None:
            metadata[key] = ids(value) if key in _LISTS else value
    if metadata:
        made["metadata"] = metadata
    return made


def as_records(things: object) -> Iterable[Record]:
    """Take one id, one record, or several of either."""
    if isinstance(things, Mapping):
        return (things,)
    if isinstance(things, Iterable) and not isinstance(things, str | bytes):
        return [each if type(each) is dict or isinstance(each, Mapping) else {"id": as_text(each)} for each in things]
    return () if things is None else ({"id": as_text(things)},)


def metadata_of(found: Record) -> Record:
    """Return where a record's provenance is."""
    metadata = found.get("metadata")
    return metadata if type(metadata) is dict or isinstance(metadata, Mapping) else found


def signed(made: Record, scope: Scope) -> Record:
    """Return the record with the agent and the session that run, where it names none."""
    agent, session = scope.agent, scope.session or scope.conversation
    if agent is None and session is None:
        return made
    metadata = made.get("metadata")
    named = {**metadata} if type(metadata) is dict or isinstance(metadata, Mapping) else {}
    if agent is not None and named.get("created_by") is None and made.get("created_by") is None:
        named["created_by"] = agent
    if session is not None and named.get("session_id") is None and made.get("session_id") is None:
        named["session_id"] = session
    return {**made, "metadata": named}


def ids(value: object) -> list[str]:
    """Return one id or many as a list; a record stands for its id."""
    if isinstance(value, str):
        return [value] if value else []
    try:
        if type(value) is list or (isinstance(value, Iterable) and not isinstance(value, bytes | Mapping)):
            return [each if isinstance(each, str) else _id(each) for each in value]
        return [] if value is None else [_id(value)]
    except Exception as error:  # noqa: BLE001
        swallow("ids could not be read", error)
        return []


def _id(named: object) -> str:
    return str(named.get("id", named) if isinstance(named, Mapping) else named)


def as_json(value: object) -> str:
    """Return JSON in any case; what JSON has no form for becomes text."""
    try:
        text = _encode(value)
    except Exception as error:  # noqa: BLE001
        swallow("a value has no form in JSON and was sent as text", error)
        text = _encode(_plain(value))
    return as_text(text)


def as_text(value: object) -> str:
    """Return text that protobuf takes: UTF-8 has no place for half a surrogate pair."""
    text = value if isinstance(value, str) else str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _plain(value: object, depth: int = 0) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and isfinite(value):
        return value
    if (item := _scalar(value)) is not None:
        return item
    if depth < _MAX_DEPTH:
        for kind, plain in _CONTAINERS.items():
            if isinstance(value, kind):
                return plain(value, depth + 1)
    return _said(value)


def _scalar(value: object) -> bool | int | float | None:
    """The number or truth that NumPy, PyTorch and the like have in a type of their own."""
    try:
        item = value.item()  # type: ignore[attr-defined]
    except Exception:  # noqa: BLE001 - it is none of these
        return None
    return item if isinstance(item, bool | int) or (isinstance(item, float) and isfinite(item)) else None


def _said(value: object) -> str | None:
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001
        swallow("a value has no text and was left out", error)
        return None


_CONTAINERS: dict[type | tuple[type, ...], Callable[..., object]] = {
    Mapping: lambda value, depth: {_said(key): _plain(item, depth) for key, item in value.items()},
    (list, tuple, set, frozenset): lambda value, depth: [_plain(item, depth) for item in value],
}
