"""A memledger instance, as an alternative to memledger's own `instrument`: its searches say what they found, here."""

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from weaklink_analysis.emit.adapters.wrapper import Telling, wrapped
from weaklink_analysis.emit.emitter import GLOBAL, Emitter
from weaklink_analysis.emit.operations import OUTCOME, MemorySpan
from weaklink_analysis.emit.records import PROVENANCE, Record

T = TypeVar("T")
_conflict: ContextVar[tuple[str, str] | None] = ContextVar("weaklink.memledger.conflict", default=None)
"""The last one that no write has ended yet: ids of the record that was to be written, and of the one that was there."""
_outcome: ContextVar[tuple[str, bool] | None] = ContextVar("weaklink.memledger.outcome", default=None)
"""The last one that was kept: the record's id, which the caller may not know, and whether it helped."""


def wrap_memledger(ledger: T, *, emitter: Emitter = GLOBAL, store: str | None = None, content: bool = False) -> T:
    """Return what does as `ledger` does, and tells it. Use it instead of `memledger.telemetry.instrument`.

    With `content`, spans carry what is remembered and searched for, too.
    """
    tellings = {
        "add": Telling("create_memory", partial(_added, content)),
        "add_record": Telling("create_memory", partial(_added_whole, content)),
        "search": Telling("search_memory", partial(_searched, content)),
        "search_hybrid": Telling("search_memory", partial(_searched, content)),
        "recall_context": Telling("search_memory", partial(_recalled, content)),
        "get": Telling("search_memory", partial(_got, content)),
        "get_by_session": Telling("search_memory", partial(_listed, content)),
        "get_by_timerange": Telling("search_memory", partial(_listed, content)),
        "record_outcome": Telling(OUTCOME, _helped),
        "delete": Telling("delete_memory", _deleted),
    }
    for name, hook in {"on_conflict": _conflicting, "on_outcome": _kept}.items():
        hooks = getattr(getattr(ledger, "hooks", None), name, None)
        if isinstance(hooks, list) and hook not in hooks:
            hooks.append(hook)
    through = "ingest", "record_outcome", "_check_auto_promote"  # by the second, which calls the third
    return wrapped(ledger, "memledger", tellings, emitter, store, through)


def _conflicting(new: Any, existing: Any) -> None:
    """A hook of memledger's: what comes of the conflict is for its resolver to say."""
    _conflict.set((new.id, existing.id))


def _kept(record_id: str, success: bool) -> None:  # noqa: FBT001
    """A hook of memledger's: what was told of the record's use is kept."""
    _outcome.set((record_id, success))


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


def _recalled(content: bool, span: MemorySpan, result: Any, /, query: str, **_: Any) -> None:  # noqa: FBT001
    groups = result.similar_episodes, result.suggested_procedures, result.known_failures
    found = {each.id: each for group in groups for each in group}  # a failed episode is in two of them
    span.found(_records(found.values(), content))
    if content:
        span.query = query


def _listed(content: bool, span: MemorySpan, result: Any, /, *_: Any, **__: Any) -> None:  # noqa: FBT001
    span.found(_records(result, content))


def _got(content: bool, span: MemorySpan, result: object, /, *_: Any, **__: Any) -> None:  # noqa: FBT001
    if result is not None:
        span.found(_records([result], content))


def _deleted(span: MemorySpan, result: object, /, record_id: str | None = None, **_: Any) -> None:
    if result and record_id is not None:
        span.found(record_id)


def _helped(span: MemorySpan, result: object, /, *_: Any, **__: Any) -> None:
    kept = _outcome.get()
    _outcome.set(None)
    if result and kept is not None:
        memory_id, span.success = kept
        span.found(memory_id)


def _records(found: Iterable[Any], content: bool) -> list[Record]:  # noqa: FBT001
    return [_record(each.id, each.content if content else None, each.score, vars(each)) for each in found]


def _record(memory_id: object, content: str | None, score: float | None, fields: Mapping[str, object]) -> Record:
    kind = fields.get("record_type")
    metadata = {name: fields[name] for name in PROVENANCE if fields.get(name) not in (None, "")}
    if kind is not None:
        metadata["type"] = getattr(kind, "value", kind)
    told = {"id": memory_id, "content": content, "score": score, "metadata": metadata}
    return {key: value for key, value in told.items() if value is not None}
