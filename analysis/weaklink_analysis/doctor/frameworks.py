"""What mends gaps of frameworks whose records have metadata: what is put there comes back with the record."""

from weaklink_analysis.doctor.mend import ANY, Mend

_VALUES = {
    "confidence": ("confidence", "confidence"),
    "valid_confidence": ("confidence", "confidence"),
    "agent": ("created_by", "agent"),
    "session": ("session_id", "session"),
    "parents": ("derived_from", "[found.id for found in results]"),
}
"""Gap -> key of the metadata, and what is put there."""

_WRITES = {
    "mem0_agentops": ("mem0.memory.N.metadata.{key}", "memory.add(text, user_id=user, metadata={metadata})"),
    "mem0_loongsuite": ("gen_ai.memory.output.messages", "memory.add(text, user_id=user, metadata={metadata})"),
    "openinference": (
        "retrieval.documents.N.document.metadata",
        "Document(id=memory_id, page_content=text, metadata={metadata})",
    ),
    "google_adk": ("gen_ai.tool.call.result", "MemoryEntry(id=memory_id, content=content, custom_metadata={metadata})"),
}
"""Convention -> the attribute that then has it, and how a record is written with it."""

_CALLS = {
    ("ids", "openinference"): ("retrieval.documents.N.document.id", "Document(id=memory_id, page_content=text)"),
    ("ids", "google_adk"): ("gen_ai.tool.call.result", "MemoryEntry(id=memory_id, content=content)"),
    ("agent", "mem0_loongsuite"): ("gen_ai.memory.agent_id", "memory.add(text, agent_id=agent)"),
    ("session", "mem0_loongsuite"): ("gen_ai.memory.run_id", "memory.add(text, run_id=session)"),
}
"""Gap and convention -> the same, where the framework has words of its own for it."""


def _mends() -> dict[tuple[str, str, str], Mend]:
    made = {}
    for convention, (attribute, call) in _WRITES.items():
        for gap, (key, value) in _VALUES.items():
            code = call.replace("{metadata}", f'{{"{key}": {value}}}')
            made[gap, convention, ANY] = Mend(attribute.replace("{key}", key), (code,))
    own = {(gap, convention, ANY): Mend(attribute, (code,)) for (gap, convention), (attribute, code) in _CALLS.items()}
    return made | own


FRAMEWORK_MENDS = _mends()
