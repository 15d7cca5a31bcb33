"""The plugin as pytest loads it: each test starts a pytest of its own, since the global tracer provider is set once."""

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from inner_pytest import errors, run_pytest

ROOT = Path(__file__).parents[2]
SUITE = Path(__file__).with_name("suite_of_agents.py").read_text()
PASSING = len(re.findall(r"^(?:async )?def test_", SUITE, re.MULTILINE)) - 1
GUESSED = Path(__file__).with_name("guessed.txt").read_text()
TELLS_MODULES = """
import sys

def pytest_unconfigure():
    print("MODULES", *sorted(sys.modules))
"""
APPLICATION = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter = InMemorySpanExporter()
provider = TracerProvider(shutdown_on_exit=False)
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)

def pytest_unconfigure():
    processors = provider._active_span_processor._span_processors
    print("EXPORTED", len(exporter.get_finished_spans()), "PROCESSORS", len(processors))
"""
NO_PROVIDER = "from opentelemetry import trace\ntrace.set_tracer_provider(trace.NoOpTracerProvider())\n"


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder with a suite that uses the fixture, where warnings are errors."""
    (tmp_path / "test_agents.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    return tmp_path


def test_a_suite_without_a_tracer_provider(suite: Path) -> None:
    """Each test captures what is its own, in every worker of xdist; a message shows nothing of our code."""
    said = run_pytest(suite, "--numprocesses", "2")
    assert f"1 failed, {PASSING} passed" in said, said
    assert "nothing to evaluate: no span was captured" in said
    assert "testing/mai.py" not in said


def test_a_suite_whose_application_has_a_tracer_provider(suite: Path) -> None:
    """Its provider is captured by one processor in all, and still tells its own exporters everything."""
    (suite / "conftest.py").write_text(APPLICATION)
    said = run_pytest(suite)
    assert f"1 failed, {PASSING} passed" in said, said
    assert "EXPORTED 8 PROCESSORS 2" in said


def test_a_global_provider_that_makes_no_spans(suite: Path) -> None:
    """Where the global provider cannot be listened to, the message says which it is; providers of one's own go on."""
    (suite / "conftest.py").write_text(NO_PROVIDER)
    said = run_pytest(suite, "-k", "fails or given or makes")
    assert "1 failed, 2 passed" in said, said
    assert "the global tracer provider is NoOpTracerProvider" in said


def test_unused_it_imports_nothing(tmp_path: Path) -> None:
    """A suite that does not use the fixture imports three small modules more than without weaklink, and no library."""
    (tmp_path / "conftest.py").write_text(TELLS_MODULES)
    (tmp_path / "test_nothing.py").write_text("def test_nothing():\n    pass\n")

    def modules(*arguments: str) -> set[str]:
        (line,) = re.findall("^MODULES (.+)$", run_pytest(tmp_path, *arguments), re.MULTILINE)
        return set(line.split())

    ours = {"weaklink_processor", "weaklink_processor.testing", "weaklink_processor.testing.plugin"}
    assert modules() - modules("-p", "no:weaklink") == ours


def test_nothing_that_weaklink_needs_is_a_plugin_too() -> None:
    """pytest loads the plugins of all that is installed: that of anyio would make each start 0.2 s longer."""
    needed, waiting = set[str](), ["weaklink"]
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            found = map(Requirement, metadata.requires(name) or ())
            waiting += [each.name for each in found if each.marker is None or each.marker.evaluate({"extra": ""})]
    assert {"weaklink", "uvicorn", "pydantic-core"} < needed
    plugins = {name for name in needed if metadata.distribution(name).entry_points.select(group="pytest11")}
    assert plugins == {"weaklink"}


@pytest.mark.parametrize(
    ("ini", "arguments", "told"),
    [
        ("weaklink_min_score = high", (), "weaklink_min_score: 'high': expected a number from 0 to 1"),
        ("weaklink_config = theirs.yaml", (), "theirs.yaml: "),
        ("", ("--weaklink-min-score", "7"), "weaklink_min_score: '7': expected a number from 0 to 1"),
    ],
    ids=["ini", "config", "flag"],
)
def test_settings_that_mean_nothing(tmp_path: Path, ini: str, arguments: tuple[str, ...], told: str) -> None:
    """A test that uses the fixture ends in an error that says which setting is wrong, and no more."""
    (tmp_path / "pytest.ini").write_text(f"[pytest]\n{ini}\n")
    (tmp_path / "test_agents.py").write_text("def test_one(mai):\n    pass\n")
    said = run_pytest(tmp_path, *arguments)
    assert "1 error" in said
    assert told in said
    assert "opening.py" not in said


def test_the_sample_suite(tmp_path: Path) -> None:
    """One test passes, one is mended by a confirmation, and one fails and says which memory is at fault, and why."""
    said = run_pytest(tmp_path, "-v", str(ROOT / "examples" / "agent_tests"))
    assert dict(re.findall(r"::(test_\w+) ([A-Z]+)", said)) == {
        "test_a_cause_that_was_measured_is_acted_on": "PASSED",
        "test_a_guess_that_was_confirmed_is_acted_on": "PASSED",
        "test_a_guess_is_acted_on": "FAILED",
    }
    assert errors(said) == GUESSED
