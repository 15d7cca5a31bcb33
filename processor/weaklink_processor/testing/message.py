"""What a failed assertion says."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator

import duckdb
from opentelemetry.trace import get_tracer_provider

from weaklink_analysis.doctor.coverage import Coverage, Hint, Lack, examine
from weaklink_analysis.doctor.mend import Mend
from weaklink_analysis.doctor.mends import MEMORY_SPAN
from weaklink_analysis.gate.lines import lines
from weaklink_analysis.gate.verdict import Verdict
from weaklink_analysis.printable import printable
from weaklink_analysis.selection import Selection
from weaklink_processor.testing.capture import Capture, TakesProcessors

MOST = 5
"""Of what is alike so many are told: failures, names of spans, gaps, findings."""
_FINDINGS = """
    SELECT code, memory_id, trace_id, span_id, detail FROM findings
    WHERE list_contains($names, code) OR list_contains($names, severity)
    ORDER BY code, time, span_id LIMIT $most
"""


def told(verdict: Verdict, catalogue: duckdb.DuckDBPyConnection, capture: Capture) -> str:
    """Tell why a verdict is not passed: which memories are at fault, or what the spans lack to be judged at all."""
    if verdict.is_empty:
        found = _nothing(verdict, examine(catalogue, Selection()), capture)
    else:
        found = _failed(verdict, catalogue)
    return "\n".join([*found, *_unfinished(capture)])


def _failed(verdict: Verdict, catalogue: duckdb.DuckDBPyConnection) -> Iterator[str]:
    yield "; ".join(verdict.breaches)
    for failure in verdict.failures[:MOST]:
        yield from lines(failure)
    if len(verdict.failures) > MOST:
        yield f"and {len(verdict.failures) - MOST:,} more"
    exceeded = [name for name, found in verdict.findings.items() if found > verdict.rules.max_findings[name]]
    found = catalogue.execute(_FINDINGS, {"names": exceeded, "most": MOST}).fetchall()
    for code, memory_id, trace_id, span_id, detail in found:
        about = f" of {memory_id}" if memory_id else ""
        yield printable(f"{code}{about}: {detail}; trace {trace_id}, span {span_id}")


def _nothing(verdict: Verdict, coverage: Coverage, capture: Capture) -> Iterator[str]:
    names = [span.name for span in capture.spans]
    if not names:
        yield "nothing to evaluate: no span was captured"
        yield from _advice()
        return
    if verdict.not_evaluable:
        yield f"nothing to evaluate: none of {verdict.not_evaluable:,} decisions relied on a memory that is known"
    elif coverage.recognised:
        yield "nothing to evaluate: memory was used, and nothing was decided on it"
    else:
        yield f"nothing to evaluate: of {len(names):,} captured spans none was recognised as one of memory"
    yield f"  captured: {_counted(names)}"
    for row in coverage.recognised:
        yield printable(
            f"  recognised by {row.convention}: {row.operation}, {row.spans:,} spans, {row.records:,} records"
        )
    for lack in coverage.gaps[:MOST]:
        yield from _lack(lack)
    for hint in coverage.hints[:MOST]:
        yield from _hint(hint)
    if not (coverage.gaps or coverage.hints or coverage.recognised):
        yield "  a span that reads or writes memory says so:"
        yield from _code(MEMORY_SPAN)


def _advice() -> Iterator[str]:
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        yield "  OTEL_SDK_DISABLED is set: no span is made"
    provider = get_tracer_provider()
    if not isinstance(provider, TakesProcessors):
        yield f"  the global tracer provider is {type(provider).__qualname__}, which is none of OpenTelemetry's SDK"
    yield "  where the code has a tracer provider of its own: mai.watch(provider) before it runs"
    yield "  where it takes one: give it mai.tracer_provider"


def _lack(lack: Lack) -> Iterator[str]:
    yield f"  {lack.lacking:,} of {lack.total:,} {lack.operation} records lack {lack.gap}: {lack.described.assumes}"
    yield from _code(lack.mend)


def _hint(hint: Hint) -> Iterator[str]:
    yield printable(f"  {hint.name} looks like memory, by {', '.join(hint.keys) or 'its name'}; if it is, it says so:")
    yield from _code(hint.mend)


def _code(mend: Mend) -> Iterator[str]:
    yield from (f"      {line}" for line in mend.code)
    if mend.settings:
        yield "    in weaklink's settings, so that it counts once:"
        yield from (f"      {line}" for line in mend.settings)


def _unfinished(capture: Capture) -> Iterator[str]:
    if capture.unfinished:
        yield f"begun and not ended by now, and so not judged: {_counted(capture.unfinished)}"


def _counted(names: Iterable[str]) -> str:
    counts = Counter(names)
    told = [f"{name} ({count:,} times)" if count > 1 else name for name, count in counts.most_common(MOST)]
    more = f", and {len(counts) - MOST:,} more names" if len(counts) > MOST else ""
    return printable(", ".join(told) + more)
