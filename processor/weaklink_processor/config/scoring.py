"""Settings of confidences that are derived, of how memories age, and of what a decision loses points for."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from weaklink_analysis.mai.attribution import ATTRIBUTION
from weaklink_analysis.mai.rubrics import RUBRICS
from weaklink_analysis.scoring import word
from weaklink_processor.config.values import Count, Number, Section, Share, mapping


def _words(values: dict[str, float]) -> dict[str, float]:
    named = {word(name): value for name, value in values.items()}
    if "" in named or len(named) < len(values):
        raise ValueError("expected names, each once; capitals, blanks, hyphens and underscores make no difference")
    return named


def _parts(values: dict[str, float]) -> dict[str, float]:
    named = {part.strip().lower(): value for part, value in values.items()}
    if "" in named or len(named) < len(values):
        raise ValueError("expected parts of models' names, each once; capitals make no difference")
    return named


Words = Annotated[dict[str, Share], BeforeValidator(mapping), AfterValidator(_words)]
Parts = Annotated[dict[str, Share], BeforeValidator(mapping), AfterValidator(_parts)]


Days = Annotated[Number, Field(gt=0)]
DaysByType = Annotated[dict[str, Days], BeforeValidator(mapping), AfterValidator(_words)]


class Freshness(Section):
    """How memories age."""

    half_lives: DaysByType = {}
    unknown_half_life: Days = 180.0
    floor: Share = 0.1
    stale_below: Share | None = None


class Confidence(Section):
    """How a confidence is derived; what is in a table of one's own goes before the built-in one."""

    source_weight: Share = 0.45
    repetition_weight: Share = 0.2
    extractor_weight: Share = 0.25
    type_weight: Share = 0.1
    sources: Words = {}
    extractors: Parts = {}
    unknown_extractor: Share = 0.65
    types: Words = {}
    unknown_type: Share = 0.75
    confirmed_source: Share = 0.8
    confirmation_cap: Share = 0.99
    grounding_penalty: Share = 0.2
    grounding_floor: Share = 0.3


class Attribution(Section):
    """By which decisions are judged (MAI Tier 1): limits, and the points that each criterion adds or takes off."""

    low: Share = ATTRIBUTION.low
    confident: Share = ATTRIBUTION.confident
    session_share: Share = ATTRIBUTION.session_share
    authors: Count = ATTRIBUTION.authors
    unattributed: Share = ATTRIBUTION.unattributed
    low_unhedged: Share = ATTRIBUTION.low_unhedged
    flagged_unhedged: Share = ATTRIBUTION.flagged_unhedged
    mean_shortfall: Share = ATTRIBUTION.mean_shortfall
    without_session: Share = ATTRIBUTION.without_session
    weak_chain: Share = ATTRIBUTION.weak_chain
    truncated_chain: Share = ATTRIBUTION.truncated_chain
    corroborated: Share = ATTRIBUTION.corroborated
    name: str = ATTRIBUTION.name

    @field_validator("confident")
    @classmethod
    def _ordered(cls, confident: float, info: ValidationInfo) -> float:
        lowest = info.data.get("low", 0.0)
        if lowest > confident:
            raise ValueError(f"expected at least analysis.attribution.low, which is {lowest}")
        return confident

    @field_validator("name")
    @classmethod
    def _its_own(cls, name: str, info: ValidationInfo) -> str:
        own = [key for key, number in info.data.items() if number != getattr(ATTRIBUTION, key)]
        if not name.strip() or name in RUBRICS or (own and name == ATTRIBUTION.name):
            because = f", since {own[0]} is not that of {ATTRIBUTION.name}" if own else ""
            raise ValueError(f"expected a name of its own, such as team-attribution/1{because}")
        return name
