"""Conventions: how spans name memory operations.

A convention is one `.sql` file and what it reads (convention.py). Its model selects from `candidates`: a row a span
that it may know, with row_id, name and one VARCHAR column an attribute (null: absent; text as spans.py says); and,
where it asks for them, from `indexed`, `events` and `links`. It yields row_id, kind, and what it knows of the other
OPERATION_COLUMNS. Where several conventions know a span, the first in CONVENTIONS counts: the most specific.
"""

from weaklink_analysis.conventions.convention import Convention
from weaklink_analysis.conventions.frameworks import FRAMEWORKS, RETRIEVAL

OPERATION_COLUMNS = {
    "row_id": "BIGINT",  # the span
    "ordinal": "INTEGER",  # the record's place on the span, from 0
    "kind": "VARCHAR",  # see operations.py
    "store": "VARCHAR",  # gen_ai.memory.store.id
    "memory_id": "VARCHAR",  # null: the span names no record
    "memory_type": "VARCHAR",
    "namespace": "VARCHAR",
    "record_agent": "VARCHAR",  # who the span says wrote the record
    "own_agent": "VARCHAR",  # the agent that acts, where the span says so in the convention's own words
    "record_session": "VARCHAR",
    "raw_confidence": "VARCHAR",  # as it came; operations.sql decides what is valid
    "hedged": "BOOLEAN",
    "parents_json": "VARCHAR",  # a JSON array of ids, or one bare id
    "score": "DOUBLE",
    "rank": "INTEGER",
    "success": "BOOLEAN",  # of an outcome
    "counted": "BOOLEAN",  # whether Tier 3 counts it
    "about": "VARCHAR",  # JSON: one or two objects that tell of the record; what both say, the first says
    "verb": "VARCHAR",  # memledger's own name of what a memory span of its does, '' for none; null: it is no such span
}


CONVENTIONS = (
    Convention(
        "memledger",
        names=("memledger.*",),
        reads=(
            "memledger.memory.id",
            "memledger.memory.type",
            "memledger.memory.confidence",
            "memledger.memory.source_agent_id",
            "memledger.memory.session_id",
            "memledger.memory.parent_ids",
            "memledger.memory.namespace",
            "memledger.memory.operation",
            "memledger.memory.hedged",
            "memledger.memory_id",
            "memledger.existing_id",
            "memledger.promoted_id",
            "memledger.success",
            "memledger.result_count",
        ),
    ),
    *FRAMEWORKS,
    Convention(
        "genai",
        reads=(
            "gen_ai.operation.name",
            "gen_ai.memory.store.id",
            "gen_ai.memory.record.id",
            "gen_ai.memory.record.count",
            "gen_ai.memory.records",
            "memory.confidence",
            "memory.hedged",
            "memory.derived_from",
            "memory.agent.id",
            "memory.success",
        ),
        only=(
            "create_memory",
            "update_memory",
            "upsert_memory",
            "search_memory",
            "delete_memory",
            "record_memory_outcome",
            "create_memory_store",
            "delete_memory_store",
        ),
    ),
    *RETRIEVAL,
)
"""The most specific first."""

CONTEXT_ATTRIBUTES = (
    "gen_ai.agent.id",
    "gen_ai.agent.name",
    "agent.name",
    "memory.agent.id",
    "memledger.memory.source_agent_id",
    "memledger.memory.session_id",
    "session.id",
    "gen_ai.conversation.id",
    "openinference.span.kind",
    "memory.confidence_policy.min_threshold",
    "memory.confidence_policy.flag_threshold",
    "gen_ai.operation.name",
    "gen_ai.memory.store.id",
    "memory.decision",
    "memory.relied_on",
    "memory.type",
    "memory.source",
    "memory.observations",
    "memory.confirmed",
    "memory.grounding",
    "memory.extractor.model",
    "memory.extractor.logprobs",
    "gen_ai.response.model",
    "gen_ai.request.model",
    "llm.model_name",
)
"""What any span may carry: agent and session, for its descendants too; its own thresholds; that it runs an agent, or
decides, and on which memories it relied; how a memory came to be; and which model answered."""


def attributes_read() -> tuple[str, ...]:
    """Every attribute of a span that some convention or the context reads, once each."""
    return tuple(dict.fromkeys((*CONTEXT_ATTRIBUTES, *(key for c in CONVENTIONS for key in c.attributes))))
