"""MAI Tier 1: did a decision rest on memories that say who wrote them, when, and how sure they were?

The numbers are data (`ATTRIBUTION`), for SQL models to read the same. The criteria are those of
memledger 2.0.1's `evaluate_attribution_integrity`; docs/parity.md lists the differences.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from dataclasses import field as default
from typing import Any, NamedTuple

from weaklink_analysis.mai.records import confidence, field, is_hedged, known, raw_confidence, require_record


@dataclass(frozen=True, slots=True)
class Attribution:
    """The numbers of Tier 1. Confidences and shares are in [0, 1]; the rest are points; a score starts at 1."""

    name: str = "mai-attribution/1"
    evaluation: str = "memory_attribution_integrity"
    threshold: float = 0.7
    low: float = 0.4
    confident: float = 0.6
    assumed_confidence: float = 0.5
    session_share: float = 0.5
    """Below this share of records with a session, those without cost points."""
    authors: int = 2
    """So many distinct authors corroborate each other."""
    unattributed: float = 0.4
    """Off, times the share of records without an author."""
    low_unhedged: float = 0.25
    """Off for each record below `low` and not hedged."""
    flagged_unhedged: float = 0.1
    """Off for each record from `low` to below `confident` and not hedged."""
    mean_shortfall: float = 0.5
    """Off, times what the mean confidence lacks to `confident`."""
    without_session: float = 0.15
    """Off, times the share of records without a session."""
    weak_chain: float = 0.2
    """Off if the chain's confidence is below `low`."""
    truncated_chain: float = 0.05
    """Off if the chain is truncated."""
    corroborated: float = 0.05
    """Added for `authors` distinct authors."""


ATTRIBUTION = Attribution()


@dataclass(frozen=True, slots=True)
class AttributionIntegrityResult:
    """A Tier 1 verdict. The score is in [0, 1], rounded to 4 places; the verdict was taken before rounding."""

    score: float
    passed: bool
    threshold: float = ATTRIBUTION.threshold
    details: dict[str, Any] = default(default_factory=dict)
    explanation: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class ReliedOn:
    """A memory that a decision relied on. Confidences are in [0, 1]."""

    declared: float
    effective: float
    author: object = None
    """None: not known. Only whether two are equal counts."""
    has_session: bool = False
    hedged: bool = False


@dataclass(frozen=True, slots=True)
class _Tally:
    """What the criteria count over the records relied on."""

    count: int
    attributed: int
    authors: int
    sessions: int
    low: int
    flagged: int
    mean: float
    chain: float | None
    """The chain's confidence; None: there is no chain, or it says none."""
    truncated: bool


class _Criterion(NamedTuple):
    points: Callable[[_Tally, Attribution], float]
    """What it adds to the score; 0: it does not apply."""
    text: str


_CRITERIA = (
    _Criterion(
        lambda t, a: -a.unattributed * (1.0 - t.attributed / t.count),
        "Attribution gap: {t.attributed}/{t.count} have source agent",
    ),
    _Criterion(lambda t, a: -a.low_unhedged * t.low, "Low-confidence unhedged: {t.low} below {a.low}"),
    _Criterion(
        lambda t, a: -a.flagged_unhedged * t.flagged,
        "Flagged-confidence unhedged: {t.flagged} in {a.low}-{a.confident}",
    ),
    _Criterion(lambda t, a: -a.mean_shortfall * max(0.0, a.confident - t.mean), "Low mean confidence: {t.mean:.2f}"),
    _Criterion(
        lambda t, a: -a.without_session * (1.0 - t.sessions / t.count) * (t.sessions / t.count < a.session_share),
        "Weak session context: {t.sessions}/{t.count} have session IDs",
    ),
    _Criterion(
        lambda t, a: -a.weak_chain * (t.chain is not None and t.chain < a.low),
        "Chain contains low-confidence hop (min={t.chain:.2f})",
    ),
    _Criterion(lambda t, a: -a.truncated_chain * t.truncated, "Chain truncated (depth > max_hops)"),
    _Criterion(lambda t, a: a.corroborated * (t.authors >= a.authors), "Multi-agent corroboration: {t.authors} agents"),
)
"""In the order in which they are applied, on which the last bit of a sum depends."""


