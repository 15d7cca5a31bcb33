"""What mends gaps that a framework's spans have no words for: it is told beside them, and they are left out.

Calls and names are those of the frameworks as of late 2026; docs/conventions.md says what each can tell.
"""

from dataclasses import dataclass

from weaklink_analysis.doctor.mend import ANY, Mend

_EMIT = "from weaklink_analysis import emit"
_WRITE = (
    _EMIT,
    "with emit.memory_write(",
    "    confidence=confidence, created_by=agent, session_id=session, derived_from=[found.id for found in results]",
    ") as write:",
)
_READ = (_EMIT, "with emit.memory_read(query) as read:")
_WRAP = (_EMIT, "memory = emit.wrap_mem0(memory)")
_OPENTELEMETRY = 'import { trace } from "@opentelemetry/api";'
_ALL = ("ids", "confidence", "valid_confidence", "agent", "parents")
_MEM0 = ("name: mem0-agentops-told", "names: [mem0.*]")
_LOONGSUITE = ("name: mem0-loongsuite-told", "reads: [gen_ai.memory.operation]")
_MASTRA = ("name: mastra-told", "reads: [mastra.span.type]", "only: [memory_operation]")


@dataclass(frozen=True, slots=True)
class _Beside:
    """How an operation is told beside, and which spans of the framework's then say it twice."""

    convention: str
    operation: str
    code: tuple[str, ...]
    spans: tuple[str, ...]
    """Lines of a convention of one's own that knows them, its name first."""
    gaps: tuple[str, ...] = _ALL

    @property
    def mend(self) -> Mend:
        aside = (*self.spans, "sql: SELECT row_id, 'other' AS kind FROM candidates")
        listed = (f"{'      ' if place else '    - '}{line}" for place, line in enumerate(aside))
        return Mend("gen_ai.memory.records", self.code, ("analysis:", "  conventions:", *listed))


