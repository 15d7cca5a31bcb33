"""A memledger instance, as an alternative to memledger's own `instrument`: its searches say what they found, here."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from weaklink_analysis.emit.adapters.wrapper import Telling, wrapped
from weaklink_analysis.emit.emitter import GLOBAL, Emitter
from weaklink_analysis.emit.operations import MemorySpan
from weaklink_analysis.emit.records import PROVENANCE, Record

T = TypeVar("T")


def wrap_memledger(ledger: T, *, emitter: Emitter = GLOBAL, store: str | None = None, content: bool = False) -> T:
    """Return what does as `ledger` does, and tells it. Use it instead of `memledger.telemetry.instrument`.

    With `content`, spans carry what is remembered and searched for, too.
    """
    tellings = {
        "add": Telling("create_memory", partial(_added, content)),
        "search": Telling("search_memory", partial(_searched, content)),
        "get": Telling("search_memory", partial(_got, content)),
        "delete": Telling("delete_memory", _deleted),
    }
    return wrapped(ledger, "memledger", tellings, emitter, store)


def _added(content: bool, span: MemorySpan, result: object, text: str, **given: Any) -> None:  # noqa: FBT001
    author = given.get("created_by") or given.get("agent_id")
    # What memledger stores for who does not say.
    fields = {"confidence": 0.5, **given, "created_by": author}
    span.found(_record(result, text if content else None, None, fields))


def _searched(content: bool, span: MemorySpan, result: Any, query: str, **_: Any) -> None:  # noqa: FBT001
    span.found(_records(result.records, content))
    if content:
        span.query = query


def _got(content: bool, span: MemorySpan, result: object, *_: Any, **__: Any) -> None:  # noqa: FBT001
    if result is not None:
        span.found(_records([result], content))


def _deleted(span: MemorySpan, result: object, record_id: str | None = None, **_: Any) -> None:
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
