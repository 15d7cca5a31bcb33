"""For agents: say which memories were read and written, how sure their authors were, and what was decided on them.

    from weaklink_analysis import emit

    with emit.agent_run("diagnosis", session="incident-7"):
        emit.found([emit.record("note-7", confidence=0.3, created_by="triage")])
        emit.wrote("fix-42", "raise max_connections", confidence=0.85, derived_from="note-7")

These are OpenTelemetry spans by the GenAI conventions, with what weaklink needs beside them, sent by whatever tracer
provider the agent has set. It needs opentelemetry-api and nothing else, raises nothing, and without a tracer provider
does nothing. The names here belong to an `Emitter` on the global provider.
"""

from weaklink_analysis.emit.adapters import item_id, wrap_langgraph, wrap_mem0, wrap_memledger
from weaklink_analysis.emit.emitter import GLOBAL, Emitter
from weaklink_analysis.emit.records import Provenance, Record, record

agent_run = GLOBAL.agent_run
memory_write = GLOBAL.memory_write
memory_read = GLOBAL.memory_read
memory_delete = GLOBAL.memory_delete
decision = GLOBAL.decision
wrote = GLOBAL.wrote
found = GLOBAL.found
deleted = GLOBAL.deleted
outcome = GLOBAL.outcome
decided = GLOBAL.decided

__all__ = [
    "Emitter",
    "Provenance",
    "Record",
    "agent_run",
    "decided",
    "decision",
    "deleted",
    "found",
    "item_id",
    "memory_delete",
    "memory_read",
    "memory_write",
    "outcome",
    "record",
    "wrap_langgraph",
    "wrap_mem0",
    "wrap_memledger",
    "wrote",
]
