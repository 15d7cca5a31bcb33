"""The verdict of a gate over the evaluations of a catalogue."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import duckdb

from weaklink_analysis.gate.baseline import keys, means, regressions
from weaklink_analysis.gate.decisions import failing_decisions
from weaklink_analysis.gate.texts import rows, text
from weaklink_analysis.gate.traces import failing_traces
from weaklink_analysis.gate.verdict import NOTHING, Failure, Key, Present, Regression, Rules, Tally, Verdict
from weaklink_analysis.mai.rubrics import RubricError
from weaklink_analysis.selection import Selection

ALL = 1 << 40


def judge(catalogue: duckdb.DuckDBPyConnection, selection: Selection, rules: Rules, most: int | None = None) -> Verdict:
    """Judge what is selected of a catalogue, which may be read-only; it makes temporary tables there.

    Args:
        catalogue: Has the published views, and beneath them the tables of schema `lake`.
        selection: Which traces, decisions and findings count.
        rules: What they have to hold.
        most: Of so many decisions and so many traces that fail, the lowest scores first, the verdict says why; None: of
            all. All are counted. A baseline is compared with what is told, so it takes all.

    Raises:
        RubricError: what there is was judged by other rubrics than those of the rules.
    """
    asked: dict[str, object] = {
        "service": selection.service,
        "environment": selection.environment,
        "session": selection.session,
        "trace_ids": list(selection.trace_ids),
        "rubric": rules.rubric.name,
        "attribution": rules.attribution.name,
    }
    timed = selection.since is not None or selection.until is not None
    if timed:
        asked |= {"since": selection.since, "until": selection.until}
    catalogue.execute(f"CREATE OR REPLACE TEMP TABLE gate_targets AS {text('targets', timed=timed)}", asked)
    ((selected, *counts, not_evaluable),) = catalogue.execute(text("counts"), {"min_score": rules.min_score}).fetchall()
    traces = Tally(*counts[:2]) if rules.judges_traces else Tally()
    decisions = Tally(*counts[2:]) if rules.judges_decisions else Tally()
    if (rules.judges_traces and not traces.judged) or (rules.judges_decisions and not decisions.judged):
        _check_rubrics(catalogue, rules)
    judged = traces.judged or decisions.judged
    findings = _findings(catalogue, rules)
    failures = _failures(catalogue, rules, traces, decisions, ALL if most is None else most)
    now = means(catalogue, failures, f"{'1' * rules.judges_decisions}{'3' * rules.judges_traces}")
    lower = regressions(now, rules)
    told = failures if rules.baseline is None else _regressed(failures, lower)
    breaches = _breaches(rules, selected, (decisions, traces), findings, lower)
    return Verdict(
        rules,
        selected,
        traces,
        decisions,
        not_evaluable if rules.judges_decisions else 0,
        told,
        findings,
        tuple(breaches) if judged else (NOTHING,),
        now,
        lower,
        len(failures) - len(told),
        () if judged else tuple(Present(*row.values()) for row in rows(catalogue, "present")),
    )


def _check_rubrics(catalogue: duckdb.DuckDBPyConnection, rules: Rules) -> None:
    """Refuse rules by which nothing here was judged: all would pass."""
    wanted = {"decision": rules.attribution.name, "trace": rules.rubric.name}
    asked: dict[str, object] = {"attribution": wanted["decision"], "rubric": wanted["trace"]}
    judged = {"decision": rules.judges_decisions, "trace": rules.judges_traces}
    faults = [
        f"{row['scope']}s here were judged by {', '.join(row['rubrics'])}, not by {wanted[row['scope']]}: "
        "the gate has to have the settings of the service, and the service to have judged by them"
        for row in rows(catalogue, "other_rubrics", asked)
        if judged[row["scope"]]
    ]
    if faults:
        raise RubricError(faults)


def _regressed(failures: Sequence[Failure], lower: Sequence[Regression]) -> tuple[Failure, ...]:
    """The failures of a kind that scores lower than in the baseline, or of an agent that does."""
    worse = {regression.key for regression in lower}

    def agent(key: Key) -> Key:
        return replace(key, check="", memory="", author="")

    return tuple(one for one in failures if any(key in worse or agent(key) in worse for key in keys(one)))


def _failures(
    catalogue: duckdb.DuckDBPyConnection, rules: Rules, traces: Tally, decisions: Tally, most: int
) -> tuple[Failure, ...]:
    return (
        *(failing_decisions(catalogue, rules, most) if decisions.failed else ()),
        *(failing_traces(catalogue, rules, most) if traces.failed else ()),
    )


def _findings(catalogue: duckdb.DuckDBPyConnection, rules: Rules) -> Mapping[str, int]:
    if not rules.max_findings:
        return {}
    found = rows(catalogue, "findings", {"names": list(rules.max_findings)})
    numbers = {row["name"]: row["findings"] for row in found}
    return {name: numbers[name] for name in rules.max_findings}


def _breaches(
    rules: Rules,
    selected: int,
    tallies: tuple[Tally, Tally],
    findings: Mapping[str, int],
    lower: Sequence[Regression],
) -> Iterator[str]:
    for what, tally in zip(("evaluable decisions", "traces"), tallies, strict=True):
        if rules.baseline is None and tally.rate < rules.min_pass_rate:
            wanted = f"; {rules.min_pass_rate:.1%} have to pass" if rules.min_pass_rate < 1 else ""
            yield f"{tally.failed:,} of {tally.judged:,} {what} scored below {rules.min_score:g}{wanted}"
    if lower:
        yield f"{len(lower):,} mean scores are lower than in the baseline by more than {rules.tolerance:g}"
    if selected < rules.min_traces:
        yield f"{selected:,} traces are selected, and at least {rules.min_traces:,} are wanted"
    for name, found in findings.items():
        if found > rules.max_findings[name]:
            yield f"{found:,} findings of {name}, and at most {rules.max_findings[name]:,} are allowed"
