"""mem0's `Memory` and `AsyncMemory`. What weaklink judges by is in mem0's own `metadata`, and comes back from there."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TypeVar

from weaklink_analysis.emit.adapters.wrapper import Telling, wrapped
from weaklink_analysis.emit.emitter import GLOBAL, Emitter
from weaklink_analysis.emit.operations import MemorySpan
from weaklink_analysis.emit.records import PROVENANCE, Record

T = TypeVar("T")
_WRITTEN = frozenset({"ADD", "UPDATE"})


def wrap_mem0(memory: T, *, emitter: Emitter = GLOBAL, store: str | None = None, content: bool = False) -> T:
    """Return what does as `memory` does, and tells it.

    Put `confidence`, `hedged`, `derived_from` and so on into the `metadata` of `add`. With `content`, spans carry what
    is remembered and searched for, too.
    """
    tellings = {
        "add": Telling(None, partial(_added, emitter, content)),
        "update": Telling("update_memory", partial(_updated, content)),
        "search": Telling("search_memory", partial(_searched, content)),
        "get_all": Telling("search_memory", partial(_listed, content)),
        "get": Telling("search_memory", partial(_got, content)),
        "delete": Telling("delete_memory", _deleted),
        "delete_all": Telling("delete_memory", _nothing_more),
    }
    return wrapped(memory, "mem0", tellings, emitter, store)


def _added(
    emitter: Emitter,
    content: bool,  # noqa: FBT001
    span: MemorySpan,
    result: object,
    messages: object,
    *_: object,
    metadata: Mapping[str, object] | None = None,
    agent_id: str | None = None,
    run_id: str | None = None,
    **__: object,
) -> None:
    del messages
    known = {"agent_id": agent_id, "run_id": run_id, "metadata": metadata}
    items = [*_items(result)]
    written = [item for item in items if item.get("event", "ADD") in _WRITTEN]
    if written:
        span.operation = "upsert_memory"
        span.found([_record({**item, **known}, content) for item in written])
    gone = [str(item["id"]) for item in items if item.get("event") == "DELETE"]
    if gone:
        emitter.deleted(gone, store=span.store)


def _updated(  # noqa: PLR0917
    content: bool,  # noqa: FBT001
    span: MemorySpan,
    result: object,
    memory_id: str,
    text: object = None,
    metadata: Mapping[str, object] | None = None,
    *_: object,
    data: object = None,
    **__: object,
) -> None:
    del result
    said = data if text is None else text  # its older name and its newer one
    span.found(_record({"id": memory_id, "memory": said, "metadata": metadata}, content))


def _searched(content: bool, span: MemorySpan, result: object, query: object, *_: object, **__: object) -> None:  # noqa: FBT001
    _listed(content, span, result)
    if content:
        span.query = str(query)


def _listed(content: bool, span: MemorySpan, result: object, *_: object, **__: object) -> None:  # noqa: FBT001
    span.found([_record(item, content) for item in _items(result)])


def _got(content: bool, span: MemorySpan, result: object, memory_id: str) -> None:  # noqa: FBT001
    del memory_id
    if isinstance(result, Mapping):
        span.found(_record(result, content))


def _deleted(span: MemorySpan, result: object, memory_id: str) -> None:
    del result
    span.found(memory_id)


def _nothing_more(span: MemorySpan, result: object, *_: object, **__: object) -> None:
    """mem0 does not say which memories they were."""


def _items(result: object) -> Iterable[Mapping[str, object]]:
    """What a result lists, in each of mem0's forms."""
    items = result.get("results", ()) if isinstance(result, Mapping) else result
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, Iterable) else ()


def _record(item: Mapping[str, object], content: bool) -> Record:  # noqa: FBT001
    metadata = item.get("metadata")
    named = metadata if isinstance(metadata, Mapping) else {}
    provenance = {key: named[key] for key in PROVENANCE if named.get(key) is not None}
    for key, scope in (("created_by", "agent_id"), ("session_id", "run_id")):
        if key not in provenance and item.get(scope) is not None:
            provenance[key] = item[scope]
    told = {"id": item.get("id"), "score": item.get("score"), "content": item.get("memory") if content else None}
    return {key: value for key, value in {**told, "metadata": provenance or None}.items() if value is not None}
