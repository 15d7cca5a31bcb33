"""The verdict as annotations of GitHub Actions, and as the Markdown of a step's summary."""

import re

from weaklink_analysis.gate.lines import conclusion, lines, title
from weaklink_analysis.gate.verdict import Verdict
from weaklink_analysis.printable import printable
from weaklink_processor.commands.gate_formats.groups import groups

ANNOTATIONS = 10
"""GitHub shows no more of a step."""
ROWS = 100
"""A summary may have 1 MiB."""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&@:])")


def render(verdict: Verdict) -> str:
    """Workflow commands, and last the line that people read."""
    told = groups(verdict.failures)
    said = [
        _error(_short(title(one.first)), "\n".join([*lines(one.first), one.others]).rstrip())
        for one in told[:ANNOTATIONS]
    ]
    if not told:
        said += [_error("weaklink gate", printable(breach)) for breach in verdict.breaches]
    return "\n".join([*said, conclusion(verdict), ""])


def summary(verdict: Verdict) -> str:
    """Markdown."""
    told = groups(verdict.failures)
    text = [f"### {_plain(conclusion(verdict))}", ""]
    text += [f"- {_plain(breach)}" for breach in verdict.breaches]
    if told:
        text += ["", "| trace | fails | memory at fault, and its chain | why | what to do |", "|---|---|---|---|---|"]
    for group in told[:ROWS]:
        one = group.first
        at_fault = f"**{_plain(one.memory_id)}** by {_plain(one.author or 'nobody known')}" if one.memory_id else ""
        chain = " ← ".join(_plain(f"{hop.memory_id} ({_number(hop.declared)})") for hop in one.chain)
        cells = (
            f"{_plain(_short(title(one)).partition(':')[0])}<br>{one.trace_id}<br>{group.others}",
            "<br>".join(_plain(f"{check.name}: {check.detail}") for check in one.checks),
            f"{at_fault}<br>{chain}",
            _plain(one.why),
            _plain(one.mend),
        )
        text.append(f"| {' | '.join(cells)} |")
    if len(told) > ROWS:
        text.append(f"\nand {len(told) - ROWS:,} more kinds of failures")
    return "\n".join([*text, "", ""])


def _short(heading: str) -> str:
    """Without ids: annotations are listed by this."""
    return heading.partition("; trace ")[0]


def _error(heading: str, message: str) -> str:
    return f"::error title={_property(heading)}::{_data(message)}"


def _data(text: str) -> str:
    """https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts: escapeData."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _plain(text: str) -> str:
    """Text that Markdown and HTML leave as it is, on one line."""
    return _MARKDOWN.sub(r"\\\1", printable(text)).replace("\\<", "&lt;").replace("\\&", "&amp;")


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:.2f}"
