"""Confidences that are derived from how memories came to be."""

import itertools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_harness import Analysis
from otlp import S, read
from weaklink_analysis.operations import Settings
from weaklink_analysis.scoring import Scoring, Signals, derived, repetition_boost

AGENT = S(1, 99, "invoke_agent", start=0, end=20)


def told(
    span: int,
    memory: str,
    at: float,
    about: Mapping[str, object],
    content: str | None = "Uses  PostgreSQL",
    **more: object,
) -> S:
    """A GenAI write under AGENT, with this metadata."""
    record = {"id": memory, "content": content, "metadata": about}
    said = {"gen_ai.operation.name": "create_memory", "gen_ai.memory.records": json.dumps([record])}
    return S(1, span, "create_memory", 99, at, at, said, **more)  # type: ignore[arg-type]


def call(span: int, model: str, start: float, end: float, operation: str = "chat") -> S:
    said = {"gen_ai.operation.name": operation, "gen_ai.request.model": model}
    return S(1, span, operation, 99, start, end, said)


def signals(analysis: Analysis, memory: str) -> dict[str, tuple[object, object, object]]:
    """By its name what each signal of a memory's newest version said, its value and its origin."""
    rows = cast("list[dict[str, object]]", analysis.memories()[memory]["confidence_signals"])
    return {str(row["signal"]): (row["said"], row["value"], row["origin"]) for row in rows}


def test_the_worked_example_from_spans(analysis: Analysis) -> None:
    """The third write of a preference, by Haiku, from a direct statement: 0.82, and each signal says whence it is."""
    direct = {"source": "direct statement", "type": "Preference"}
    analysis.feed([AGENT, told(1, "a", 1, direct), told(2, "b", 2, direct, content="uses postgresql ")])
    analysis.feed([call(3, "claude-haiku-4-5", 2, 3), told(4, "c", 3, direct)])
    row = analysis.memories()["c"]
    assert (round(cast("float", row["declared_confidence"]), 2), row["confidence_source"]) == (0.82, "derived")
    assert signals(analysis, "c") == {
        "source_strength": ("direct_statement", 0.95, "span"),
        "repetition": ("3", repetition_boost(3), "writes"),
        "extractor": ("claude-haiku-4-5", 0.80, "trace"),
        "type_prior": ("Preference", 0.75, "span"),
    }


def test_what_stands_in_for_a_signal_is_marked(analysis: Analysis) -> None:
    """An unknown model, an unknown type and a first mention without content have their defaults, and say so."""
    analysis.feed([told(1, "a", 1, {"source": "tool_output", "type": "semantic", "extractor": "own-7b"}, content=None)])
    assert signals(analysis, "a") == {
        "source_strength": ("tool_output", 0.70, "span"),
        "repetition": ("1", repetition_boost(1), "default"),
        "extractor": ("own-7b", 0.65, "default"),
        "type_prior": ("semantic", 0.75, "default"),
    }


def test_a_declared_confidence_comes_first(analysis: Analysis) -> None:
    """Derived is only what the span does not say, or says wrongly; without a known source 0.5 is assumed as before."""
    analysis.feed(
        [
            told(1, "said", 1, {"source": "direct", "confidence": 0.3}),
            told(2, "wrong", 2, {"source": "direct", "confidence": "high"}),
            told(3, "unknown", 3, {"source": "slack", "observations": 9, "type": "fact"}),
        ]
    )
    found = {memory: row["confidence_source"] for memory, row in analysis.memories().items()}
    assert found == {"said": "declared", "wrong": "derived", "unknown": "assumed"}
    assert [row["memory_id"] for row in analysis.view("findings") if row["code"] == "invalid_confidence"] == ["wrong"]


WRITES = (
    told(1, "a", 1, {"source": "direct"}),
    told(2, "b", 2, {"source": "direct", "derived_from": ["a"]}),
    told(3, "c", 3, {"source": "direct"}),
    told(4, "d", 4, {"source": "direct"}, error=True),
    told(5, "e", 5, {"source": "direct", "confidence": 0.9}),
    told(6, "f", 6, {"source": "direct"}),
    told(7, "g", 6, {"source": "direct"}, environment="prod"),
)


def test_repetition_counts_independent_writes_in_whatever_order(analysis: Analysis) -> None:
    """So far, in its environment, this one included; a failed write counts for nothing, nor does what was derived.

    Each order is told in traces and environments of its own: 21 writes at once, and seven times.
    """
    orders = list(itertools.permutations(range(len(WRITES))))[::240]
    for places in zip(*orders, strict=True):
        writes = [(n, WRITES[place]) for n, place in enumerate(places)]
        analysis.feed([replace(s, trace=n + 1, environment=f"{n}{s.environment}") for n, s in writes])
    counts = {
        (row["environment"], row["memory_id"]): row["confidence_signals"][1]["said"]  # type: ignore[index]
        for row in analysis.table("memory_versions")
        if str(row["memory_id"]) in "abcfg"
    }
    expected = {"a": "1", "b": "1", "c": "2", "f": "4", "g": "1"}
    assert counts == {
        (f"{n}prod" if memory == "g" else f"{n}", memory): times
        for n in range(len(orders))
        for memory, times in expected.items()
    }


