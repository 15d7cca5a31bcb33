"""What mends gaps of frameworks whose records have metadata: what is put there comes back with the record."""

from weaklink_analysis.doctor.beside import BESIDE_MENDS
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
    "vector_stores": (
        "db.query.result.metadata",
        "collection.upsert(ids=[memory_id], documents=[text], metadatas=[{metadata}])  # so in Chroma",
    ),
}
"""Convention -> the attribute that then has it, and how a record is written with it."""

_CAPTURE = 'os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"  # before all imports'
_RETRIEVED = Mend(
    "gen_ai.retrieval.documents",
    (
        "documents = [",
        '    {"id": found.id, "metadata": {"confidence": found.confidence, "created_by": found.agent}}',
        "    for found in results",
        "]",
        'span.set_attribute("gen_ai.retrieval.documents", json.dumps(documents))',
    ),
)
_OWN = {
    ("ids", "openinference"): Mend("retrieval.documents.N.document.id", ("Document(id=memory_id, page_content=text)",)),
    ("ids", "google_adk"): Mend("gen_ai.tool.call.result", (_CAPTURE, "MemoryEntry(id=memory_id, content=content)")),
    ("ids", "mem0_loongsuite"): Mend(
        "gen_ai.memory.output.messages",
        ('os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"', _CAPTURE),
    ),
    ("agent", "mem0_loongsuite"): Mend("gen_ai.memory.agent_id", ("memory.add(text, agent_id=agent)",)),
    ("session", "mem0_loongsuite"): Mend("gen_ai.memory.run_id", ("memory.add(text, run_id=session)",)),
    **{(gap, "genai_retrieval"): _RETRIEVED for gap in ("ids", "confidence", "valid_confidence", "agent")},
    ("session", "mastra"): Mend(
        "gen_ai.conversation.id",
        ("await agent.generate(text, { memory: { thread: session, resource: user } });",),
    ),
    ("agent_run", "mastra"): Mend(
        "gen_ai.operation.name",
        ("await memory.recall({ threadId, resourceId, observabilityContext });  // of the run in which it is asked",),
    ),
}
"""Gap and convention -> what mends it, where the framework has words of its own for it."""


def _mends() -> dict[tuple[str, str, str], Mend]:
    made = {}
    for convention, (attribute, call) in _WRITES.items():
        for gap, (key, value) in _VALUES.items():
            code = call.replace("{metadata}", f'{{"{key}": {value}}}')
            made[gap, convention, ANY] = Mend(attribute.replace("{key}", key), (code,))
    return made | BESIDE_MENDS | {(gap, convention, ANY): mend for (gap, convention), mend in _OWN.items()}


FRAMEWORK_MENDS = _mends()