def evaluate_attribution_integrity(
    decision_memory_id: str,  # noqa: ARG001 - the reference has it, and does not look at it either
    retrieved_memories: Sequence[Any],
    chain: Any = None,
    threshold: float = ATTRIBUTION.threshold,
) -> AttributionIntegrityResult:
    """Score a decision by the records that were retrieved before it (MAI Tier 1).

    Args:
        decision_memory_id: The memory that holds the decision.
        retrieved_memories: Records, mappings or objects: id, created_by, confidence (else importance), session_id,
            hedged. What is not said counts as 0.5, no author, no session, not hedged.
        chain: The decision memory's attribution chain: chain (its hops), min_confidence, truncated.
        threshold: The score from which the decision passes.

    Returns:
        The result; score 0.0 and not passed for no records.

    Raises:
        TypeError: An element of `retrieved_memories` is no record.
    """
    records = list(retrieved_memories or ())
    if not records:
        error = {"error": "no_retrieved_memories"}
        return AttributionIntegrityResult(0.0, False, threshold, error, "No retrieved memories to evaluate.")
    for place, record in enumerate(records):
        require_record(record, f"retrieved_memories[{place}]")
    hops = field(chain, "chain", ()) if chain else ()
    shown = field(chain, "min_confidence") if chain else None
    tally = _tally(
        [_relied_on(record) for record in records],
        chain=confidence(shown) if hops else None,
        truncated=bool(hops and field(chain, "truncated")),
    )
    notes = ["No derivation chain (original memory)"] if chain and not hops else []
    return _judge(tally, threshold, ATTRIBUTION, shown, notes)


def evaluate_decision(
    relied_on: Sequence[ReliedOn],
    decision_effective: float | None = None,
    *,
    truncated: bool = False,
    effective: bool = False,
    threshold: float = ATTRIBUTION.threshold,
    attribution: Attribution = ATTRIBUTION,
) -> AttributionIntegrityResult | None:
    """Score a decision as the service does: `score`, or with `effective` the `score_effective` that sees its chains.

    Args:
        relied_on: The memories relied on, one an entry.
        decision_effective: Effective confidence of the decision's own memory, in [0, 1]; None without one.
        truncated: Whether that memory's chain is longer than max_hops.
        effective: Judge by effective confidence. Then the chain's confidence is the lowest of the decision memory's and
            those relied on.
        threshold: The score from which the decision passes.
        attribution: The numbers to score with.

    Returns:
        The result; None if the decision relied on nothing, and is not evaluable.
    """
    if not relied_on:
        return None
    chain = decision_effective
    if effective:
        known_effective = [record.effective for record in relied_on]
        chain = min(known_effective if chain is None else [chain, *known_effective])
    tally = _tally(relied_on, chain=chain, truncated=truncated, effective=effective, attribution=attribution)
    return _judge(tally, threshold, attribution, chain, [])


def _relied_on(record: Any) -> ReliedOn:
    declared = confidence(raw_confidence(record))
    if declared is None:
        declared = ATTRIBUTION.assumed_confidence
    return ReliedOn(
        declared=declared,
        effective=declared,
        author=known(field(record, "created_by")),
        has_session=known(field(record, "session_id")) is not None,
        hedged=is_hedged(field(record, "hedged")),
    )


def _tally(
    relied_on: Sequence[ReliedOn],
    *,
    chain: float | None,
    truncated: bool,
    effective: bool = False,
    attribution: Attribution = ATTRIBUTION,
) -> _Tally:
    confidences = [record.effective if effective else record.declared for record in relied_on]
    unhedged = [c for c, record in zip(confidences, relied_on, strict=True) if not record.hedged]
    authors = [record.author for record in relied_on if record.author is not None]
    return _Tally(
        count=len(relied_on),
        attributed=len(authors),
        authors=_distinct(authors),
        sessions=sum(record.has_session for record in relied_on),
        low=sum(c < attribution.low for c in unhedged),
        flagged=sum(attribution.low <= c < attribution.confident for c in unhedged),
        mean=sum(confidences) / len(confidences),
        chain=chain,
        truncated=truncated,
    )


def _distinct(values: Sequence[object]) -> int:
    try:
        return len(set(values))
    except TypeError:  # a list, say: authors come as they are
        return len({repr(value) for value in values})


def _judge(
    t: _Tally, threshold: float, a: Attribution, chain_min_confidence: object, notes: Sequence[str]
) -> AttributionIntegrityResult:
    applied = [(points, text) for points, text in ((c.points(t, a), c.text) for c in _CRITERIA) if points]
    score = 1.0
    for points, _ in applied:
        score += points
    score = max(0.0, min(1.0, score))
    said = [(points, f"{text.format(t=t, a=a)} ({points:+.2f})") for points, text in applied]
    penalties = [text for points, text in said if points < 0]
    bonuses = ["All retrieved memories have source attribution"] if t.attributed == t.count else []
    bonuses += [*notes, *(text for points, text in said if points > 0)]
    parts = {"Strengths": bonuses, "Issues": penalties}
    return AttributionIntegrityResult(
        score=round(score, 4),
        passed=score >= threshold,
        threshold=threshold,
        details={
            "attributed_ratio": t.attributed / t.count,
            "low_confidence_unhedged": t.low,
            "mean_confidence": round(t.mean, 4),
            "session_context_ratio": t.sessions / t.count,
            "unique_agents": t.authors,
            "chain_min_confidence": chain_min_confidence,
            "penalties": penalties,
            "bonuses": bonuses,
        },
        explanation=". ".join(f"{name}: {'; '.join(texts)}" for name, texts in parts.items() if texts)
        or "No issues detected.",
    )
