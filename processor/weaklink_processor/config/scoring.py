"""Settings of confidences that are derived, and of how memories age."""

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from weaklink_analysis.scoring import word
from weaklink_processor.config.values import Number, Section, Share, mapping


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
