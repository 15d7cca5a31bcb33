"""docs/confidence.md against the numbers and formulas that it tells of."""

import re

from docs.pages import PAGES
from weaklink_analysis.scoring import SCORING, access_boost, combined, repetition_boost

PAGE = PAGES["docs/confidence.md"]


def tabled(pattern: str) -> dict[str, float]:
    """The words in the cell before each number."""
    cells = re.findall(rf"\| ((?:`[^|]+)) \| ({pattern})\b", PAGE)
    return {name: float(value) for words, value in cells for name in re.findall(r"`([^`]+)`", words)}


def test_the_tables_are_those_in_force() -> None:
    """Each source, model, type and half-life is on the page with its number, and no other is."""
    assert tabled(r"0\.\d+") == {**SCORING.sources, **SCORING.extractors, **SCORING.types}
    assert tabled(r"[1-9]\d+") == SCORING.half_lives


def test_rows_where_the_source_disagrees_are_computed() -> None:
    """What a row says of the formula is what it gives at that precision, and is not what the source says."""
    rows = re.findall(r"^\| r\((\d+)\) = ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)
    assert [int(n) for n, _, _ in rows] == [1, 2, 5, 10, 100]
    for n, said, computed in rows:
        assert said != computed == f"{repetition_boost(int(n)):.3f}"
    steps = [repetition_boost(n) - repetition_boost(n - 1) for n in (100, 5)]
    assert "{:.4f} against {:.4f}".format(*steps) in PAGE
    assert f"= 5.620 | {access_boost(100):.3f}," in PAGE
    first, none = repetition_boost(1), repetition_boost(0)
    best = [combined(0.95, r, 0.9, 0.9) for r in (none, first)]
    assert f"at most {best[0]:.4f} | with n = 1, as its worked example counts, at most {best[1]:.4f} |" in PAGE
    guess = [combined(0.3, r, 0.9, 0.9) for r in (none, first)]
    assert f"it has {guess[0]:.2f} with n = 0 and {guess[1]:.3f} with n = 1" in PAGE
    assert f"{guess[0] - 0.2:.2f} (n = 0) or {guess[1] - 0.2:.3f} (n = 1) are left" in PAGE
