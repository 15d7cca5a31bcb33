"""The memory operations that Tier 3 counts, as one span names them: the conventions' rules for a handful of spans.

The service does the same in SQL (conventions/*.sql), on columns. A span here is a mapping as Phoenix exports it, with
`name`, `attributes` and perhaps `resource`, or the bare attributes.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from weaklink_analysis.mai.records import confidence, is_hedged

Attributes: TypeAlias = Mapping[Any, Any]
Memory: TypeAlias = tuple[str, str, str]
"""(environment, store, memory id)."""

_MEMLEDGER = "memledger.memory."
_MEMLEDGER_KINDS = {
    "add": "write",
    "ingest": "write",
    "search": "read",
    "recall": "read",
    "outcome": "outcome",
    "lineage": "lineage",
}
_MEMLEDGER_UNCOUNTED = {
    f"memledger.{verb}" for verb in ("get", "record_outcome", "get_lineage", "conflict_detected", "promote")
}
_GENAI_KINDS = {"create_memory": "write", "update_memory": "write", "upsert_memory": "write", "search_memory": "read"}
_AGENTS = ("gen_ai.agent.id", "gen_ai.agent.name", "agent.name", "memory.agent.id", f"{_MEMLEDGER}source_agent_id")
_ENVIRONMENTS = ("deployment.environment.name", "deployment.environment")


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on one memory, with what its span itself carries."""

    kind: str  # write | read | outcome | lineage
    memory: Memory | None  # None: the span names none
    confidence: float | None  # None: it carries none that is valid
    has_agent: bool
    hedged: bool
    parents: frozenset[Memory] = frozenset()


def require_span(span: Any, place: str) -> None:
    """Raise TypeError for what is no span. `place` names it in the message."""
    if not isinstance(span, Mapping):
        raise TypeError(f"{place} is no span: expected a mapping: {span!r}")


def memledger_attributes(span: Attributes) -> Attributes | None:
    """Where a span has memledger's memory attributes: its attributes, its resource's, itself; None: nowhere.

    A span that only has such a name stands for itself, as in the reference.
    """
    for attributes in (_attributes(span), _attributes(span.get("resource")), span):
        if any(isinstance(key, str) and key.startswith(_MEMLEDGER) for key in attributes):
            return attributes
    name = span.get("name")
    return span if isinstance(name, str) and name.startswith(_MEMLEDGER) else None


def operations(span: Mapping[str, Any]) -> list[Operation]:
    """The operations of a span that count; memledger's convention first, as the most specific one."""
    name, resource = text(span.get("name")) or "", _attributes(span.get("resource"))
    environment = text(_first(resource.get(key) for key in _ENVIRONMENTS)) or ""
    found, own = memledger_attributes(span), {**span, **_attributes(span)}
    if found is not None:
        return list(_memledger(name, own if found is span else found, environment))
    return [] if name in _MEMLEDGER_UNCOUNTED else list(_genai(own, environment))


def text(value: object) -> str | None:
    """An attribute's value as the lake has it: text as it is, the rest as JSON; None for none."""
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def loads(value: str) -> Any:
    """The JSON value of a text; None if it is none."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def ids(value: object, *, bare: bool) -> list[str]:
    """The ids that a list or a JSON array names; with `bare`, other text is one id."""
    parsed = loads(value) if isinstance(value, str) else value
    if not isinstance(parsed, list | tuple):
        parsed = [parsed if isinstance(parsed, str) else value] if bare else []
    return [name for name in map(text, parsed) if name]


def _memledger(name: str, attributes: Attributes, environment: str) -> Iterator[Operation]:
    get = attributes.get
    called = name.removeprefix("memledger.").removeprefix("memory.") if name.startswith("memledger.") else ""
    kind = _MEMLEDGER_KINDS.get(text(_first((get(f"{_MEMLEDGER}operation"), called))) or "")
    named = _first(
        get(key) for key in (f"{_MEMLEDGER}id", "memledger.memory_id", "memledger.existing_id", "memledger.promoted_id")
    )
    found_none = kind == "read" and get(f"{_MEMLEDGER}id") is None and text(get("memledger.result_count")) == "0"
    if kind and not found_none:
        yield _operation(
            kind,
            (environment, "", text(named)),
            get(f"{_MEMLEDGER}confidence"),
            [get(key) for key in _AGENTS],
            get(f"{_MEMLEDGER}hedged"),
            ids(get(f"{_MEMLEDGER}parent_ids"), bare=False),
        )


def _genai(attributes: Attributes, environment: str) -> Iterator[Operation]:
    get = attributes.get
    kind = _GENAI_KINDS.get(text(get("gen_ai.operation.name")) or "")
    shown = get("gen_ai.memory.records")
    shown = loads(shown) if isinstance(shown, str) else shown
    records = [record for record in shown if isinstance(record, Mapping)] if isinstance(shown, list) else []
    record_id = get("gen_ai.memory.record.id")
    none_shown = shown == [] or text(get("gen_ai.memory.record.count")) == "0"
    if not kind or (kind == "read" and not records and record_id is None and none_shown):
        return
    agents = [get(key) for key in _AGENTS]
    for record in records or [{}]:
        described = _Described(record, attributes)
        yield _operation(
            kind,
            (
                environment,
                text(get("gen_ai.memory.store.id")) or "",
                text(_first((record.get("id"), record_id if len(records) <= 1 else None))),
            ),
            described("confidence"),
            [*described.of_record("created_by", "agent_id"), *agents],
            described("hedged"),
            ids(described("derived_from"), bare=True),
        )


class _Described:
    """What is said of a GenAI record: in its metadata, else in itself, else by the span's own `memory.` attribute."""

    def __init__(self, record: Mapping[str, Any], attributes: Attributes) -> None:
        metadata = record.get("metadata")
        metadata = loads(metadata) if isinstance(metadata, str) else metadata
        self._places = (metadata if isinstance(metadata, Mapping) else {}, record)
        self._attributes = attributes

    def of_record(self, *keys: str) -> list[Any]:
        return [place.get(key) for place in self._places for key in keys]

    def __call__(self, key: str) -> Any:
        return _first((*self.of_record(key), self._attributes.get(f"memory.{key}")))


def _operation(  # noqa: PLR0917 - one call site a convention, in the fields' order
    kind: str, memory: tuple[str, str, str | None], shown: Any, agents: Iterable[Any], hedged: Any, parents: list[str]
) -> Operation:
    environment, store, memory_id = memory
    return Operation(
        kind=kind,
        memory=(environment, store, memory_id) if memory_id else None,
        confidence=confidence(shown),
        has_agent=any(text(agent) not in {None, "", "unknown"} for agent in agents),
        hedged=is_hedged(hedged),
        parents=frozenset((environment, store, parent) for parent in parents),
    )


def _first(values: Iterable[Any]) -> Any:
    return next((value for value in values if value is not None), None)


def _attributes(holder: object) -> Attributes:
    found = holder.get("attributes") if isinstance(holder, Mapping) else None
    return found if isinstance(found, Mapping) else {}
