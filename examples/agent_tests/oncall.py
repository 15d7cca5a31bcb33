"""The agents under test: one looks for a cause, one for a fix, one applies it. They share one memory.

It is told on spans by `weaklink_analysis.emit`, which needs nothing but opentelemetry-api.
"""

from dataclasses import dataclass, field

from weaklink_analysis import emit


@dataclass(frozen=True)
class Note:
    """What an agent remembers, who said it, and how sure they were."""

    id: str
    text: str
    confidence: float
    author: str
    hedged: bool = False


@dataclass
class Memory:
    """Notes by their ids."""

    notes: dict[str, Note] = field(default_factory=dict)

    def write(self, note: Note, derived_from: str | tuple[()] = ()) -> None:
        """Keep a note, in place of the one of the same id."""
        emit.wrote(
            note.id,
            note.text,
            operation="upsert_memory",
            confidence=note.confidence,
            hedged=note.hedged,
            created_by=note.author,
            derived_from=derived_from,
        )
        self.notes[note.id] = note

    def read(self, note_id: str) -> Note:
        """Find a note."""
        note = self.notes[note_id]
        known = emit.record(
            note.id, note.text, confidence=note.confidence, hedged=note.hedged, created_by=note.author, session_id="i-7"
        )
        emit.found(known, query=note_id)
        return note


def triage(memory: Memory, cause: str, confidence: float) -> None:
    """Say what the cause may be; below 0.5 it is a guess, and marked as one."""
    with emit.agent_run("triage", session="i-7"):
        memory.write(Note("cause", cause, confidence, "triage", hedged=confidence < 0.5))


def confirm(memory: Memory, confidence: float) -> None:
    """Let a person look at the cause, and write it again with what they found."""
    with emit.agent_run("on-call engineer", session="i-7"):
        memory.write(Note("cause", memory.notes["cause"].text, confidence, "on-call engineer"))


def diagnose(memory: Memory) -> None:
    """Derive a fix from the cause."""
    with emit.agent_run("diagnosis", session="i-7"):
        cause = memory.read("cause")
        memory.write(Note("fix", f"mend that {cause.text}", 0.85, "diagnosis"), derived_from="cause")


def act(memory: Memory) -> None:
    """Apply the fix."""
    with emit.agent_run("action", session="i-7"):
        fix = memory.read("fix")
        memory.write(Note("change", f"did: {fix.text}", 0.95, "action"), derived_from="fix")
