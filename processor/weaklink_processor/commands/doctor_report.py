"""How coverage is printed: for people a table a service and convention with the lines that mend it, or as JSON."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from weaklink_analysis.doctor.coverage import Coverage, Hint, Lack, Present, Recognised, Sender
from weaklink_analysis.doctor.mend import Mend
from weaklink_processor.commands.chain_tree import printable

VERSION = 1
"""Of the JSON: keys are added within one, never renamed or retyped."""
_WIDTH = 110  # columns of text, where no terminal says how many there are


def as_json(coverage: Coverage) -> dict[str, Any]:
    """All facts, what is to be mended and what is not, with what they cost and what mends them."""
    return {
        "version": VERSION,
        "covered": coverage.is_covered,
        "services": [asdict(sender) for sender in coverage.senders],
        "recognised": [asdict(row) for row in coverage.recognised],
        "gaps": [_lack(lack) for lack in coverage.lacks],
        "present": [
            asdict(one) | {"earliest": _iso(one.earliest), "latest": _iso(one.latest)} for one in coverage.present
        ],
        "hints": [asdict(hint) | {"mend": asdict(hint.mend)} for hint in coverage.hints],
    }


def _lack(lack: Lack) -> dict[str, Any]:
    facts = asdict(lack)
    del facts["place"]
    share = {"share": round(lack.lacking / lack.total, 4)}
    costs = {"assumes": lack.described.assumes, "unanswered": lack.described.unanswered}
    return facts | share | costs | {"mend": asdict(lack.mend)}


def show(coverage: Coverage) -> None:
    """Print it for people."""
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
    for sender in coverage.senders:
        _show_sender(console, coverage, sender)
    if coverage.present:
        _show_present(console, coverage.present)
    console.print(Text(_verdict(coverage), "bold"))


def _iso(time: datetime | None) -> str | None:
    return time.isoformat() if time else None


def _show_present(console: Console, present: Sequence[Present]) -> None:
    table = Table("service", "environment", "spans", "from", "to", title="what there is instead")
    for one in present:
        times = (f"{time:%Y-%m-%d %H:%M:%S}" if time else "" for time in (one.earliest, one.latest))
        names = (Text(printable(name)) for name in (one.service_name, one.environment))
        table.add_row(*names, f"{one.spans:,}", *times)
    console.print(table)


def _show_sender(console: Console, coverage: Coverage, sender: Sender) -> None:
    def own(rows: Iterable[Any]) -> list[Any]:
        return [row for row in rows if (row.service_name, row.environment) == (sender.service_name, sender.environment)]

    recognised, hints = own(coverage.recognised), own(coverage.hints)
    environment = f" in {printable(sender.environment)}" if sender.environment else ""
    name = printable(sender.service_name) or "(no service.name)"
    console.print(Text(f"{name}{environment}: {_many(sender.spans, 'span')}", "bold"))
    for convention, rows in groupby(recognised, attrgetter("convention")):
        gaps = [lack for lack in own(coverage.gaps) if lack.convention == convention]
        console.print(Text(f"{convention}: {_operations(rows)}"))
        _show_gaps(console, gaps)
    if not recognised:
        console.print("no memory span was recognised" + ("" if hints else ", and none looks like one"))
    _show_hints(console, hints)
    console.print()


def _operations(rows: Iterable[Recognised]) -> str:
    return "; ".join(f"{row.operation}: {_many(row.spans, 'span')}, {_many(row.records, 'record')}" for row in rows)


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _show_gaps(console: Console, gaps: list[Lack]) -> None:
    if not gaps:
        console.print("lacks nothing")
        return
    table = Table("operation", "lacks", "records", "what that costs")
    for lack in gaps:
        table.add_row(*(Text(cell) for cell in (lack.operation, lack.gap, _count(lack), " ".join(_costs(lack)))))
    console.print(table)
    alike: dict[Mend, list[Lack]] = {}
    for lack in gaps:
        alike.setdefault(lack.mend, []).append(lack)
    for mend, lacks in alike.items():
        codes, operations = (", ".join(dict.fromkeys(names)) for names in zip(*map(_name, lacks), strict=True))
        _show_mend(console, f"{codes} of {operations}", mend, lacks[0])


def _name(lack: Lack) -> tuple[str, str]:
    return lack.gap, lack.operation


def _count(lack: Lack) -> str:
    inherited = f", {lack.known:,} inherit it" if lack.known else ""
    return f"{lack.lacking:,} of {lack.total:,}{inherited}"


def _costs(lack: Lack) -> Iterator[str]:
    yield lack.described.assumes
    if lack.failing:
        checks = (f"{one.check} ({_many(one.traces, 'trace')})" for one in lack.failing)
        yield f"Fails: {', '.join(checks)}."
    if lack.described.unanswered:
        yield f"Cannot answer: {', '.join(lack.described.unanswered)}."


def _show_hints(console: Console, hints: list[Hint]) -> None:
    if not hints:
        return
    table = Table("not recognised", "spans", "attributes that look like memory")
    for hint in hints:
        table.add_row(Text(printable(hint.name)), f"{hint.spans:,}", Text(printable(", ".join(hint.keys))))
    console.print(table)
    _show_mend(console, "a span of memory says so", hints[0].mend, hints[0])


def _show_mend(console: Console, what: str, mend: Mend, example: Lack | Hint) -> None:
    where = f"; see span {example.span_id} of trace {example.trace_id}"
    console.print(Text(f"{what}: {mend.attribute}{where}"), soft_wrap=True)
    for line in mend.code:
        console.print(Text(f"    {line}", "green"), soft_wrap=True)
    if mend.settings:
        console.print("  in weaklink's settings, so that it counts once:")
    for line in mend.settings:
        console.print(Text(f"    {line}", "green"), soft_wrap=True)


def _verdict(coverage: Coverage) -> str:
    if coverage.is_covered:
        return "covered: every memory span says what it should"
    if coverage.present:
        return "not covered: no span is selected"
    if not coverage.recognised:
        return "not covered: no memory span was recognised"
    nowhere = len(coverage.unrecognised)
    parts = (
        _many(len(coverage.gaps), "gap") if coverage.gaps else None,
        f"nothing was recognised of {_many(nowhere, 'service')}" if nowhere else None,
    )
    return f"not covered: {'; '.join(filter(None, parts))}"
