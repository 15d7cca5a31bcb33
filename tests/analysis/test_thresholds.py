"""Which thresholds make an operation's and a version's flag."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from engine_harness import Analysis
from otlp import S, Value, read, write
from weaklink_analysis.operations import Settings

PLAIN = Settings(
    namespaces={"/ops": (0.55, 0.8), "/ops/db": (None, 0.9), "/quo'te": (0.0, 0.0)},
    services={"desk": (0.1, 0.2), "half": (None, 0.5)},
)
"""For all: 0.4 and 0.6."""


def policy(low: Value | None = None, flag: Value | None = None) -> dict[str, Value]:
    said = {"min_threshold": low, "flag_threshold": flag}
    return {f"memory.confidence_policy.{key}": value for key, value in said.items() if value is not None}


def flagged(*confidences: float, service: str = "svc", more: Mapping[str, Value] | None = None) -> list[object]:
    """The flags of memories that are written so; the writes themselves have the same."""
    with Analysis(PLAIN) as analysis:
        writes = [write(n, 1, f"m{n}", confidence, service=service) for n, confidence in enumerate(confidences, 1)]
        analysis.feed([replace(s, attributes={**s.attributes, **(more or {})}) for s in writes])
        versions, operations = (
            {row["memory_id"]: row["confidence_flag"] for row in analysis.table(table)}
            for table in ("memory_versions", "memory_operations")
        )
        assert versions == operations
        return [versions[f"m{n}"] for n in range(1, len(writes) + 1)]


NAMESPACE = "memledger.memory.namespace"


@pytest.mark.parametrize(
    ("low", "flag", "service", "more"),
    [
        (0.4, 0.6, "svc", {}),
        (0.55, 0.8, "svc", {NAMESPACE: "/ops"}),
        (0.55, 0.8, "svc", {NAMESPACE: "/ops/web"}),
        (0.4, 0.6, "svc", {NAMESPACE: "/opsx"}),
        (0.55, 0.9, "svc", {NAMESPACE: "/ops/db/x"}),  # each on its own: min comes from /ops
        (0.1, 0.2, "desk", {}),
        (0.4, 0.5, "half", {}),
        (0.55, 0.8, "desk", {NAMESPACE: "/ops"}),  # the namespace comes before the service
        (0.7, 0.75, "desk", policy(0.7, "0.75") | {NAMESPACE: "/ops"}),  # and the span before both
        (0.3, 0.6, "svc", policy(0.3)),
        (0.4, 0.6, "svc", policy("low", flag=True)),  # no numbers
        (0.4, 0.6, "svc", policy(1.5, "")),
        (0.4, 0.6, "svc", policy(0.7)),  # above flag, so it counts as not said
        (0.4, 0.6, "svc", policy(0.3, 0.2)),  # and the other with it
        (0.1, 0.2, "desk", policy(0.3)),
    ],
)
def test_thresholds_come_from_the_nearest_place(low: float, flag: float, service: str, more: dict[str, Value]) -> None:
    """Span, longest namespace, service, all: each threshold on its own; a contradiction on the span is none."""
    flags = flagged(low - 0.01, low, flag - 0.01, flag, service=service, more=more)
    assert flags == ["FILTER", "FLAG", "FLAG", "PASS"]


def test_a_quote_in_a_name_is_a_quote() -> None:
    """A configured name is text, whatever is in it."""
    assert flagged(0.0, more={NAMESPACE: "/quo'te"}) == ["PASS"]


def test_an_operation_has_its_own_thresholds(analysis: Analysis) -> None:
    """A strict reader flags what a version's writer let pass; the version's own flag stays."""

    def strict(s: S) -> S:
        return replace(s, attributes={**s.attributes, **policy(0.9, 0.95)})

    analysis.feed([write(1, 1, "m", 0.8, at=1), strict(read(1, 2, "m", None, at=2)), read(1, 3, "m", None, at=3)])
    assert [row["confidence_flag"] for row in analysis.table("memory_versions")] == ["PASS"]
    flags = {row["span_id"]: row["confidence_flag"] for row in analysis.table("memory_operations")}
    assert list(flags.values()) == ["PASS", "FILTER", "PASS"]


def test_other_thresholds_change_what_is_stored() -> None:
    """Thresholds that are configured later count for spans that came before, but for what a span says itself."""
    own = write(1, 2, "own", 0.8)
    with Analysis() as analysis:
        analysis.feed([write(1, 1, "m", 0.8), replace(own, attributes={**own.attributes, **policy(0.1, 0.2)})])
        again = Analysis(Settings(services={"svc": (0.85, 0.9)}), database=analysis.database)
        again.engine.resettle()
        flags = {key: row["confidence_flag"] for key, row in again.memories().items()}
        assert flags == {"m": "FILTER", "own": "PASS"}
        operations = {row["memory_id"]: row["confidence_flag"] for row in again.table("memory_operations")}
        assert operations == flags
