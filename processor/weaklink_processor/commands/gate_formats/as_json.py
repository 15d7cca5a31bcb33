"""The verdict as one JSON object; `gate.schema.json` beside this file describes it."""

import json
from dataclasses import asdict
from datetime import datetime

from weaklink_analysis.gate.verdict import Verdict

VERSION = 1
"""Keys are added within one, never renamed or retyped."""


def render(verdict: Verdict) -> str:
    """All of it, every failure too."""
    rules = asdict(verdict.rules)
    rules |= {"rubric": verdict.rules.rubric.name, "baseline": verdict.rules.baseline is not None}
    told = {
        "version": VERSION,
        "outcome": outcome(verdict),
        "rules": rules,
        "selected_traces": verdict.selected,
        "traces": {"judged": verdict.traces.judged, "passed": verdict.traces.passed},
        "decisions": {
            "judged": verdict.decisions.judged,
            "passed": verdict.decisions.passed,
            "not_evaluable": verdict.not_evaluable,
        },
        "findings": dict(verdict.findings),
        "breaches": list(verdict.breaches),
        "regressions": [asdict(one.key) | {"was": one.was, "now": one.now} for one in verdict.regressions],
        "known_failures": verdict.known,
        "failures": [asdict(failure) for failure in verdict.failures],
        "present": [asdict(one) for one in verdict.present],
    }
    return json.dumps(told, default=datetime.isoformat, indent=2) + "\n"


def outcome(verdict: Verdict) -> str:
    """One word."""
    return "empty" if verdict.is_empty else "passed" if verdict.passed else "failed"
