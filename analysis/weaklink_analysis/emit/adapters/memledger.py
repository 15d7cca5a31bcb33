"""A memledger instance, as an alternative to memledger's own `instrument`: its searches say what they found, here."""

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from weaklink_analysis.emit.adapters.wrapper import Telling, wrapped
from weaklink_analysis.emit.emitter import GLOBAL, Emitter
from weaklink_analysis.emit.operations import MemorySpan
from weaklink_analysis.emit.records import PROVENANCE, Record

T = TypeVar("T")
_conflict: ContextVar[tuple[str, str] | None] = ContextVar("weaklink.memledger.conflict", default=None)
"""The last one that no write has ended yet: ids of the record that was to be written, and of the one that was there."""


def wrap_memledger(ledger: T, *, emitter: Emitter = GLOBAL, store: str | None = None, content: bool = False) -> T:
    """Return what does as `ledger` does, and tells it. Use it instead of `memledger.telemetry.instrument`.

    With `content`, spans carry what is remembered and searched for, too.
    """
    tellings = {
        "add": Telling("create_memory", partial(_added, content)),
        "add_record": Telling("create_memory", partial(_added_whole, content)),
        "search": Telling("search_memory", partial(_searched, content)),
        "search_hybrid": Telling("search_memory", partial(_searched, content)),
        "get": Telling("search_memory", partial(_got, content)),
        "delete": Telling("delete_memory", _deleted),
    }
    conflicts = getattr(getattr(ledger, "hooks", None), "on_conflict", None)
    if isinstance(conflicts, list) and _conflicting not in conflicts:
        conflicts.append(_conflicting)
    through = "ingest", "record_outcome", "_check_auto_promote"  # by the second, which calls the third
    return wrapped(ledger, "memledger", tellings, emitter, store, through)


def _conflicting(new: Any, existing: Any) -> None:
    """A hook of memledger's: what comes of the conflict is for its resolver to say."""
    _conflict.set((new.id, existing.id))


# What goes before the / is not the agent's: memledger has arguments of these names.
def _added(told: bool, span: MemorySpan, result: object, /, content: str, **given: Any) -> None:  # noqa: FBT001
    new, existing = _conflict.get() or (None, None)
    _conflict.set(None)
    if existing is not None and new != result == existing != given.get("record_id"):
        span.operation = "refuse_memory"  # which is none: the resolver gave back what was there
        return
    author = given.get("created_by") or given.get("agent_id")
    # What memledger stores for who does not say.
    fields = {"confidence": 0.5, **given, "created_by": author}
    span.found(_record(result, content if told else None, None, fields))


def _added_whole(told: bool, span: MemorySpan, result: object, /, record: Any) -> None:  # noqa: FBT001
    span.found(_record(result, record.content if told else None, None, vars(record)))


def _searched(content: bool, span: MemorySpan, result: Any, /, query: str, **_: Any) -> None:  # noqa: FBT001
    span.found(_records(result.records, content))
    if content:
        span.query = query


def _got(content: bool, span: MemorySpan, result: object, /, *_: Any, **__: Any) -> None:  # noqa: FBT001
    if result is not None:
        span.found(_records([result], content))


def _deleted(span: MemorySpan, result: object, /, record_id: str | None = None, **_: Any) -> None:
    if result and record_id is not None:
        span.found(record_id)


def _records(found: Iterable[Any], content: bool) -> list[Record]:  # noqa: FBT001
    return [_record(each.id, each.content if content else None, each.score, vars(each)) for each in found]


def _record(memory_id: object, content: str | None, score: float | None, fields: Mapping[str, object]) -> Record:
    kind = fields.get("record_type")
    metadata = {name: fields[name] for name in PROVENANCE if fields.get(name) not in (None, "")}
    if kind is not None:
        metadata["type"] = getattr(kind, "value", kind)
    told = {"id": memory_id, "content": content, "score": score, "metadata": metadata}
    return {key: value for key, value in told.items() if value is not None}
