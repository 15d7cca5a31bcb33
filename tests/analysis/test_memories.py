"""The view `memories`: how good a memory is, and how it was used."""

from operator import itemgetter

import pytest

from engine_harness import Analysis
from otlp import S, read, write


def said(name: str, at: int, *, success: bool | None = None) -> S:
    """A bare memledger span about the memory m."""
    attributes = {"memledger.memory_id": "m"} | ({} if success is None else {"memledger.success": success})
    return S(9, at, f"memledger.{name}", start=at, end=at, attributes=attributes)


def outcomes(*successes: bool) -> list[S]:
    return [said("record_outcome", 100 + n, success=success) for n, success in enumerate(successes)]


def conflicts(count: int) -> list[S]:
    return [said("conflict_detected", 200 + n) for n in range(count)]


def reads(count: int) -> list[S]:
    return [read(9, 300 + n, "m", None, at=300 + n) for n in range(count)]


@pytest.mark.parametrize(
    ("written", "uses", "score", "counts"),
    [
        (write(1, 1, "m", 0.5), [], 42, (0, 0, 0)),  # 42.5: a half goes to the even number
        (write(1, 1, "m", 0.7), [], 54, (0, 0, 0)),
        (write(1, 1, "m", 0.5, hedged=True), [], 38, (0, 0, 0)),
        (write(1, 1, "m", 1.0), outcomes(True, True, False), 75, (0, 2, 1)),
        (write(1, 1, "m", 0.5), [said("record_outcome", 5)], 42, (0, 0, 0)),  # neither success nor failure
        (write(1, 1, "m", 0.5), reads(1), 44, (1, 0, 0)),
        (write(1, 1, "m", 0.5), reads(12), 58, (12, 0, 0)),  # ten reads count
        (write(1, 1, "m", 0.5), [said("get", 5)], 44, (1, 0, 0)),
        (write(1, 1, "m", 0.5), conflicts(1), 32, (0, 0, 0)),
        (write(1, 1, "m", 0.0), conflicts(3), 0, (0, 0, 0)),  # never below 0
    ],
)
def test_the_quality_score_follows_the_formula(
    analysis: Analysis, written: S, uses: list[S], score: int, counts: tuple[int, int, int]
) -> None:
    """Effective confidence, outcomes, reads, conflicts and the hedge mark make the score, as worked out by hand."""
    analysis.feed([written, *uses])
    (memory,) = analysis.view("memories")
    assert memory["quality_score"] == score
    assert (memory["read_count"], memory["success_count"], memory["failure_count"]) == counts


def test_uses_of_every_version_count(analysis: Analysis) -> None:
    """A memory that was written again keeps its uses; a use that means no version of it counts nowhere."""
    analysis.feed([write(1, 1, "m", 0.9, at=1), *reads(2), write(1, 2, "m", 0.4, at=400), read(2, 1, "n", None, at=5)])
    (memory,) = analysis.view("memories")
    assert (memory["version"], memory["declared_confidence"], memory["read_count"]) == (2, 0.4, 2)


def test_stores_are_told_apart(analysis: Analysis) -> None:
    """A use counts for the memory of the store that it came to mean, whether or not it named that store."""

    def genai(span: int, operation: str, memory: str, store: str | None) -> S:
        attributes = {"gen_ai.operation.name": operation, "gen_ai.memory.record.id": memory}
        named = {} if store is None else {"gen_ai.memory.store.id": store}
        return S(1, span, start=span, end=span, attributes=attributes | named)

    writes = [genai(1, "create_memory", "m", "x"), genai(2, "create_memory", "m", "y")]
    alone = [genai(3, "create_memory", "n", "x")]
    searches = [genai(4, "search_memory", "m", "y"), genai(5, "search_memory", "n", None)]
    analysis.feed(writes + alone + searches)
    counted = {(row["memory_id"], row["store"]): row["read_count"] for row in analysis.view("memories")}
    assert counted == {("m", "x"): 0, ("m", "y"): 1, ("n", "x"): 1}


def test_each_read_says_how_often_its_memory_was_read_before(analysis: Analysis) -> None:
    """In order of time and not of arrival, of any version; the fifth has the boost of the worked example, 2.609."""
    reads = [read(1, span, "m", None, at=10 * span) for span in range(2, 7)]
    analysis.feed([write(1, 1, "m", 0.9), *reads[2:], write(2, 1, "m", 0.8, at=45)])
    analysis.feed([reads[1], read(3, 1, "other", None), reads[0]])
    rows = sorted(analysis.views("memory_operations")["memory_operations"], key=itemgetter("end_time"))
    of_m = [row for row in rows if row["memory_id"] == "m" and row["operation"] == "read"]
    boosts = [f"{row['access_boost']:.3f}" for row in of_m]
    assert boosts == ["1.000", "1.693", "2.099", "2.386", "2.609"]
    others = [row for row in rows if row["operation"] == "write" or row["memory_id"] == "other"]
    assert [row["earlier_reads"] for row in others] == [None, None, None]
