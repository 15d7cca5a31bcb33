"""What an assertion is given, as the rules of the gate: a slip of the pen is an error, and no rule that all keep."""

import difflib
from collections.abc import Mapping
from typing import Any, cast, get_args

from weaklink_analysis.gate.verdict import SEVERITIES, Rules, Tier
from weaklink_analysis.mai.attribution import Attribution
from weaklink_analysis.mai.rubrics import Rubric


def checked(
    *,
    tier: int | Tier,
    min_score: float,
    min_pass_rate: float,
    min_traces: int,
    max_findings: Mapping[str, int],
    rubric: Rubric,
    attribution: Attribution,
) -> Rules:
    """Check them; `rubric` and `attribution` are what `weaklink gate` judges by.

    Raises:
        ValueError: one is none that there is.
    """
    if str(tier) not in get_args(Tier):
        raise ValueError(f"tier: {tier!r}: expected one of {', '.join(get_args(Tier))}")
    for name, most in max_findings.items():
        _check_bound(name, most)
    return Rules(
        tier=cast("Tier", str(tier)),
        min_score=share("min_score", min_score),
        min_pass_rate=share("min_pass_rate", min_pass_rate),
        min_traces=min_traces,
        max_findings=max_findings,
        rubric=rubric,
        attribution=attribution,
    )


def share(name: str, value: Any) -> float:
    """Read a number from 0 to 1.

    Raises:
        ValueError: it is none, and of what name.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 <= number <= 1:
        raise ValueError(f"{name}: {value!r}: expected a number from 0 to 1")
    return number


def _check_bound(name: str, most: int) -> None:
    from weaklink_analysis.views.codes import CODES

    known = (*SEVERITIES, *CODES)
    if name not in known:
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {nearest[0]}?" if nearest else ""
        raise ValueError(f"max_findings: {name}: no such severity or code{hint}")
    if most < 0:
        raise ValueError(f"max_findings: {name}: {most!r}: expected how many there may be")
