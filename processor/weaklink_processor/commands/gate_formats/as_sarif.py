"""The verdict as SARIF 2.1.0: a result a failure, its chain as a code flow."""

import json
from importlib.metadata import version
from typing import Any

from weaklink_analysis.gate.baseline import keys
from weaklink_analysis.gate.lines import TIERS, lines, title
from weaklink_analysis.gate.verdict import Failure, Hop, Verdict
from weaklink_analysis.printable import printable

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"


def render(verdict: Verdict) -> str:
    """One run."""
    names = sorted({failure.checks[0].name for failure in verdict.failures})
    run = {
        "tool": {
            "driver": {
                "name": "weaklink",
                "version": version("weaklink"),
                "rules": [{"id": name, "shortDescription": {"text": name.replace("_", " ")}} for name in names],
            }
        },
        "results": [_result(failure, names) for failure in verdict.failures],
        "invocations": [{"executionSuccessful": not verdict.is_empty}],
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(failure: Failure, names: list[str]) -> dict[str, Any]:
    first = failure.checks[0].name
    result: dict[str, Any] = {
        "ruleId": first,
        "ruleIndex": names.index(first),
        "level": "error",
        "message": {"text": "\n".join(lines(failure))},
        "locations": [
            {
                "logicalLocations": [
                    {
                        "name": failure.span_id,
                        "fullyQualifiedName": printable(f"{failure.service_name}/{failure.trace_id}/{failure.span_id}"),
                        "kind": TIERS[failure.tier],
                    }
                ],
                "message": {"text": title(failure)},
            }
        ],
        "partialFingerprints": {"weaklink/v1": "; ".join(map(str, keys(failure)))},
        "properties": {"score": failure.score, "memory_id": failure.memory_id, "author": failure.author},
    }
    if failure.chain:
        result["codeFlows"] = [{"threadFlows": [{"locations": [_step(hop) for hop in failure.chain]}]}]
    return result


def _step(hop: Hop) -> dict[str, Any]:
    said = f"{hop.memory_id} by {hop.agent_id or 'nobody known'}, declared {hop.declared}, effective {hop.effective}"
    name = {"name": printable(hop.memory_id), "kind": "memory"}
    return {
        "location": {"logicalLocations": [name], "message": {"text": printable(said)}},
        "importance": "essential" if hop.is_weakest else "important",
    }