def test_a_refusal_that_comes_late_is_no_observation(analysis: Analysis) -> None:
    """A write that a conflict resolver refused is not counted for those after it, whenever that turns out."""
    analysis.feed([told(1, "a", 1, {"source": "direct"}), told(2, "b", 2, {"source": "direct"})])
    assert signals(analysis, "b")["repetition"][0] == "2"
    analysis.feed([S(1, 3, "memledger.conflict_detected", 1, 1, 1, {"memledger.existing_id": "a"})])
    assert signals(analysis, "b")["repetition"][0] == "1"


def test_a_batch_changes_only_what_comes_after_it(analysis: Analysis) -> None:
    """A later write of the same content leaves the earlier ones alone; an earlier one changes the later ones."""
    analysis.feed([told(2, "b", 2, {"source": "direct"})])
    analysis.feed([told(3, "c", 3, {"source": "direct"})])
    assert [row["memory_id"] for row in analysis.engine.changes("memory_versions").to_pylist()] == ["c"]
    analysis.feed([told(1, "a", 1, {"source": "direct"}), told(4, "x", 1, {"source": "direct"}, content="other")])
    changed = [str(row["memory_id"]) for row in analysis.engine.changes("memory_versions").to_pylist()]
    assert sorted(changed) == ["a", "b", "c", "x"]


def test_the_extractor_is_the_call_around_or_before_a_write(analysis: Analysis) -> None:
    """The nearest enclosing call of a model, else the last that ended before the write under the same parent."""
    within = told(6, "within", 9, {"source": "direct"})
    analysis.feed(
        [
            told(5, "after", 5, {"source": "direct"}),
            S(1, 6, within.name, 3, 9, 9, within.attributes),
        ]
    )
    assert signals(analysis, "after")["extractor"] == (None, 0.65, "default")
    analysis.feed([call(1, "claude-haiku", 0, 3), call(2, "gpt-4o", 1, 4), call(3, "claude-opus", 4, 9)])
    analysis.feed([call(4, "text-embedding-3", 4, 5, operation="embeddings")])
    assert signals(analysis, "after")["extractor"] == ("gpt-4o", 0.85, "trace")
    assert signals(analysis, "within")["extractor"] == ("claude-opus", 0.90, "trace")


def test_a_derived_confidence_bounds_what_derives_from_it(analysis: Analysis) -> None:
    """It counts as a declared one does in chains, and reads that show another number contradict nobody."""
    analysis.feed(
        [
            told(1, "guess", 1, {"source": "speculation"}),
            told(2, "fix", 2, {"confidence": 0.95, "derived_from": ["guess"]}),
            read(2, 1, "guess", 0.5, at=3),
        ]
    )
    guess, fix = analysis.memories()["guess"], analysis.memories()["fix"]
    assert fix["effective_confidence"] == guess["declared_confidence"] == pytest.approx(0.454376778)
    codes = [row["code"] for row in analysis.view("findings")]
    assert "confidence_inflated" in codes
    assert "confidence_mismatch" not in codes


TOLD = st.builds(
    Signals,
    st.lists(st.sampled_from(["direct", "Weak inference", "tool-output", "slack"]), min_size=1, max_size=3).map(tuple),
    st.integers(0, 10**9 - 1),
    st.sampled_from(["claude-sonnet", "GPT-4o", "gpt-3.5", "other", None]),
    st.lists(st.floats(-20, 0, allow_subnormal=False), max_size=4).map(tuple),
    st.sampled_from(["fact", "Event", "Relation ", "semantic", None]),
    st.booleans(),
    st.none() | st.floats(0, 1, allow_subnormal=False),
)


def said(of: Signals) -> dict[str, object]:
    return {
        "source": list(of.sources),
        "observations": of.observations,
        "extractor": of.model,
        "logprobs": list(of.logprobs),
        "type": of.memory_type,
        "confirmed": of.confirmed,
        "grounding": of.grounding_penalty,
    }


@given(st.lists(TOLD, min_size=1, max_size=20), st.booleans())
@settings(max_examples=12)
def test_spans_and_functions_agree(many: list[Signals], own: bool) -> None:  # noqa: FBT001
    """What the engine makes of signals on spans is what the scalar function makes of them, to 1e-9."""
    scoring = Scoring(0.3, 0.3, 0.3, 0.3, {"direct": 1.0, "slack": 0.2}, {"gpt": 0.5}) if own else Scoring()
    with Analysis(Settings(scoring=scoring)) as analysis:
        analysis.feed([told(n, f"m{n}", n, said(one)) for n, one in enumerate(many, 1)])
        rows = analysis.memories()
    for n, one in enumerate(many, 1):
        expected, row = derived(one, scoring), rows[f"m{n}"]
        assert row["confidence_source"] == ("derived" if expected else "assumed")
        assert row["declared_confidence"] == pytest.approx(expected.confidence if expected else 0.5, abs=1e-9, rel=0)
