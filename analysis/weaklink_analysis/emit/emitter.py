"""What an agent says of its memory: the names that `weaklink_analysis.emit` offers, on one tracer provider."""

from collections.abc import Iterable
from typing import Unpack

from opentelemetry.trace import ProxyTracerProvider, Tracer, TracerProvider, get_tracer, get_tracer_provider

from weaklink_analysis.emit.known import KnownSpans
from weaklink_analysis.emit.operations import OUTCOME, AgentRun, Decision, MemorySpan, MemoryWrite
from weaklink_analysis.emit.records import Provenance, Records
from weaklink_analysis.emit.scope import Scope


class Emitter:
    """Emits to one tracer provider; by default to the global one, as soon as there is one.

    Nothing here raises. `store` is where memories are: a memory is known by environment, store and id.
    """

    def __init__(self, tracer_provider: TracerProvider | None = None) -> None:
        self._provider = tracer_provider
        self._tracer: Tracer | None = None
        self.known = KnownSpans()

    @property
    def is_on(self) -> bool:
        """Whether anybody has set a tracer provider; without one, nothing is done."""
        return self._provider is not None or type(get_tracer_provider()) is not ProxyTracerProvider

    @property
    def tracer(self) -> Tracer:
        """The tracer, made at first use."""
        if self._tracer is None:
            self._tracer = get_tracer("weaklink.emit", tracer_provider=self._provider)
        return self._tracer

    def agent_run(
        self, agent: str, *, agent_id: str | None = None, session: str | None = None, conversation: str | None = None
    ) -> AgentRun:
        """Run an agent: a span that all inside of it inherits agent, session and conversation from."""
        return AgentRun(self, agent, agent_id, Scope(agent_id or agent, session, conversation))

    def memory_write(
        self,
        memory_id: str | None = None,
        content: object = None,
        *,
        store: str | None = None,
        operation: str = "create_memory",
        **provenance: Unpack[Provenance],
    ) -> MemoryWrite:
        """Write a memory inside of this; set `memory_id` on what it gives if the store makes the id.

        `operation` may be `update_memory` or `upsert_memory`, too.
        """
        return MemoryWrite(self, operation, store, memory_id, content, provenance)

    def memory_read(self, query: str | None = None, *, store: str | None = None) -> MemorySpan:
        """Search inside of this, and tell what it gives what was `found`."""
        return MemorySpan(self, "search_memory", store, query=query)

    def memory_delete(self, memory_ids: str | Iterable[str] = (), *, store: str | None = None) -> MemorySpan:
        """Delete memories inside of this."""
        return MemorySpan(self, "delete_memory", store, memory_ids)

    def decision(self, name: str = "decide", *, relied_on: Records = (), store: str | None = None) -> Decision:
        """Decide inside of this, and write what was decided; `relied_on` are memories."""
        return Decision(self, name, relied_on, store)

    def wrote(
        self,
        memory_id: str,
        content: object = None,
        *,
        store: str | None = None,
        operation: str = "create_memory",
        **provenance: Unpack[Provenance],
    ) -> None:
        """Say that a memory was written just now."""
        MemoryWrite(self, operation, store, memory_id, content, provenance).emit()

    def found(self, records: Records, *, query: str | None = None, store: str | None = None) -> None:
        """Say what a search found just now: ids, or records with what is known of their provenance; () for nothing."""
        MemorySpan(self, "search_memory", store, records, query=query).emit()

    def deleted(self, memory_ids: str | Iterable[str], *, store: str | None = None) -> None:
        """Say that memories were deleted just now."""
        MemorySpan(self, "delete_memory", store, memory_ids).emit()

    def outcome(self, memory_ids: str | Iterable[str], *, success: bool, store: str | None = None) -> None:
        """Say that memories were of help just now, or misled."""
        MemorySpan(self, OUTCOME, store, memory_ids, success=success).emit()

    def decided(self, relied_on: Records, *, name: str = "decide", store: str | None = None) -> None:
        """Say that a decision was made just now, and which memories it relied on."""
        Decision(self, name, relied_on, store).emit()


GLOBAL = Emitter()
"""On the global tracer provider."""
