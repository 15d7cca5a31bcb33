"""A failure in lines of text, as a terminal or a test's message shows it. What spans said is shown, and not obeyed."""

from collections.abc import Iterator, Sequence

from weaklink_analysis.gate.verdict import Failure, Hop, Verdict
from weaklink_analysis.printable import printable

TIERS = {"1": "decision", "3": "trace"}


def lines(failure: Failure) -> list[str]:
    """Tell a failure: who and where, each check, the memory at fault with its chain, why, and what to do."""
    return [printable(line) for line in _lines(failure)]


def title(failure: Failure) -> str:
    """Tell it in one line."""
    return printable(_title(failure))


def chain_lines(chain: Sequence[Hop]) -> list[str]:
    """Tell each hop in a line, the one that bounds all marked."""
    return [f"{'   ' * (depth - 1)}{'└─ ' if depth else ''}{printable(_hop(hop))}" for depth, hop in enumerate(chain)]


def conclusion(verdict: Verdict) -> str:
    """The one line that says whether the gate is passed, and counts."""
    counts = [
        f"{tally.passed:,} of {tally.judged:,} {what} passed"
        for what, tally, counts in (
            ("decisions", verdict.decisions, verdict.rules.judges_decisions),
            ("traces", verdict.traces, verdict.rules.judges_traces),
        )
        if counts
    ]
    if verdict.rules.judges_decisions:
        counts.append(f"{verdict.not_evaluable:,} decisions not evaluable")
    if verdict.known:
        counts.append(f"{verdict.known:,} failures known from the baseline")
    counts += [f"{found:,} findings of {name}" for name, found in verdict.findings.items()]
    outcome = "has nothing to judge" if verdict.is_empty else "passed" if verdict.passed else "failed"
    return f"gate {outcome}: {', '.join(counts)}"


def _lines(failure: Failure) -> Iterator[str]:
    yield _title(failure)
    for check in failure.checks:
        yield f"  {check.name}: {check.detail} ({check.points:+.2f})"
    if failure.memory_id:
        yield f"  memory at fault: {failure.memory_id}, written by {failure.author or 'nobody known'}"
    yield from (f"  {line}" for line in chain_lines(failure.chain))
    yield f"  why: {failure.why}"
    yield f"  what to do: {failure.mend}"


def _title(failure: Failure) -> str:
    who = f" of {failure.agent_id}" if failure.tier == "1" and failure.agent_id else ""
    where = f" in {failure.environment}" if failure.environment else ""
    declared = ""
    if failure.declared_score is not None and failure.declared_score != failure.score:
        declared = f" on effective confidence ({failure.declared_score:.2f} on declared)"
    return (
        f"{TIERS[failure.tier]}{who}, service {failure.service_name or '(none)'}{where}: "
        f"score {failure.score:.2f}{declared}, below {failure.min_score:g}; "
        f"trace {failure.trace_id}, span {failure.span_id}"
    )


def _hop(hop: Hop) -> str:
    version = "unknown here" if hop.version is None else f"version {hop.version}"
    said = f"declared {_number(hop.declared)}  effective {_number(hop.effective)}"
    weakest = "  <- weakest link" if hop.is_weakest else ""
    return f"{hop.memory_id}  {version}  by {hop.agent_id or 'nobody known'}  {said}{weakest}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
