"""The verdict as SARIF 2.1.0: a result a failure, its chain as a code flow."""

import json
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from weaklink_analysis.gate.baseline import keys
from weaklink_analysis.gate.lines import TIERS, lines, title
from weaklink_analysis.gate.verdict import Failure, Hop, Verdict
from weaklink_analysis.printable import printable

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_GATE = "weaklink_gate"
"""The rule that is broken where a rule of the gate is, and no score is too low."""


def render(verdict: Verdict, judged: Path | None = None) -> str:
    """One run. `judged` is the file that was, or the first of them: GitHub shows no result that is in no file."""
    physical = _physical(judged) if judged else {}
    breaches = () if verdict.failures or verdict.is_empty else verdict.breaches
    names = sorted({failure.checks[0].name for failure in verdict.failures} | ({_GATE} if breaches else set()))
    run = {
        "tool": {
            "driver": {
                "name": "weaklink",
                "version": version("weaklink"),
                "rules": [{"id": name, "shortDescription": {"text": name.replace("_", " ")}} for name in names],
            }
        },
        "results": [_result(failure, names, physical) for failure in verdict.failures]
        + [_breach(printable(breach), names, physical) for breach in breaches],
        "invocations": [{"executionSuccessful": not verdict.is_empty}],
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _physical(judged: Path) -> dict[str, Any]:
    """Relative to the current folder where it is in there, as the paths of a repository are."""
    whole = judged.absolute()
    inside = whole.is_relative_to(Path.cwd())
    uri = quote(whole.relative_to(Path.cwd()).as_posix()) if inside else whole.as_uri()
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}}


def _result(failure: Failure, names: list[str], physical: dict[str, Any]) -> dict[str, Any]:
    first = failure.checks[0].name
    logical = {
        "name": failure.span_id,
        "fullyQualifiedName": printable(f"{failure.service_name}/{failure.trace_id}/{failure.span_id}"),
        "kind": TIERS[failure.tier],
    }
    result: dict[str, Any] = {
        "ruleId": first,
        "ruleIndex": names.index(first),
        "level": "error",
        "message": {"text": "\n".join(lines(failure))},
        "locations": [{**physical, "logicalLocations": [logical], "message": {"text": title(failure)}}],
        "partialFingerprints": _fingerprints("; ".join(map(str, keys(failure)))),
        "properties": {"score": failure.score, "memory_id": failure.memory_id, "author": failure.author},
    }
    if failure.chain:
        steps = [_step(hop, physical) for hop in failure.chain]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    return result


def _breach(breach: str, names: list[str], physical: dict[str, Any]) -> dict[str, Any]:
    result = {"ruleId": _GATE, "ruleIndex": names.index(_GATE), "level": "error", "message": {"text": breach}}
    told = {**result, "partialFingerprints": _fingerprints(breach)}
    return {**told, "locations": [physical]} if physical else told


def _fingerprints(what: str) -> dict[str, str]:
    """GitHub goes by the second alone, and without takes all that is in one line for the same."""
    return {"weaklink/v1": what, "primaryLocationLineHash": sha256(what.encode("utf-8", "replace")).hexdigest()}


def _step(hop: Hop, physical: dict[str, Any]) -> dict[str, Any]:
    said = f"{hop.memory_id} by {hop.agent_id or 'nobody known'}, declared {hop.declared}, effective {hop.effective}"
    name = {"name": printable(hop.memory_id), "kind": "memory"}
    return {
        "location": {**physical, "logicalLocations": [name], "message": {"text": printable(said)}},
        "importance": "essential" if hop.is_weakest else "important",
    }
