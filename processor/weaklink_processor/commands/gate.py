"""Whether the traces of files, or of the data folder, are good enough: an exit code, and why."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import duckdb

from weaklink_analysis.gate.judging import judge
from weaklink_analysis.gate.lines import conclusion
from weaklink_analysis.gate.unjudged import unjudged
from weaklink_analysis.gate.verdict import Rules, Tier, Verdict, empty
from weaklink_analysis.mai.rubrics import RubricError
from weaklink_analysis.selection import Selection
from weaklink_processor.commands.catalogue import NoSpans, catalogue_of
from weaklink_processor.commands.gate_baseline import read_baseline, write_baseline, write_whole
from weaklink_processor.commands.gate_options import BOUND, TRACE_ID
from weaklink_processor.commands.options import FRACTION, MOMENT, PATH, with_config
from weaklink_processor.commands.progress import progress_bar
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError
from weaklink_processor.wiring import CATALOGUE_FILE
from weaklink_processor.wiring.analysing import attribution, gate_rubric

PASSED, FAILED, EMPTY = 0, 1, 3
FORMATS = ("table", "json", "junit", "github", "sarif")
MOST_GROUPED = 500
"""Failures that are looked at to show the kinds there are; all are counted."""


@click.command()
@click.argument("files", nargs=-1, type=PATH, metavar="[FILE...]")
@with_config("--data-dir")
@click.option("--environment", metavar="NAME", help="Only this environment.")
@click.option("--service", metavar="NAME", help="Only this service.")
@click.option("--session", metavar="ID", help="Only the session of this id.")
@click.option(
    "--trace-id", "trace_ids", type=TRACE_ID, multiple=True, metavar="ID", help="Only this trace; may be repeated."
)
@click.option("--since", type=MOMENT, metavar="AGE_OR_TIME", help="Only traces that began so long ago at most, as 1h.")
@click.option("--until", type=MOMENT, metavar="AGE_OR_TIME", help="Only traces that began before.")
@click.option(
    "--tier",
    type=click.Choice(["1", "3", "both"]),
    default="both",
    show_default=True,
    help="1: every evaluable decision; 3: every trace.",
)
@click.option(
    "--min-score", type=FRACTION, default=0.7, show_default=True, metavar="SCORE", help="What every score has to reach."
)
@click.option(
    "--min-pass-rate", type=FRACTION, default=1.0, show_default=True, metavar="SHARE", help="How many of them have to."
)
@click.option(
    "--min-traces", type=click.IntRange(0), default=1, show_default=True, metavar="N", help="How many there have to be."
)
@click.option(
    "--max-findings", type=BOUND, multiple=True, metavar="SEVERITY_OR_CODE=N", help="At most so many; may be repeated."
)
@click.option("--baseline", type=PATH, metavar="FILE", help="Fail only where mean scores are lower than there.")
@click.option(
    "--tolerance", type=FRACTION, default=0.05, show_default=True, metavar="SCORE", help="How much lower they may be."
)
@click.option("--write-baseline", type=PATH, metavar="FILE", help="Write mean scores, for a later --baseline.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option("--output", type=PATH, metavar="FILE", help="Write the result to a file; the last line is printed.")
def gate(config: Config, files: tuple[Path, ...], form: str, output: Path | None, **given: Any) -> None:
    """Judge the memory use of the traces in OTLP files, or in the data folder.

    Exit codes: 0 passed, 1 failed, 2 wrong use or unreadable input, 3 nothing to judge.
    """
    rules, selection = _rules(config, given), _selection(given)
    everything = form in {"json", "junit", "sarif"} or rules.baseline is not None or given["write_baseline"]
    try:
        with progress_bar() as progress, catalogue_of(config, files, progress) as catalogue:
            verdict = judge(catalogue, selection, rules, None if everything else MOST_GROUPED)
            waiting = unjudged(catalogue, selection)
    except NoSpans as error:
        click.echo(f"{error}: nothing to judge", err=True)
        verdict, waiting = empty(rules, str(error)), 0
    except (RubricError, duckdb.Error) as error:
        raise UsageError(str(error)) from error
    if given["write_baseline"] and not verdict.is_empty:  # one without entries lets all pass
        write_baseline(given["write_baseline"], verdict)
    _tell(verdict, form, output, files[0] if files else config.data_dir / CATALOGUE_FILE)
    if waiting:
        click.echo(f"not judged yet, since their quiet period is not over: {waiting:,} traces", err=True)
    sys.exit(EMPTY if verdict.is_empty else PASSED if verdict.passed else FAILED)


def _rules(config: Config, given: Mapping[str, Any]) -> Rules:
    tier: Tier = given["tier"]
    rules = Rules(
        tier,
        given["min_score"],
        given["min_pass_rate"],
        given["min_traces"],
        dict(given["max_findings"]),
        gate_rubric(config),
        attribution(config),
        tolerance=given["tolerance"],
    )
    return replace(rules, baseline=read_baseline(given["baseline"], rules)) if given["baseline"] else rules


def _selection(given: Mapping[str, Any]) -> Selection:
    since: datetime | None = given["since"]
    until: datetime | None = given["until"]
    if since and until and since >= until:
        raise UsageError(f"--until: {until:%Y-%m-%d %H:%M:%S%z}: expected a time after that of --since")
    return Selection(given["service"], given["environment"], since, until, given["session"], given["trace_ids"])


def _tell(verdict: Verdict, form: str, output: Path | None, judged: Path) -> None:
    text = _rendered(verdict, form, judged, terminal=output is None and sys.stdout.isatty())
    if output:
        write_whole(output, text)
        click.echo(conclusion(verdict))
    else:
        click.echo(text, nl=False)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if form == "github" and summary:
        _summarise(verdict, Path(summary))


def _summarise(verdict: Verdict, summary: Path) -> None:
    """Add to the step's summary; where that cannot be, the verdict stands all the same."""
    from weaklink_processor.commands.gate_formats import as_github  # noqa: PLC0415

    try:
        with summary.open("a", encoding="utf-8") as file:
            file.write(as_github.summary(verdict))
    except OSError as error:
        click.echo(f"GITHUB_STEP_SUMMARY: {str(summary)!r}: {error.strerror}; the summary is not written", err=True)


def _rendered(verdict: Verdict, form: str, judged: Path, *, terminal: bool) -> str:
    """Only the form that is asked for is imported: that of people takes longer than all the rest."""
    if form == "table":
        from weaklink_processor.commands.gate_formats import as_table  # noqa: PLC0415

        return as_table.render(verdict, terminal=terminal)
    from weaklink_processor.commands.gate_formats import as_github, as_json, as_junit, as_sarif  # noqa: PLC0415

    if form == "sarif":
        return as_sarif.render(verdict, judged)
    return {"json": as_json.render, "junit": as_junit.render, "github": as_github.render}[form](verdict)
