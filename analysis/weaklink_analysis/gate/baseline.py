"""What of a run is the same in the next one, to compare them: mean scores, not traces."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import duckdb

from weaklink_analysis.gate.texts import text
from weaklink_analysis.gate.verdict import Failure, Key, Mean, Regression, Rules

_CHANGING = re.compile(r"[0-9a-fA-F]{8}[0-9a-fA-F-]*|[0-9]+")
_ROUNDING = 1e-9


def keys(failure: Failure) -> Iterator[Key]:
    """One for each check that failed."""
    who = "" if failure.tier == "3" else failure.agent_id or ""
    memory = _CHANGING.sub("*", failure.memory_id or "")
    for check in failure.checks:
        yield Key(
            failure.tier,
            failure.environment,
            failure.service_name,
            who,
            check.name,
            memory,
            failure.author or "",
        )


def means(catalogue: duckdb.DuckDBPyConnection, failures: Iterable[Failure], tiers: str) -> dict[Key, Mean]:
    """The mean score of all that each agent decided, and of what failed by the same check and memory."""
    groups = catalogue.execute(text("groups")).fetchall()
    found = {Key(*key): Mean(round(score, 4), targets) for *key, score, targets in groups if key[0] in tiers}
    scores: dict[Key, list[float]] = defaultdict(list)
    for failure in failures:
        for key in keys(failure):
            scores[key].append(failure.score)
    return found | {key: Mean(round(sum(own) / len(own), 4), len(own)) for key, own in scores.items()}


def regressions(now: Mapping[Key, Mean], rules: Rules) -> Sequence[Regression]:
    """Where a mean score is lower than it was; one that the baseline does not know is compared with `min_score`."""
    if rules.baseline is None:
        return ()
    found = []
    for key, mean in now.items():
        was = rules.baseline.get(key)
        expected = rules.min_score if was is None else was.score
        if mean.score < expected - rules.tolerance - _ROUNDING:
            found.append(Regression(key, None if was is None else was.score, mean.score))
    return tuple(found)
