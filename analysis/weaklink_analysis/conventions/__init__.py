"""Conventions: how spans name memory operations.

A convention is one `.sql` file and the list of the attributes it reads. Its model selects from
`candidates`: the batch's spans that carry one of these attributes or have a name with its prefix,
with columns row_id, name, parent and one VARCHAR column an attribute (null: absent; text as
spans.py says). It yields OPERATION_COLUMNS, and ABOUT if it says so. Where several conventions know a span, the first
in CONVENTIONS counts: the most specific.
"""

from dataclasses import dataclass
from importlib import resources

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
    "verb": "VARCHAR",  # memledger's own name of what a memory span of its does, '' for none; null: it is no such span
}

ABOUT = "about"
"""VARCHAR, JSON: an array of two objects that tell of the record; what both say, the first says."""


@dataclass(frozen=True, slots=True)
class Convention:
    """One way of naming memory operations on spans."""

    name: str
    prefix: str
    """Span names that start so belong to it even without attributes; '' for none."""
    reads: tuple[str, ...]
    only: tuple[str, ...] = ()
    """Values of the first attribute read without which a span is none of its; () for any of the attributes read."""
    tells: bool = False
    """Whether its model also yields ABOUT, which may say how a memory came to be (`sql/recognised_operations.sql`)."""

    @property
    def sql(self) -> str:
        """The convention's model."""
        return resources.files(__package__).joinpath(f"{self.name}.sql").read_text("utf-8")


CONVENTIONS = (
    Convention(
        "memledger",
        prefix="memledger.",
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
    Convention(
        "genai",
        prefix="",
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
        ),
        only=(
            "create_memory",
            "update_memory",
            "upsert_memory",
            "search_memory",
            "delete_memory",
            "create_memory_store",
            "delete_memory_store",
        ),
        tells=True,
    ),
)

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
    """Every attribute that some convention or the context reads, once each."""
    return tuple(dict.fromkeys((*CONTEXT_ATTRIBUTES, *(key for c in CONVENTIONS for key in c.reads))))
