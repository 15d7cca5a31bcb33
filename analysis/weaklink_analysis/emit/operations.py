"""The spans of an agent's work with memory, as docs/instrument.md names them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, set_span_in_context

from weaklink_analysis.emit.guard import swallow
from weaklink_analysis.emit.records import (
    Provenance,
    Record,
    Records,
    as_json,
    as_records,
    as_text,
    ids,
    metadata_of,
    record,
    signed,
)
from weaklink_analysis.emit.scope import Scope, current_scope, with_scope
from weaklink_analysis.emit.spans import Emits, SafeSpan, Value

WRITES = frozenset({"create_memory", "update_memory", "upsert_memory"})
OUTCOME = "record_memory_outcome"
"""An operation of weaklink's own: the GenAI conventions have none that says whether a memory helped."""
_RECORDS = "gen_ai.memory.records"


class AgentRun(SafeSpan):
    """An agent's run. All inside of it inherits agent, session and conversation."""

    __slots__ = ("_agent", "_agent_id", "_scope")

    def __init__(self, emitter: Emits, agent: str, agent_id: str | None, scope: Scope) -> None:
        super().__init__(emitter)
        self._agent, self._agent_id, self._scope = agent, agent_id, scope

    def _name(self) -> str:
        return f"invoke_agent {as_text(self._agent)}"

    def _first(self) -> Mapping[str, Value]:
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": as_text(self._agent),
        }
        if self._agent_id is not None:
            attributes["gen_ai.agent.id"] = as_text(self._agent_id)
        scope = self._scope.within(current_scope())
        return _placed(attributes, scope._replace(agent=None), None)

    def _context(self, span: Span) -> Context:
        return with_scope(self._scope.within(current_scope()), set_span_in_context(span))


class MemorySpan(SafeSpan):
    """An operation on memory records."""

    __slots__ = ("_records", "_sent", "_text", "operation", "query", "store", "success", "title")

    def __init__(
        self,
        emitter: Emits,
        operation: str | None,
        store: str | None = None,
        records: object = (),
        *,
        query: str | None = None,
        success: bool | None = None,
    ) -> None:
        super().__init__(emitter)
        self.operation = operation
        """By the GenAI conventions, or OUTCOME; None: it is none, or not yet known to be one."""
        self.store = store
        self.title = operation
        self._records: list[object] = [records]
        self.query = query
        self.success = success
        """Of an outcome."""
        self._sent: Sequence[Record] = ()
        self._text = ""

    def found(self, records: Records) -> None:
        """Say what was found: ids, or records with what is known of their provenance."""
        self._records.append(records)

    def _name(self) -> str:
        return as_text(self.title)

    def _first(self) -> Mapping[str, Value]:
        return {"gen_ai.operation.name": self.operation} if self.operation else {}

    def _last(self) -> Mapping[str, Value]:
        if self.operation is None:
            return {}
        scope = current_scope()
        self._sent = sent = self._told(scope)
        attributes: dict[str, Value] = {"gen_ai.operation.name": self.operation}
        if sent:
            attributes[_RECORDS] = self._text = as_json(sent)
        if self.operation == "search_memory":
            attributes["gen_ai.memory.record.count"] = len(sent)
        if self.query is not None:
            attributes["gen_ai.memory.query.text"] = as_text(self.query)
        if self.success is not None:
            attributes["memory.success"] = self.success
        return _placed(attributes, scope, self.store)

    def _all(self) -> Mapping[str, Value]:
        return self._last()

    def _fit(self, span: Span) -> None:
        """Half a JSON array names no record: contents are left out where there is no room for them."""
        if self._is_cut(span):
            self._text = as_json(
                [{key: value for key, value in each.items() if key != "content"} for each in self._sent]
            )
            span.set_attribute(_RECORDS, self._text)
            if self._is_cut(span):
                swallow("records were cut in two", ValueError("the limit on the length of span attributes is too low"))

    def _is_cut(self, span: Span) -> bool:
        kept = getattr(span, "attributes", None)
        return kept is not None and kept.get(_RECORDS, self._text) != self._text

    def _told(self, scope: Scope) -> Sequence[Record]:
        records = [*chain.from_iterable(map(as_records, self._records))]
        return [signed(each, scope) for each in records] if self.operation in WRITES else records

    def _links(self) -> Sequence[Link]:
        if self.operation not in WRITES:
            return ()
        parents = [
            parent for each in self._sent if (named := metadata_of(each).get("derived_from")) for parent in ids(named)
        ]
        return _links_to(parents, "derived_from", self._emitter, self.store) if parents else ()

    def _done(self, span: Span) -> None:
        if self.operation in WRITES:
            context = span.get_span_context()
            for each in self._sent:
                if (memory_id := each.get("id")) is not None:
                    self._emitter.known.remember(self.store, str(memory_id), context)


class MemoryWrite(MemorySpan):
    """A write of one memory. What becomes known inside of it is set on it."""

    __slots__ = ("content", "memory_id", "provenance")

    def __init__(  # noqa: PLR0917
        self,
        emitter: Emits,
        operation: str,
        store: str | None,
        memory_id: str | None,
        content: object,
        provenance: Provenance,
    ) -> None:
        super().__init__(emitter, operation, store)
        self.memory_id = memory_id
        self.content = content
        self.provenance = provenance

    def _told(self, scope: Scope) -> Sequence[Record]:
        return (signed(record(self.memory_id, self.content, **self.provenance), scope),)


class Decision(SafeSpan):
    """A decision. What it writes goes inside; what it relied on may be said at any time until it ends."""

    __slots__ = ("_relied", "_sent", "_store", "_title")

    def __init__(self, emitter: Emits, name: str, relied_on: Records, store: str | None) -> None:
        super().__init__(emitter)
        self._title, self._store = name, store
        self._relied: list[object] = [relied_on]
        self._sent: Sequence[str] = ()

    def relied_on(self, *memories: str | Record) -> None:
        """Name memories that it relied on."""
        self._relied.extend(memories)

    def _name(self) -> str:
        return as_text(self._title)

    def _first(self) -> Mapping[str, Value]:
        return _placed({"memory.decision": True}, current_scope(), self._store)

    def _last(self) -> Mapping[str, Value]:
        named = chain.from_iterable(map(ids, self._relied))
        self._sent = [*dict.fromkeys(map(as_text, named))]
        return {"memory.relied_on": self._sent} if self._sent else {}

    def _links(self) -> Sequence[Link]:
        return _links_to(self._sent, "relied_on", self._emitter, self._store)


def _placed(attributes: dict[str, Value], scope: Scope, store: str | None) -> dict[str, Value]:
    """The attributes, and where it happens, as far as that is known."""
    if store is not None:
        attributes["gen_ai.memory.store.id"] = as_text(store)
    if scope.agent is not None:
        attributes["memory.agent.id"] = as_text(scope.agent)
    if scope.session is not None:
        attributes["session.id"] = as_text(scope.session)
    if scope.conversation is not None:
        attributes["gen_ai.conversation.id"] = as_text(scope.conversation)
    return attributes


def _links_to(memories: Iterable[str], kind: str, emitter: Emits, store: str | None) -> list[Link]:
    """Links to the spans that wrote these memories, as far as this process knows them."""
    links = []
    for memory in dict.fromkeys(memories):
        span = emitter.known.find(store, memory)
        if span is not None:
            links.append(Link(span, {"memory.link": kind, "memory.id": as_text(memory)}))
    return links
