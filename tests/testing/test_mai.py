"""What `mai` makes of the spans of a test, on tracer providers of one's own."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from weaklink_analysis.emit import Emitter, record
from weaklink_analysis.gate.judging import judge
from weaklink_analysis.gate.verdict import Rules, Verdict
from weaklink_analysis.selection import Selection
from weaklink_analysis.views import VIEWS
from weaklink_processor import wiring
from weaklink_processor.commands.replay import take
from weaklink_processor.config import Config
from weaklink_processor.queue import framing
from weaklink_processor.testing.capture import Capture
from weaklink_processor.testing.mai import Mai

ID = re.compile(r"\b(?:[0-9a-f]{32}|[0-9a-f]{16})\b")
SESSION = "incident-7"
ACME = "SELECT row_id, 'read' AS kind, \"acme.id\" AS memory_id FROM candidates"
OWN = {
    "max_hops": 1,
    "decisions": [{"span_name": "choose"}],
    "conventions": [{"name": "acme", "names": ["acme.*"], "also": ["acme.id"], "sql": ACME}],
}
GUESSED = """\
2 of 2 evaluable decisions scored below 0.7
decision of action, service unknown_service:python: score 0.40 on effective confidence (0.80 on declared), below 0.7; \
trace ID, span ID
  no_low_confidence_unhedged: 1 below 0.4 without the hedge mark (-0.25)
  chain_confidence: the lowest confidence in the chain is 0.30 (-0.20)
  mean_confidence: mean confidence 0.30 (-0.15)
  memory at fault: cause, written by triage
  change  version 1  by action  declared 0.95  effective 0.30
  └─ fix  version 1  by diagnosis  declared 0.85  effective 0.30
     └─ cause  version 1  by triage  declared 0.30  effective 0.30  <- weakest link
