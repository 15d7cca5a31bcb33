"""For agents: say which memories were read and written, how sure their authors were, and what was decided on them.

    from weaklink_analysis import emit

    with emit.agent_run("diagnosis", session="incident-7"):
        emit.found([emit.record("note-7", confidence=0.3, created_by="triage")])
        emit.wrote("fix-42", "raise max_connections", confidence=0.85, derived_from="note-7")

These are OpenTelemetry spans by the GenAI conventions, with what weaklink needs beside them, sent by whatever tracer
provider the agent has set. It needs opentelemetry-api and nothing else, raises nothing, and without a tracer provider
does nothing. The names here belong to an `Emitter` on the global provider.
"""

from weaklink_analysis.emit.emitter import Emitter
from weaklink_analysis.emit.records import Provenance, Record, record

_GLOBAL = Emitter()

agent_run = _GLOBAL.agent_run
memory_write = _GLOBAL.memory_write
memory_read = _GLOBAL.memory_read
memory_delete = _GLOBAL.memory_delete
decision = _GLOBAL.decision
wrote = _GLOBAL.wrote
found = _GLOBAL.found
deleted = _GLOBAL.deleted
decided = _GLOBAL.decided

__all__ = [
    "Emitter",
    "Provenance",
    "Record",
    "agent_run",
    "decided",
    "decision",
    "deleted",
    "found",
    "memory_delete",
    "memory_read",
    "memory_write",
    "record",
    "wrote",
]
