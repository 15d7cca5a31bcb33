"""The verdict as JUnit XML, as Jenkins, GitLab and others read it: a test case a rule, and one a failure."""

from typing import NamedTuple
from xml.etree import ElementTree as ET

from weaklink_analysis.gate.lines import lines, title
from weaklink_analysis.gate.verdict import Failure, Verdict
from weaklink_analysis.printable import printable


class _Case(NamedTuple):
    place: str
    name: str
    message: str
    """Empty: it passed."""
    text: str


def render(verdict: Verdict) -> str:
    """XML 1.0. Control characters, which it cannot hold, are written as escapes."""
    root = ET.Element("testsuites", name="weaklink gate")
    _suite(root, "rules", [_Case("weaklink", rule, rule if broken else "", rule) for rule, broken in _rules(verdict)])
    if verdict.failures:
        _suite(root, "failures", [_case(failure) for failure in verdict.failures])
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, "unicode")}\n'


def _case(failure: Failure) -> _Case:
    place = printable(failure.service_name) or "weaklink"
    return _Case(place, title(failure), printable(failure.why), "\n".join(lines(failure)))


def _rules(verdict: Verdict) -> list[tuple[str, bool]]:
    held = [] if verdict.breaches else ["all rules are held"]
    return [(rule, False) for rule in held] + [(printable(rule), True) for rule in verdict.breaches]


def _suite(root: ET.Element, name: str, cases: list[_Case]) -> None:
    failed = sum(bool(case.message) for case in cases)
    counts = {"tests": len(cases), "failures": failed, "errors": 0, "skipped": 0, "time": 0}
    suite = ET.SubElement(root, "testsuite", {"name": name} | {key: str(count) for key, count in counts.items()})
    for case in cases:
        told = ET.SubElement(suite, "testcase", classname=case.place, name=case.name, time="0")
        if case.message:
            ET.SubElement(told, "failure", message=case.message, type=name).text = case.text
