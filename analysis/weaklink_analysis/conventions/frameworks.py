"""What conventions other than memledger's and GenAI's memory spans read; docs/conventions.md describes each."""

from weaklink_analysis.conventions.convention import Convention

_AGENTCORE = (
    *("CreateEvent", "GetEvent", "ListEvents", "DeleteEvent"),
    *("RetrieveMemoryRecords", "ListMemoryRecords", "GetMemoryRecord", "DeleteMemoryRecord"),
    *("BatchCreateMemoryRecords", "BatchUpdateMemoryRecords", "BatchDeleteMemoryRecords"),
)
_VECTOR_STORES = ("chroma", "pinecone", "qdrant", "milvus", "weaviate", "lancedb", "marqo")

FRAMEWORKS = (
    Convention(
        "mem0_agentops",
        names=("mem0.*",),
        also=(
            "mem0.memory_id",
            "mem0.agent_id",
            "mem0.run_id",
            "mem0.results_count",
            "mem0.metadata.confidence",
            "mem0.metadata.hedged",
            "mem0.metadata.derived_from",
            "mem0.metadata.created_by",
            "mem0.metadata.session_id",
        ),
        prefixes=("mem0.memory.",),
    ),
    Convention(
        "mem0_loongsuite",
        reads=("gen_ai.operation.name",),
        only=("memory_operation",),
        also=(
            "gen_ai.memory.operation",
            "gen_ai.memory.id",
            "gen_ai.memory.memory_type",
            "gen_ai.memory.agent_id",
            "gen_ai.memory.run_id",
            "gen_ai.memory.result_count",
            "gen_ai.memory.output.messages",
        ),
    ),
    Convention(
        "agentcore",
        names=(*_AGENTCORE, "Bedrock AgentCore.*"),
        also=("memory.id", "gen_ai.memory.id", "event.id", "actor.id", "namespace"),
    ),
    Convention(
        "google_adk",
        reads=("gen_ai.tool.name",),
        only=("load_memory",),
        also=("gen_ai.operation.name", "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response"),
    ),
    Convention(
        "cognee",
        names=(
            *("cognee.api.remember", "cognee.api.recall", "cognee.session.add_qa"),
            *("memory.store", "memory.retrieve", "memory.delete"),
        ),
        also=(
            *("memory.system", "memory.collection", "cognee.dataset.name", "cognee.session.id"),
            *("cognee.result.count", "cognee.operation.mode"),
        ),
    ),
    Convention(
        "memory_semconv",
        names=(
            *("memory.write", "memory.read", "memory.consolidate", "memory.invalidate"),
            *("memory.add", "memory.search", "memory.update", "memory.delete"),
        ),
        also=(
            *("memory.system", "memory.operation", "memory.collection", "memory.cube.id", "memory.session.id"),
            *("memory.result.count", "memory.results.count"),
        ),
    ),
    Convention(
        "graphiti",
        names=("graphiti.add_episode", "graphiti.add_episode_bulk", "graphiti.search.execute_scopes"),
        also=(
            *("episode.uuid", "group_id"),
            *("result.edges", "result.nodes", "result.episodes", "result.communities"),
        ),
    ),
    Convention(
        "mastra",
        reads=("mastra.span.type",),
        only=("memory_operation",),
        also=("mastra.memory_operation.input",),
    ),
)
"""Of frameworks: they go before GenAI."""

RETRIEVAL = (
    Convention(
        "genai_retrieval",
        reads=("gen_ai.operation.name",),
        only=("retrieval",),
        also=("gen_ai.data_source.id", "gen_ai.retrieval.documents"),
    ),
    Convention(
        "openinference",
        reads=("openinference.span.kind",),
        only=("RETRIEVER",),
        also=("retrieval.documents", "output.value"),
        prefixes=("retrieval.documents.",),
    ),
    Convention(
        "vector_stores",
        reads=("db.system",),
        only=(*_VECTOR_STORES, *(name.capitalize() for name in _VECTOR_STORES)),
        also=(
            *("db.operation", "db.operation.name"),
            *("db.milvus.search.result_count", "db.vector.query.result.matches_length"),
        ),
        prefixes=("db.vector.query.result.",),
        events=("db.query.result", "db.search.result"),
        event_reads=(
            *("db.query.result.id", "db.query.result.score", "db.query.result.metadata"),
            *("db.search.result.id", "db.search.result.entity", "id"),
        ),
    ),
)
"""Of whatever was retrieved: they go after GenAI."""
