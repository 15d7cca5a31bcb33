"""The verdict as machines read it: valid, and whatever spans said is escaped as each form asks."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import xmlschema

from gate.sarif_schema import sarif_schema
from gate.told import Stories, cascade
from weaklink_analysis.gate.verdict import Failure, Hop, Key, Regression, Rules, Tally, Verdict
from weaklink_processor.commands.gate_formats import as_github, as_json, as_junit, as_sarif, as_table

SCHEMAS = Path(__file__).with_name("schemas")
JSON_SCHEMA = json.loads(Path(as_json.__file__).with_name("gate.schema.json").read_text("utf-8"))
EVIL = "e|vil\r\n::error::x<b>%0A`$\x1b[31m\x00\x08\u202e[bold]&]]>"
"""A table's end, a workflow command, a tag, escapes of four kinds, what XML cannot hold, and markup of rich."""


def evil(failure: Failure) -> Failure:
    hop = Hop(EVIL, 1, EVIL, 0.3, 0.3, is_weakest=True)
    sent = replace(failure, service_name=EVIL, environment=EVIL, session_id=EVIL, agent_id=EVIL)
    return replace(sent, memory_id=EVIL, author=EVIL, chain=(hop,), why=EVIL, mend=EVIL)


STORIES = Stories(
    {
        "cascade": cascade(),
        "well": cascade(guess=0.9),
        "alike": [s for n in range(1, 4) for s in cascade(n, prefix=f"{n}-")],
    }
)
FAILED = STORIES.verdict("cascade")
VERDICTS: dict[str, Verdict] = {
    "failed": FAILED,
    "passed": STORIES.verdict("well"),
    "of a trace": STORIES.verdict("cascade", Rules("3", min_score=1.0, max_findings={"warning": 1, "cycle": 0})),
    "empty": STORIES.verdict("nowhere"),
    "evil": replace(FAILED, failures=tuple(map(evil, FAILED.failures)), breaches=(EVIL,)),
    "regressed": replace(
        FAILED, rules=Rules(baseline={}), regressions=(Regression(Key("1", "", EVIL, EVIL, "c", EVIL, EVIL), 0.9, 0.4),)
    ),
}
every = pytest.mark.parametrize("verdict", VERDICTS.values(), ids=VERDICTS)


@every
def test_json_is_valid(verdict: Verdict) -> None:
    """By the schema that comes with the package, which allows no key to be missing; all failures are in it."""
    said = json.loads(as_json.render(verdict))
    jsonschema.Draft202012Validator(JSON_SCHEMA, format_checker=jsonschema.FormatChecker()).validate(said)
    assert len(said["failures"]) == len(verdict.failures)
    assert said["outcome"] == ("empty" if verdict.is_empty else "passed" if verdict.passed else "failed")


@every
def test_junit_is_valid(verdict: Verdict) -> None:
    """By Jenkins' schema. The numbers are those of the test cases, and a gate that is not passed has a failure."""
    text = as_junit.render(verdict)
    xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd").validate(text)
    root = ET.fromstring(text)  # noqa: S314 - ours
    for suite in root:
        assert int(suite.attrib["tests"]) == len(suite)
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
    assert bool(root.findall(".//failure")) == (not verdict.passed)
    assert len(root.findall("testsuite[@name='failures']/testcase")) == len(verdict.failures)


@every
def test_sarif_is_valid(verdict: Verdict) -> None:
    """By OASIS' schema."""
    jsonschema.validate(json.loads(as_sarif.render(verdict)), json.loads(sarif_schema()))


