"""A LangGraph store (`BaseStore`). What weaklink judges by is in the stored value, or in its `metadata`."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from weaklink_analysis.emit.adapters.wrapper import Telling, wrapped
from weaklink_analysis.emit.emitter import GLOBAL, Emitter
from weaklink_analysis.emit.operations import MemorySpan
from weaklink_analysis.emit.records import PROVENANCE, Record, ids

T = TypeVar("T")
Namespace = tuple[str, ...]


def item_id(namespace: Iterable[str], key: str) -> str:
    """Return the memory id of a store's item: namespace and key with slashes between."""
    return "/".join((*namespace, key))


def wrap_langgraph(store: T, *, emitter: Emitter = GLOBAL, store_id: str | None = None, content: bool = False) -> T:
    """Return what does as `store` does, and tells it.

    Put `confidence`, `hedged`, `derived_from` and so on into the value; a parent without a slash is a key of the same
    namespace. With `content`, spans carry values and queries, too.
    """
    tell = _Items(content)
    tellings = {
        "put": Telling("upsert_memory", tell.put),
        "get": Telling("search_memory", tell.got),
        "search": Telling("search_memory", tell.searched),
        "delete": Telling("delete_memory", tell.deleted),
        "batch": Telling(None, partial(_batched, emitter, tell)),
    }
    tellings |= {f"a{name}": telling for name, telling in tellings.items()}
    return wrapped(store, "langgraph", tellings, emitter, store_id)


class _Items:
    """How each operation is told."""

    def __init__(self, content: bool) -> None:  # noqa: FBT001
        self._content = content

    def put(
        self, span: MemorySpan, result: object, namespace: Namespace, key: str, value: object, *_: Any, **__: Any
    ) -> None:
        del result
        if value is None:  # in a batch this deletes
            span.operation = span.title = "delete_memory"
        span.found(self._record(namespace, key, value))

    def got(self, span: MemorySpan, result: object, namespace: Namespace, key: str, **__: Any) -> None:
        if result is not None:
            span.found(self._record(namespace, key, getattr(result, "value", None)))

    def searched(self, span: MemorySpan, result: Iterable[Any], *_: Any, query: str | None = None, **__: Any) -> None:
        span.found([self._record(item.namespace, item.key, item.value, item.score) for item in result])
        if self._content and query is not None:
            span.query = query

    def deleted(self, span: MemorySpan, result: object, namespace: Namespace, key: str) -> None:
        del result
        span.found(item_id(namespace, key))

    def _record(self, namespace: Namespace, key: str, value: object, score: float | None = None) -> Record:
        record: dict[str, object] = {"id": item_id(namespace, key)}
        if score is not None:
            record["score"] = score
        if not isinstance(value, Mapping):
            return record
        metadata = value.get("metadata")
        named = {**value, **(metadata if isinstance(metadata, Mapping) else {})}
        provenance = {name: named[name] for name in PROVENANCE if named.get(name) is not None}
        for name in ("derived_from", "supersedes"):
            if name in provenance:
                own = ids(provenance[name])
                provenance[name] = [each if "/" in each else item_id(namespace, each) for each in own]
        provenance.setdefault("namespace", "/" + "/".join(namespace))
        record["metadata"] = provenance
        if self._content:
            record["content"] = value
        return record


def _batched(emitter: Emitter, tell: _Items, span: MemorySpan, results: Sequence[Any], ops: Sequence[Any]) -> None:
    """A span an operation, below that of the batch."""
    for op, result in zip(ops, results, strict=False):
        match type(op).__name__:
            case "PutOp":
                one = MemorySpan(emitter, "upsert_memory", span.store)
                tell.put(one, result, op.namespace, op.key, op.value)
            case "GetOp":
                one = MemorySpan(emitter, "search_memory", span.store)
                tell.got(one, result, op.namespace, op.key)
            case "SearchOp":
                one = MemorySpan(emitter, "search_memory", span.store)
                tell.searched(one, result, query=op.query)
            case _:
                continue
        one.emit()
