"""Settings of the analysis."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Annotated

from pydantic import BeforeValidator, Field, SkipValidation, ValidationInfo, field_validator

from weaklink_analysis.mai.rubrics import MAX_HOPS, RUBRICS, STRUCTURAL, Rubric, find_rubric, rubrics_from
from weaklink_processor.config.naming import OwnConventions
from weaklink_processor.config.scoring import Attribution, Confidence, Freshness
from weaklink_processor.config.values import (
    PositiveSeconds,
    Seconds,
    Section,
    Share,
    Whole,
    from_json,
    listed,
    mapping,
)


def _rubrics(value: object, info: ValidationInfo) -> object:
    """Read names of rubrics, and rubrics of one's own as mappings; one alone stands for a list of it."""
    listed = from_json(value) if isinstance(value, str) and value.lstrip().startswith(("[", "{")) else value
    chosen = listed if isinstance(listed, list | tuple) else [listed]
    # A child process gets the parent's rubrics as mappings, the built-in ones too.
    built_in = [asdict(rubric) for rubric in RUBRICS.values()]
    chosen = [one["name"] if isinstance(one, Mapping) and dict(one) in built_in else one for one in chosen]
    own = rubrics_from([one for one in chosen if isinstance(one, Mapping)], info.data.get("max_hops", MAX_HOPS))
    rubrics = [find_rubric(one["name"] if isinstance(one, Mapping) else str(one), own) for one in chosen]
    names = [rubric.name for rubric in rubrics]
    if not names or len(set(names)) < len(names):
        raise ValueError("expected names of rubrics, or rubrics, each once")
    return tuple(rubrics)


class Thresholds(Section):
    """Where the flags begin for a namespace or a service; None: as it is without this."""

    min_threshold: Share | None = None
    flag_threshold: Share | None = None


Policies = Annotated[dict[str, Thresholds], BeforeValidator(mapping)]
Rubrics = Annotated[tuple[SkipValidation[Rubric], ...], BeforeValidator(_rubrics)]


class DecisionMatcher(Section):
    """Spans that are decisions, by their name, their attributes, or both."""

    span_name: str | None = None
    attributes: dict[str, str] = {}

    @field_validator("attributes")
    @classmethod
    def _says_something(cls, attributes: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if not attributes and info.data.get("span_name") is None:
            raise ValueError("expected span_name, attributes, or both: without them every span would be a decision")
        return attributes


Matchers = Annotated[tuple[DecisionMatcher, ...], BeforeValidator(listed)]


class Analysis(Section):
    """The numbers that analysis depends on."""

    quiet_period: Seconds = 5.0
    max_hops: Annotated[Whole, Field(ge=1, le=16)] = MAX_HOPS
    min_threshold: Share = 0.4
    flag_threshold: Share = 0.6
    clock_skew: Seconds = 60.0
    assumed_confidence: Share = 0.5
    unresolved_confidence: Share | None = None
    threshold: Share = 0.7
    publish_interval: PositiveSeconds = 1.0
    namespaces: Policies = {}
    services: Policies = {}
    decisions: Matchers = ()
    confidence: Confidence = Confidence()
    freshness: Freshness = Freshness()
    attribution: Attribution = Attribution()
    conventions: OwnConventions = ()
    service_namespace: bool = False
    rubrics: Rubrics = (STRUCTURAL.name,)  # type: ignore[assignment]  # names become rubrics

    @field_validator("flag_threshold")
    @classmethod
    def _ordered(cls, flag: float, info: ValidationInfo) -> float:
        lowest = info.data.get("min_threshold", 0.0)
        if lowest > flag:
            raise ValueError(f"expected at least analysis.min_threshold, which is {lowest}")
        return flag

    @field_validator("namespaces")
    @classmethod
    def _ordered_by_namespace(cls, namespaces: dict[str, Thresholds], info: ValidationInfo) -> dict[str, Thresholds]:
        for name in namespaces:
            _check_order(f"namespace {name!r}", [*_enclosing(namespaces, name), _overall(info)])
        return namespaces

    @field_validator("services")
    @classmethod
    def _ordered_by_service(cls, services: dict[str, Thresholds], info: ValidationInfo) -> dict[str, Thresholds]:
        namespaces: dict[str, Thresholds] = info.data.get("namespaces", {})
        for service, own in services.items():
            _check_order(f"service {service!r}", [own, _overall(info)])
            for name in namespaces:
                where = f"service {service!r} and namespace {name!r}"
                _check_order(where, [*_enclosing(namespaces, name), own, _overall(info)])
        return services


def _enclosing(namespaces: dict[str, Thresholds], name: str) -> list[Thresholds]:
    """What is set for a namespace and for those around it, the longest first."""
    longest_first = sorted(namespaces, key=len, reverse=True)
    return [namespaces[p] for p in longest_first if f"{name.rstrip('/')}/".startswith(f"{p.rstrip('/')}/")]


def _overall(info: ValidationInfo) -> Thresholds:
    # One that is at fault itself is not there, and contradicts nothing.
    lowest, highest = info.data.get("min_threshold", 0.0), info.data.get("flag_threshold", 1.0)
    return Thresholds(min_threshold=lowest, flag_threshold=highest)


def _check_order(where: str, settings: Iterable[Thresholds]) -> None:
    """Refuse thresholds that contradict each other where the first setting that has one counts for each."""
    chosen = list(settings)
    low = next(own.min_threshold for own in chosen if own.min_threshold is not None)
    flag = next(own.flag_threshold for own in chosen if own.flag_threshold is not None)
    if low > flag:
        raise ValueError(f"expected min_threshold at most flag_threshold; for {where} they are {low} and {flag}")
