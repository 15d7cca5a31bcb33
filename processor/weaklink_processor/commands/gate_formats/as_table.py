"""The verdict for people: a table a failure, which rules are not held, and the one line that says it all."""

from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from weaklink_analysis.gate.lines import chain_lines, conclusion, title
from weaklink_analysis.gate.verdict import Failure, Regression, Verdict
from weaklink_analysis.printable import printable
from weaklink_processor.commands.gate_formats.groups import Group, groups

SHOWN = 20
"""Kinds of failures that are told in full."""
_WIDTH = 110  # columns of text, where no terminal says how many there are


def render(verdict: Verdict, *, terminal: bool) -> str:
    """Text; with colours, and as wide as the terminal, where it goes to one."""
    console = Console(
        file=StringIO(), force_terminal=terminal, width=Console().width if terminal else _WIDTH, highlight=False
    )
    told = groups(verdict.failures)
    for group in told[:SHOWN]:
        console.print(_table(group))
    if len(told) > SHOWN:
        console.print(f"and {len(told) - SHOWN:,} more kinds of failures; --format json has all")
    for regression in verdict.regressions[:SHOWN]:
        console.print(Text(_lower(regression)), soft_wrap=True)
    if verdict.is_empty:
        _show_present(console, verdict)
    for breach in verdict.breaches:
        console.print(Text(f"- {printable(breach)}"), soft_wrap=True)
    colour = "yellow" if verdict.is_empty else "green" if verdict.passed else "red"
    console.print(Text(conclusion(verdict), f"bold {colour}"), soft_wrap=True)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def _table(group: Group) -> Table:
    failure = group.first
    what = Text(title(failure).partition("; trace ")[0], "bold red")
    table = Table(title=what, title_justify="left", show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, said in _rows(failure, group.others):
        table.add_row(name, Text(said))
    return table


def _rows(failure: Failure, others: str) -> list[tuple[str, str]]:
    checks = "\n".join(printable(f"{c.name}: {c.detail} ({c.points:+.2f})") for c in failure.checks)
    rows = [("trace", f"{failure.trace_id}, span {failure.span_id}"), ("fails", checks)]
    if failure.memory_id:
        rows.append(("memory at fault", printable(f"{failure.memory_id}, by {failure.author or 'nobody known'}")))
    if failure.chain:
        rows.append(("its chain", "\n".join(chain_lines(failure.chain))))
    rows += [("why", printable(failure.why)), ("what to do", printable(failure.mend))]
    return rows + ([("", others)] if others else [])


def _lower(regression: Regression) -> str:
    key = regression.key
    who = f"decisions of {key.agent_id or 'no agent'}" if key.tier == "1" else "traces"
    what = f", {key.check}" if key.check else ""
    memory = f" by {key.memory} of {key.author or 'nobody known'}" if key.memory else ""
    was = "not in the baseline" if regression.was is None else f"it was {regression.was:.2f}"
    return printable(f"{who}, service {key.service_name}{what}{memory}: mean score {regression.now:.2f}; {was}")


def _show_present(console: Console, verdict: Verdict) -> None:
    if not verdict.present:
        console.print("there are no evaluations at all")
        return
    table = Table("service", "environment", "traces", "decisions", "from", "to", title="what there is instead")
    for one in verdict.present:
        times = (f"{time:%Y-%m-%d %H:%M:%S}" if time else "" for time in (one.earliest, one.latest))
        names = (Text(printable(name)) for name in (one.service_name, one.environment))
        table.add_row(*names, f"{one.traces:,}", f"{one.decisions:,}", *times)
    console.print(table)