def test_sarif_tells_the_chain() -> None:
    """A result a failure, of a rule that the tool lists, its chain as a code flow that ends at the essential step."""
    (told,) = json.loads(as_sarif.render(FAILED))["runs"]
    result = told["results"][0]
    assert told["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    names = [step["location"]["logicalLocations"][0]["name"] for step in steps]
    assert (names, steps[-1]["importance"]) == (["action-1", "diagnosis-1", "triage-1"], "essential")


@every
@pytest.mark.parametrize(
    ("judged", "uri"),
    [("tests/a trace.jsonl", "tests/a%20trace.jsonl"), ("/elsewhere/t.jsonl", "file:///elsewhere/t.jsonl")],
)
def test_sarif_results_are_in_a_file(verdict: Verdict, judged: str, uri: str) -> None:
    """GitHub takes no result, and no step of a code flow, without a file and a line: it is what was judged.

    Its own hash of that line would make one alert of them all, so each kind of failure brings another.
    """
    told = json.loads(as_sarif.render(verdict, Path(judged)))
    results = told["runs"][0]["results"]
    hashes = {result["partialFingerprints"]["primaryLocationLineHash"] for result in results}
    assert len(hashes) == len({result["partialFingerprints"]["weaklink/v1"] for result in results})
    steps = [step["location"] for result in results for step in steps_of(result)]
    for location in [*(result["locations"][0] for result in results), *steps]:
        assert location["physicalLocation"] == {"artifactLocation": {"uri": uri}, "region": {"startLine": 1}}
    jsonschema.validate(told, json.loads(sarif_schema()))


def steps_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for flow in result.get("codeFlows", ()) for step in flow["threadFlows"][0]["locations"]]


def test_sarif_tells_a_broken_rule() -> None:
    """Where no score is too low and the gate fails all the same, the rules that are not held are the results."""
    verdict = STORIES.verdict("well", Rules(min_traces=9))
    assert (verdict.passed, list(verdict.failures)) == (False, [])
    (told,) = json.loads(as_sarif.render(verdict))["runs"]
    assert [result["message"]["text"] for result in told["results"]] == list(verdict.breaches)


@every
def test_github_gets_only_our_commands(verdict: Verdict) -> None:
    """Each line is an error of ours, or the conclusion: what a span said begins no line and ends no property."""
    *errors, last = as_github.render(verdict).splitlines()
    assert last.startswith("gate ")
    for line in errors:
        found = re.fullmatch(r"::error title=([^:,\x00-\x1f]+)::([^\x00-\x1f]+)", line)
        assert found, line
        assert not re.search(r"%(?!0A|0D|25|3A|2C)", line)
    assert bool(errors) == (not verdict.passed)


@every
def test_the_summary_is_one_table(verdict: Verdict) -> None:
    """Each row has the columns of its head, and no tag but line breaks."""
    text = as_github.summary(verdict)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} <= {6}
    assert set(re.findall(r"<[^>]*>", text)) <= {"<br>"}
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text)


@every
def test_people_read_no_control_characters(verdict: Verdict) -> None:
    """A terminal gets letters and line ends; the last line is the conclusion."""
    text = as_table.render(verdict, terminal=False)
    assert all(line.isprintable() for line in text.splitlines())
    assert text.splitlines()[-1].startswith("gate ")
    assert max(map(len, text.splitlines()[:-2]), default=0) <= 130 or verdict.breaches


def test_people_read_what_was_said() -> None:
    """Markup in it is no markup of ours."""
    text = as_table.render(VERDICTS["evil"], terminal=False)
    told = "".join(re.findall(r"^│ memory at fault │ (.*?) +│\n│ +│ (.*?) +│", text, re.MULTILINE)[0])
    assert "[bold]" in told


def test_failures_that_are_alike_are_told_once() -> None:
    """With their number; machines get all of them."""
    verdict = STORIES.verdict("alike")
    text = as_table.render(verdict, terminal=False)
    assert text.count("score 0.40 on effective confidence") == 1
    assert "and 2 more like it" in text
    assert len(json.loads(as_json.render(verdict))["failures"]) == 6
    assert as_github.render(verdict).count("::error ") == 2


def test_what_there_is_instead() -> None:
    """Where nothing was selected, people read which services there are."""
    text = as_table.render(VERDICTS["empty"], terminal=False)
    assert re.search(r"svc .*\balike .*\b3\b.*\b6\b", text)
    nothing = Verdict(Rules(), 0, Tally(), Tally(), 0, ())
    assert "no evaluations at all" in as_table.render(nothing, terminal=False)
