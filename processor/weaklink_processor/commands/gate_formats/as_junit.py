"""The verdict as JUnit XML, as Jenkins, GitLab and others read it: a test case a rule, and one a failure."""

from xml.etree import ElementTree as ET

from weaklink_analysis.gate.lines import lines, title
from weaklink_analysis.gate.verdict import Verdict
from weaklink_analysis.printable import printable


def render(verdict: Verdict) -> str:
    """XML 1.0. Control characters, which it cannot hold, are written as escapes."""
    root = ET.Element("testsuites", name="weaklink gate")
    _suite(root, "rules", [(rule, rule, [rule] if broken else []) for rule, broken in _rules(verdict)])
    failures = [(failure.service_name, title(failure), lines(failure)) for failure in verdict.failures]
    if failures:
        _suite(root, "failures", failures)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, "unicode")}\n'


def _rules(verdict: Verdict) -> list[tuple[str, bool]]:
    held = [] if verdict.breaches else ["all rules are held"]
    return [(rule, False) for rule in held] + [(printable(rule), True) for rule in verdict.breaches]


def _suite(root: ET.Element, name: str, cases: list[tuple[str, str, list[str]]]) -> None:
    failed = sum(bool(said) for *_, said in cases)
    suite = ET.SubElement(
        root, "testsuite", name=name, tests=str(len(cases)), failures=str(failed), errors="0", skipped="0", time="0"
    )
    for place, text, said in cases:
        case = ET.SubElement(suite, "testcase", classname=printable(place) or "weaklink", name=text, time="0")
        if said:
            failure = ET.SubElement(case, "failure", message=said[-2] if len(said) > 1 else text, type=name)
            failure.text = "\n".join(said)
