"""The verdict as one JSON object; `gate.schema.json` beside this file describes it."""

import json
from dataclasses import fields
from datetime import datetime
from typing import Any

from weaklink_analysis.gate.verdict import Verdict

VERSION = 1
"""Keys are added within one, never renamed or retyped."""


def render(verdict: Verdict) -> str:
    """All of it, every failure too."""
    rules = _plain(verdict.rules)
    rules |= {"rubric": verdict.rules.rubric.name, "baseline": verdict.rules.baseline is not None}
    told = {
        "version": VERSION,
        "outcome": outcome(verdict),
        "rules": rules,
        "selected_traces": verdict.selected,
        "traces": verdict.traces,
        "decisions": {
            "judged": verdict.decisions.judged,
            "passed": verdict.decisions.passed,
            "not_evaluable": verdict.not_evaluable,
        },
        "findings": dict(verdict.findings),
        "breaches": list(verdict.breaches),
        "regressions": [_plain(one.key) | {"was": one.was, "now": one.now} for one in verdict.regressions],
        "known_failures": verdict.known,
        "failures": verdict.failures,
        "present": verdict.present,
    }
    return json.dumps(told, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """What json asks for: dataclasses as objects, and times as text."""
    if isinstance(value, datetime):
        return value.isoformat()
    return {field.name: getattr(value, field.name) for field in fields(value)}


def outcome(verdict: Verdict) -> str:
    """One word."""
    return "empty" if verdict.is_empty else "passed" if verdict.passed else "failed"