"""


@contextmanager
def watching(min_score: float = 0.7) -> Iterator[Mai]:
    with Capture() as capture, Mai(capture, Config(), min_score) as mai:
        yield mai


@pytest.fixture
def mai() -> Iterator[Mai]:
    """Nothing has happened yet."""
    with watching() as mai:
        yield mai


@pytest.fixture
def emitter(mai: Mai) -> Emitter:
    return Emitter(mai.tracer_provider)


@pytest.fixture(scope="module")
def guessed() -> Iterator[Mai]:
    """A guess has been acted on, and the suite asks for a score of 0.5."""
    with watching(min_score=0.5) as mai:
        tell(Emitter(mai.tracer_provider), cause=0.3)
        yield mai


def tell(emitter: Emitter, cause: float) -> None:
    """A cause, a fix derived from it, and a change derived from that."""
    steps = [("cause", "triage", cause), ("fix", "diagnosis", 0.85), ("change", "action", 0.95)]
    for before, (memory_id, agent, confidence) in zip([None, *steps], steps, strict=False):
        with emitter.agent_run(agent, session=SESSION):
            if before:
                known, author, sure = before
                emitter.found(record(known, confidence=sure, hedged=sure < 0.5, created_by=author, session_id=SESSION))
            parents = before[:1] if before else ()
            emitter.wrote(memory_id, confidence=confidence, hedged=confidence < 0.5, derived_from=parents)


def message(mai: Mai, **rules: object) -> str:
    """What a failing assertion says, without the ids of spans."""
    with pytest.raises(AssertionError) as caught:
        mai.assert_passes(**rules)  # type: ignore[arg-type]
    return ID.sub("ID", str(caught.value))


def test_what_is_sound_passes_and_what_is_not_yet_fails(mai: Mai, emitter: Emitter) -> None:
    """A question is about all that has ended by then: decisions on what was sure pass, a guess later on does not."""
    tell(emitter, cause=0.9)
    mai.assert_passes()
    verdict = mai.verdict()
    assert (verdict.decisions.judged, verdict.traces.judged, len(mai.spans)) == (2, 3, 8)
    emitter.wrote("idea", confidence=0.2, created_by="triage")
    assert mai.verdict(min_score=0.9).traces.judged == 4
    with pytest.raises(AssertionError, match=r"^1 of 4 traces scored below 0\.9"):
        mai.assert_passes(min_score=0.9)


def test_a_contaminated_chain_fails_and_is_told(guessed: Mai) -> None:
    """The message names the memory at fault, its author, and the chain hop by hop with both confidences."""
    said = message(guessed, min_score=0.7)
    assert said.startswith(GUESSED)
    assert "  why: action relied on fix, declared at 0.85, which stands on cause" in said
    assert "  what to do: Have cause confirmed" in said


@pytest.mark.parametrize(
    ("asked", "passes"),
    [({}, False), ({"min_score": 0.4}, True), ({"tier": 3}, True), ({"min_pass_rate": 0.5}, True)],
)
def test_the_rules_are_those_asked_for(guessed: Mai, asked: dict[str, float], *, passes: bool) -> None:
    """Scores are 0.4 and 0.65: what the test asks for counts, else what the suite does, which is 0.5."""
    assert guessed.verdict(**asked).passed is passes  # type: ignore[arg-type]


def test_findings_that_are_too_many_are_told(guessed: Mai) -> None:
    """Each finding that a bound is about is named, with its memory."""
    said = message(guessed, min_score=0, max_findings={"confidence_inflated": 1}).splitlines()
    assert said[0] == "2 findings of confidence_inflated, and at most 1 are allowed"
    assert [line.split(":")[0] for line in said[1:]] == ["confidence_inflated of fix", "confidence_inflated of change"]


def test_queries_and_evaluations(guessed: Mai) -> None:
    """A test can ask the views for what it likes."""
    asked = "SELECT memory_id, effective_confidence FROM memories WHERE declared_confidence > $1 ORDER BY 1"
    assert guessed.sql(asked, [0.5]) == [("change", 0.3), ("fix", 0.3)]
    decisions = [row for row in guessed.evaluations() if row["scope"] == "decision"]
    assert sorted(row["score_effective"] for row in decisions) == [0.4, 0.65]


def test_no_span_at_all(mai: Mai) -> None:
    """The views are there and empty; the assertion fails, and says how code with a provider of its own is captured."""
    assert (mai.evaluations(), mai.sql("SELECT count(*) FROM memories")) == ([], [(0,)])
    said = message(mai)
    assert said.splitlines()[0] == "nothing to evaluate: no span was captured"
    assert "mai.watch(provider)" in said
    assert "mai.tracer_provider" in said


def test_no_span_of_memory(mai: Mai) -> None:
    """What was captured is named, what looks like memory too, and the line that makes it a memory span."""
    tracer = mai.tracer_provider.get_tracer("agent")
    for name in ("chat", "chat", "kb.recall\x1b[m"):
        tracer.start_span(name).end()
    said = message(mai).splitlines()
    assert said == [
        "nothing to evaluate: of 3 captured spans none was recognised as one of memory",
        r"  captured: chat (2 times), kb.recall\x1b[m",
        r"  kb.recall\x1b[m looks like memory, by its name; if it is, it says so:",
        '      span.set_attribute("gen_ai.operation.name", "search_memory")  # create_memory for a write',
    ]


def test_memory_without_a_decision(mai: Mai, emitter: Emitter) -> None:
    """Where only decisions are asked for and none can be judged, it says what their reads lack, and what mends it.

    So it does of what has not ended.
    """
    with emitter.agent_run("action"):
        emitter.tracer.start_span("search_memory", attributes={"gen_ai.operation.name": "search_memory"}).end()
        said = message(mai, tier=1)
    assert said.splitlines()[0] == "nothing to evaluate: none of 1 decisions relied on a memory that is known"
    assert "1 of 1 read records lack ids" in said
    assert "gen_ai.memory.records" in said
    assert said.splitlines()[-1] == "begun and not ended by now, and so not judged: invoke_agent action"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"min_score": 7}, "min_score: 7: expected a number from 0 to 1"),
        ({"min_score": "high"}, "min_score: 'high': expected a number from 0 to 1"),
        ({"min_pass_rate": float("nan")}, "min_pass_rate: nan: expected a number from 0 to 1"),
        ({"tier": 2}, "tier: 2: expected one of 1, 3, both"),
        ({"max_findings": {"cylce": 0}}, "max_findings: cylce: no such severity or code; did you mean cycle?"),
        ({"max_findings": {"cycle": -1}}, "max_findings: cycle: -1: expected how many there may be"),
    ],
)
def test_a_slip_of_the_pen_is_told(guessed: Mai, arguments: dict[str, object], told: str) -> None:
    """An argument that means nothing is an error, and not a rule that everything keeps."""
    with pytest.raises(ValueError, match=f"^{re.escape(told)}$"):
        guessed.verdict(**arguments)  # type: ignore[arg-type]


def test_only_a_provider_of_the_sdk_can_be_watched(mai: Mai) -> None:
    """What takes no span processor is refused by name."""
    with pytest.raises(TypeError, match=r"^builtins\.object: expected a tracer provider"):
        mai.watch(object())


def test_the_same_as_in_a_data_folder(tmp_path: Path) -> None:
    """Views and verdict are those of the same spans replayed into a data folder, but for when they were judged.

    Settings, conventions and decisions are the user's in both.
    """
    config = Config(data_dir=tmp_path / "data", analysis=OWN)  # type: ignore[arg-type]  # read as a file's
    file = tmp_path / "spans.binpb"
    with Capture() as capture, Mai(capture, config, 0.7) as mai:
        tracer = mai.tracer_provider.get_tracer("theirs")
        with tracer.start_as_current_span("choose"):
            tracer.start_span("acme.find", attributes={"acme.id": "cause"}).end()
        tell(Emitter(mai.tracer_provider), cause=0.3)
        assert mai.sql("SELECT DISTINCT convention FROM memory_operations ORDER BY 1") == [("acme",), ("genai",)]
        assert mai.sql("SELECT memory_ids FROM decisions WHERE kind = 'matched'") == [(["cause"],)]
        assert mai.sql("SELECT effective_confidence FROM memories WHERE memory_id = 'change'") == [(0.85,)]
        file.write_bytes(framing.join([encode_spans(mai.spans).SerializeToString()]))
        take(config, [file])
        assert_same(config, mai)


def assert_same(config: Config, mai: Mai) -> None:
    with wiring.open_catalogue(config) as folder:
        for view in VIEWS:
            without = (
                " EXCLUDE (evaluated_at)" if view in {"evaluations", "evaluation_history", "evaluation_checks"} else ""
            )
            query = f"SELECT *{without} FROM {view}"
            rows = folder.execute(query).fetchall()
            assert sorted(map(repr, rows)) == sorted(map(repr, mai.sql(query))), view
            assert rows, view
        assert facts(judge(folder, Selection(), Rules())) == facts(mai.verdict())


def facts(verdict: Verdict) -> tuple[object, ...]:
    assert verdict.failures
    return verdict.traces, verdict.decisions, verdict.breaches, [(f.span_id, f.why, f.mend) for f in verdict.failures]
