"""What a memory operation ought to carry, and what it costs if it does not: data for gaps.sql and for people."""

from dataclasses import dataclass

ALL = ("write", "read", "outcome", "lineage")
"""The operations that Tier 3 counts."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that operations of a kind may lack. Conditions are SQL on the columns of `asked` in gaps.sql."""

    code: str
    missing: str
    """When a record lacks it: what its span itself carries, not what was inherited or assumed."""
    assumes: str
    """What weaklink goes by instead, for people."""
    operations: tuple[str, ...] = ALL
    of: str = "TRUE"
    """Which of these operations ought to carry it."""
    known: str = "FALSE"
    """When weaklink knows it from elsewhere in the trace."""
    known_suffices: bool = False
    """Whether that is as good, so that nothing is to be mended."""
    fails: tuple[str, ...] = ()
    """The checks of evaluations that it makes fail; decision_without_memory: the decision has no score at all."""
    unanswered: tuple[str, ...] = ()
    """The checks and findings that have nothing to look at."""


WITHOUT_SCORE = "decision_without_memory"

GAPS = (
    Gap(
        "ids",
        operations=("read",),
        missing="memory_id IS NULL",
        assumes="Nothing is known of what was found: no decision can be traced to it.",
        fails=(WITHOUT_SCORE,),
        unanswered=("attribution_complete", "mean_confidence", "session_context", "decision_cites_unread"),
    ),
    Gap(
        "ids",
        operations=("write",),
        missing="memory_id IS NULL",
        assumes="It makes no version: nothing can be derived from it, and no read can mean it.",
        unanswered=("chain_depth_bounded", "chain_confidence", "confidence_inflated"),
    ),
    Gap(
        "ids",
        operations=("outcome", "lineage"),
        missing="memory_id IS NULL",
        assumes="It counts for no memory.",
    ),
    Gap(
        "confidence",
        operations=("write",),
        missing="declared_confidence IS NULL AND refused_confidence IS NULL",
        assumes="0.5 stands for it, unless one is derived from the source that the span names.",
        fails=(
            "confidence_populated",
            "confidence_above_threshold",
            "mean_confidence",
            "no_flagged_confidence_unhedged",
        ),
        unanswered=("confidence_inflated",),
    ),
    Gap(
        "confidence",
        operations=("read",),
        missing="declared_confidence IS NULL AND refused_confidence IS NULL",
        assumes="What its write declared, or what was derived for it, counts, if that was seen; else 0.5.",
        fails=("confidence_populated", "confidence_above_threshold"),
        unanswered=("no_low_confidence_unhedged", "confidence_mismatch"),
    ),
    Gap(
        "confidence",
        operations=("outcome", "lineage"),
        missing="declared_confidence IS NULL AND refused_confidence IS NULL",
        assumes="Nothing stands for it.",
        fails=("confidence_populated",),
    ),
    Gap(
        "valid_confidence",
        missing="refused_confidence IS NOT NULL",
        of="declared_confidence IS NOT NULL OR refused_confidence IS NOT NULL",
        assumes="What is there is no number from 0 to 1, and counts as missing.",
        fails=("confidence_populated", "confidence_above_threshold"),
        unanswered=("no_low_confidence_unhedged",),
    ),
    Gap(
        "agent",
        missing="NOT has_agent",
        known="agent_id IS NOT NULL",
        assumes="That of the nearest enclosing span that names one stands for it; else nobody.",
        fails=("source_agent_present", "attribution_complete"),
    ),
    Gap(
        "session",
        operations=("read", "write"),
        missing="NOT has_session",
        known="session_id IS NOT NULL",
        known_suffices=True,
        assumes="It belongs to no session, here and where it is relied on.",
        fails=("session_context",),
    ),
    Gap(
        "parents",
        operations=("write",),
        of="after_read",
        missing="len(parent_ids) = 0",
        assumes="It follows a read in its agent run, and counts as derived from nothing: what it declares is believed.",
        unanswered=("chain_depth_bounded", "chain_confidence", "confidence_inflated", "unresolved_parent"),
    ),
    Gap(
        "link_ids",
        operations=("write",),
        of="len(parent_links) > 0",
        missing="list_contains(parent_links, '')",
        assumes="A span link without memory.id names nothing: what the linked span wrote is not looked up.",
        unanswered=("chain_depth_bounded", "chain_confidence", "confidence_inflated", "unresolved_parent"),
    ),
    Gap(
        "agent_run",
        operations=("read", "write"),
        missing="agent_run_span_id IS NULL",
        assumes="The whole trace counts as one agent run, with one decision.",
    ),
)
"""In the order in which one had better mend them."""

CODES = tuple(dict.fromkeys(gap.code for gap in GAPS))