_BESIDE = (
    _Beside("mem0_agentops", ANY, _WRAP, _MEM0, ("ids",)),
    _Beside("mem0_agentops", "lineage", _WRAP, _MEM0),
    # LoongSuite tells the keys of the metadata that an add was given, and not the values.
    _Beside("mem0_loongsuite", "write", _WRAP, _LOONGSUITE, ("confidence", "valid_confidence", "parents")),
    _Beside("mem0_loongsuite", "lineage", _WRAP, _LOONGSUITE, ("confidence", "valid_confidence")),
    _Beside(
        "agentcore",
        "write",
        (*_WRITE, '    write.memory_id = client.create_event(memory, agent, session, messages)["eventId"]'),
        (
            "name: agentcore-writes-told",
            "names:",
            "  - CreateEvent",
            "  - BatchCreateMemoryRecords",
            "  - BatchUpdateMemoryRecords",
            "  - Bedrock AgentCore.CreateEvent",
            "  - Bedrock AgentCore.Batch*",
        ),
    ),
    _Beside(
        "agentcore",
        "read",
        (
            *_READ,
            "    for found in client.retrieve_memories(memory, namespace=namespace, query=query):",
            '        read.found(emit.record(found["memoryRecordId"], **known(found["memoryRecordId"])))',
        ),
        (
            "name: agentcore-reads-told",
            "names:",
            "  - RetrieveMemoryRecords",
            "  - GetMemoryRecord",
            "  - ListMemoryRecords",
            "  - GetEvent",
            "  - ListEvents",
            "  - Bedrock AgentCore.Retrieve*",
            "  - Bedrock AgentCore.Get*",
            "  - Bedrock AgentCore.List*",
        ),
    ),
    _Beside(
        "cognee",
        "write",
        (
            *_WRITE,
            "    done = await cognee.remember(text)",
            '    write.memory_id = done.entry_id or done.items[0]["id"]',
        ),
        ("name: cognee-writes-told", "names: [cognee.api.remember, cognee.session.add_qa, memory.store]"),
    ),
    _Beside(
        "cognee",
        "read",
        (
            *_READ,
            "    for found in await cognee.recall(query, query_type=SearchType.CHUNKS):  # of a session: found.qa_id",
            '        read.found(emit.record(found.metadata["data_id"], **known(found.metadata["data_id"])))',
        ),
        ("name: cognee-reads-told", "names: [cognee.api.recall, memory.retrieve]"),
    ),
    _Beside(
        "memory_semconv",
        "write",
        (
            *_WRITE,
            "    cube.text_mem.add([item])  # MemOS; in MemPalace and memU their own call, and the id that it gives",
            "    write.memory_id = item.id",
        ),
        ("name: memory-writes-told", "names: [memory.write, memory.consolidate, memory.add, memory.update]"),
    ),
    _Beside(
        "memory_semconv",
        "read",
        (
            *_READ,
            "    for found in cube.text_mem.search(query, top_k):  # MemOS",
            "        read.found(emit.record(found.id, **known(found.id)))",
        ),
        ("name: memory-reads-told", "names: [memory.read, memory.search]"),
    ),
    _Beside(
        "graphiti",
        "write",
        (
            *_WRITE,
            "    added = await graphiti.add_episode(name, text, source_description, reference_time)",
            "    write.memory_id = added.episode.uuid",
            "for fact in added.edges:  # a search finds these",
            "    emit.wrote(",
            "        fact.uuid, confidence=confidence, created_by=agent, session_id=session,",
            "        derived_from=added.episode.uuid,",
            "    )",
        ),
        ("name: graphiti-writes-told", "names: [graphiti.add_episode, graphiti.add_episode_bulk]"),
    ),
    _Beside(
        "graphiti",
        "read",
        (
            *_READ,
            "    for found in await graphiti.search(query):",
            "        read.found(emit.record(found.uuid, derived_from=found.episodes, **known(found.uuid)))",
        ),
        ("name: graphiti-reads-told", "names: [graphiti.search.execute_scopes]"),
    ),
    _Beside(
        "mastra",
        "write",
        (
            _OPENTELEMETRY,
            "await memory.saveMessages({ messages });",
            "const derived_from = results.map((found) => found.id);",
            "const metadata = { confidence, created_by: agent, session_id: session, derived_from };",
            "const records = JSON.stringify(messages.map(({ id }) => ({ id, metadata })));",
            'const attributes = { "gen_ai.operation.name": "create_memory", "gen_ai.memory.records": records };',
            'trace.getTracer("agent").startSpan("create_memory", { attributes }).end();',
        ),
        _MASTRA,
    ),
    _Beside(
        "mastra",
        "read",
        (
            _OPENTELEMETRY,
            "const { messages } = await memory.recall({ threadId, resourceId });",
            "const records = JSON.stringify(messages.map(({ id }) => ({ id, metadata: known(id) })));",
            'const attributes = { "gen_ai.operation.name": "search_memory", "gen_ai.memory.records": records };',
            'trace.getTracer("agent").startSpan("search_memory", { attributes }).end();',
        ),
        _MASTRA,
    ),
    _Beside(
        "vector_stores",
        "write",
        (
            *_WRITE,
            "    collection.upsert(ids=[memory_id], documents=[text])  # Chroma; so with the call of any store",
            "    write.memory_id = memory_id",
        ),
        (
            "name: vectors-writes-told",
            "names: [chroma.add, chroma.up*, pinecone.up*, milvus.insert, milvus.upsert, qdrant.up*, lancedb.add]",
        ),
        (*_ALL, "session"),
    ),
    _Beside(
        "vector_stores",
        "read",
        (
            *_READ,
            "    found = collection.get(ids=memory_ids)  # Chroma's own spans tell it of query, and Qdrant's never",
            '    for memory_id, metadata in zip(found["ids"], found["metadatas"], strict=True):',
            '        read.found({"id": memory_id, "metadata": metadata})',
        ),
        (
            "name: vectors-reads-told",
            "names:",
            "  [chroma.get, chroma.peek, milvus.get, qdrant.search*, qdrant.query*, qdrant.scroll, lancedb.search]",
        ),
        ("ids",),
    ),
)

BESIDE_MENDS = {(gap, one.convention, one.operation): one.mend for one in _BESIDE for gap in one.gaps}
"""By gap, convention and operation, as those of mends.py."""
