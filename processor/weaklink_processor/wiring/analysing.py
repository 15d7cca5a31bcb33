"""What the analysis is made with: its settings and the conventions, from the configuration."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError

if TYPE_CHECKING:
    from weaklink_analysis.batch import SpanBatch
    from weaklink_analysis.conventions.convention import Convention
    from weaklink_analysis.mai.attribution import Attribution
    from weaklink_analysis.mai.rubrics import Rubric
    from weaklink_analysis.operations import Settings
    from weaklink_analysis.scoring import Scoring


def decoder(config: Config) -> "Callable[[Sequence[bytes]], SpanBatch]":
    """Return what makes a span batch of requests."""
    from weaklink_processor.decode.batch import decode

    return partial(decode, by_namespace=config.analysis.service_namespace)


def own_conventions(config: Config) -> "Sequence[Convention]":
    """Build the user's conventions.

    Raises:
        UsageError: one cannot be read or run.
    """
    if not config.analysis.conventions:
        return []
    from weaklink_analysis.conventions.convention import Convention
    from weaklink_analysis.conventions.own import faults

    conventions = []
    for number, own in enumerate(config.analysis.conventions):
        try:
            sql = own.file.read_text("utf-8") if own.file else own.sql
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"analysis.conventions.{number}.file: {own.file} cannot be read: {error}") from error
        conventions.append(Convention(**own.model_dump(exclude={"sql", "file"}), own_sql=sql))
    if found := faults(conventions):
        raise UsageError("analysis.conventions: " + "; ".join(found))
    return conventions


def analysis_settings(config: Config) -> "Settings":
    """Return the numbers that the analysis depends on."""
    from weaklink_analysis.operations import Settings

    analysis = config.analysis
    return Settings(
        max_hops=analysis.max_hops,
        min_threshold=analysis.min_threshold,
        flag_threshold=analysis.flag_threshold,
        clock_skew_seconds=analysis.clock_skew,
        assumed_confidence=analysis.assumed_confidence,
        unresolved_confidence=analysis.unresolved_confidence,
        pass_threshold=analysis.threshold,
        quiet_seconds=analysis.quiet_period,
        namespaces={name: (own.min_threshold, own.flag_threshold) for name, own in analysis.namespaces.items()},
        services={name: (own.min_threshold, own.flag_threshold) for name, own in analysis.services.items()},
        attribution=attribution(config),
        rubrics=analysis.rubrics,
        scoring=_scoring(config),
    )


def attribution(config: Config) -> "Attribution":
    """Return the numbers by which decisions are judged."""
    from weaklink_analysis.mai.attribution import Attribution

    analysis = config.analysis
    return Attribution(
        **analysis.attribution.model_dump(),
        threshold=analysis.threshold,
        assumed_confidence=analysis.assumed_confidence,
    )


def gate_rubric(config: Config) -> "Rubric":
    """Return the rubric by which a gate judges traces: mai-structural/1, or else the first that they are judged by."""
    from weaklink_analysis.mai.rubrics import STRUCTURAL

    rubrics = config.analysis.rubrics
    return STRUCTURAL if STRUCTURAL in rubrics else rubrics[0]


def _scoring(config: Config) -> "Scoring":
    from weaklink_analysis.scoring import SCORING

    own, ages = config.analysis.confidence, config.analysis.freshness
    return replace(
        SCORING,
        **own.model_dump(exclude={"sources", "extractors", "types"}),
        sources={**SCORING.sources, **own.sources},
        extractors={**SCORING.extractors, **own.extractors},
        types={**SCORING.types, **own.types},
        half_lives={**SCORING.half_lives, **ages.half_lives},
        unknown_half_life=ages.unknown_half_life,
        freshness_floor=ages.floor,
        stale_below=ages.stale_below,
    )
