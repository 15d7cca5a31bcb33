"""Whatever goes wrong in the emitter, the agent goes on."""

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, StatusCode, TraceFlags, Tracer

from emitted import Told
from weaklink_analysis import emit
from weaklink_analysis.emit import guard, operations

ANALYSIS = Path(__file__).parents[2] / "analysis"


@pytest.fixture(autouse=True)
def nothing_said_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_told", set())


class Unspeakable:
    """It has no text."""

    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


class Silent(Exception):
    """An exception without a text."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def breaks(*_: object, **__: object) -> None:
    raise RuntimeError("broken")


class BrokenProvider(TracerProvider):
    get_tracer = breaks  # type: ignore[assignment]


class BrokenTracer(TracerProvider):
    def get_tracer(self, *_: object, **__: object) -> Tracer:
        class Broken(Tracer):
            start_span = breaks  # type: ignore[assignment]
            start_as_current_span = breaks  # type: ignore[assignment]

        return Broken()


class BrokenSpan(NonRecordingSpan):
    is_recording = set_attributes = set_status = add_link = record_exception = end = breaks  # type: ignore[assignment]


class BrokenSpans(TracerProvider):
    def get_tracer(self, *_: object, **__: object) -> Tracer:
        class Odd(Tracer):
            def start_span(self, *_: object, **__: object) -> Span:
                return BrokenSpan(SpanContext(1, 1, is_remote=False, trace_flags=TraceFlags(1)))

            start_as_current_span = breaks  # type: ignore[assignment]

        return Odd()


class BrokenProcessor(SpanProcessor):
    def on_end(self, span: ReadableSpan) -> None:
        del span
        breaks()


def with_broken_processor() -> TracerProvider:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BrokenProcessor())
    return provider


def work(emitter: emit.Emitter) -> list[str]:
    """One of each; the agent notes how far it came."""
    done = []
    with emitter.agent_run("a", session="s"):
        with emitter.memory_write() as write:
            write.memory_id = "m1"
            done.append("wrote")
        with emitter.memory_read("q") as read:
            read.found(["m1"])
            done.append("found")
        with emitter.memory_delete("m1"), emitter.decision() as decision:
            decision.relied_on("m1")
            done.append("decided")
        emitter.wrote("m2", derived_from="m1")
        emitter.found([])
        emitter.deleted("m2")
        emitter.decided("m1")
    return done


BROKEN: dict[str, Callable[[], TracerProvider]] = {
    "a provider": lambda: BrokenProvider(shutdown_on_exit=False),
    "a tracer": lambda: BrokenTracer(shutdown_on_exit=False),
    "a span": lambda: BrokenSpans(shutdown_on_exit=False),
    "a processor": with_broken_processor,
}


@pytest.mark.parametrize("provider", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_tracer_stops_no_agent(
    provider: Callable[[], TracerProvider], caplog: pytest.LogCaptureFixture
) -> None:
    """The agent's own code runs, its exceptions are its own, and each kind of fault is logged once, as a warning."""
    emitter = emit.Emitter(provider())
    for _ in range(3):
        assert work(emitter) == ["wrote", "found", "decided"]
        with pytest.raises(KeyError), emitter.memory_write("m1"):
            raise KeyError("mine")
    said = [(record.name, record.levelno) for record in caplog.records]
    assert set(said) == {("weaklink_analysis.emit", logging.WARNING)}
    assert len(caplog.messages) == len(set(caplog.messages))
    assert len(caplog.messages) <= 3


ITSELF: list[object] = []
ITSELF.extend([ITSELF, ITSELF])
ODD = {
    "what contains itself": ITSELF,
    "not a number": float("nan"),
    "no JSON": {1, 2},
    "no text": Unspeakable(),
    "half a pair": "\ud800",
    "a zero byte": "a\0b",
    "bytes": b"\xff",
    "nothing": None,
    "a number": 7,
    "a key of no text": {Unspeakable(): 1},
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_odd_values_cost_only_themselves(odd: object, caplog: pytest.LogCaptureFixture) -> None:
    """A value that no span can carry leaves the rest of what is said whole, on spans that can be exported."""
    told = Told()
    told.emitter.wrote("m1", odd, confidence=0.9, source=odd)  # type: ignore[arg-type]
    told.emitter.found([{"id": "m1", "metadata": {"confidence": 0.9, "odd": odd}}])
    with told.analysis() as analysis:
        (memory,) = analysis.view("memories")
        assert (memory["memory_id"], memory["effective_confidence"], memory["read_count"]) == ("m1", 0.9, 1)
    assert {record.levelno for record in caplog.records} <= {logging.WARNING}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
def test_odd_arguments_raise_nothing(odd: object) -> None:
    """Each argument of each call may be anything."""
    told = Told()
    emitter: emit.Emitter = told.emitter
    with emitter.agent_run(odd, agent_id=odd, session=odd, conversation=odd):  # type: ignore[arg-type]
        emitter.wrote(odd, odd, store=odd, operation=odd, derived_from=odd, confidence=odd)  # type: ignore[arg-type]
        emitter.wrote(odd, odd, store=odd, derived_from=[odd], supersedes=odd)  # type: ignore[arg-type, list-item]
        emitter.found(odd, query=odd, store=odd)  # type: ignore[arg-type]
        emitter.found([odd, {"id": odd, "metadata": odd}])  # type: ignore[list-item]
        emitter.deleted(odd, store=odd)  # type: ignore[arg-type]
        emitter.decided(odd, name=odd, store=odd)  # type: ignore[arg-type]
        emit.record(odd, odd, score=odd, confidence=odd, derived_from=odd)  # type: ignore[arg-type]
        with emitter.decision(odd, relied_on=odd) as decision:  # type: ignore[arg-type]
            decision.relied_on(odd)  # type: ignore[arg-type]
        with emitter.memory_read(odd) as read:  # type: ignore[arg-type]
            read.found(odd)  # type: ignore[arg-type]
    encode_spans(told.spans()).SerializeToString()


def limited(length: int) -> Told:
    told = Told()
    told.provider._span_limits = SpanLimits(max_span_attribute_length=length)
    return told


@pytest.mark.filterwarnings("ignore")
def test_a_limit_on_attributes_costs_contents_first(caplog: pytest.LogCaptureFixture) -> None:
    """A record that the SDK would cut in two goes without its content, at once or from inside a span."""
    told = limited(100)
    told.emitter.wrote("m0", "]" * 200, confidence=0.3)
    with told.emitter.memory_write("m1", "long " * 50, confidence=0.8, derived_from="m0"):
        pass
    told.emitter.found(emit.record("m0", "fits", confidence=0.3))
    with told.analysis() as analysis:
        known = {
            row["memory_id"]: (row["effective_confidence"], row["read_count"]) for row in analysis.view("memories")
        }
    assert known == {"m0": (0.3, 1), "m1": (0.3, 0)}
    assert json.loads(str(told.attributes("search_memory")["gen_ai.memory.records"]))[0]["content"] == "fits"
    assert [one for one in caplog.records if one.name == "weaklink_analysis.emit"] == []


def test_a_limit_that_records_do_not_fit_in_is_told(caplog: pytest.LogCaptureFixture) -> None:
    """Half a record names none, so it is a warning."""
    told = limited(20)
    told.emitter.wrote("m0", confidence=0.3, created_by="triage")
    assert "records were cut in two: ValueError: the limit on the length of span attributes is too low" in caplog.text


def test_a_span_is_told_also_where_its_room_cannot_be_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another SDK has for attributes may be anything; the write itself was said before."""
    told = limited(100)
    monkeypatch.setattr(operations.MemorySpan, "_is_cut", lambda *_: 1 / 0)
    told.emitter.wrote("m0", confidence=0.3)
    assert "m0" in str(told.attributes("create_memory")["gen_ai.memory.records"])


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary(max_size=9)
    | st.builds(Unspeakable),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=6,
)


@given(VALUES, VALUES, VALUES)
def test_any_record_becomes_json(content: object, confidence: object, parents: object) -> None:
    """What is on the span is one JSON array of one record with its id, whatever the values are."""
    told = Told()
    told.emitter.wrote("m1", content, confidence=confidence, derived_from=parents)  # type: ignore[arg-type]
    (found,) = json.loads(str(told.attributes("create_memory")["gen_ai.memory.records"]), parse_constant=breaks)
    assert found["id"] == "m1"
    encode_spans(told.spans()).SerializeToString()


def test_an_exception_without_a_text_marks_the_span() -> None:
    """Even then it passes through and the span is ERROR."""
    told = Told()
    with pytest.raises(Silent), told.emitter.memory_write("m1"):
        raise Silent
    assert told.span("create_memory").status.status_code is StatusCode.ERROR


def test_without_an_sdk_it_does_nothing() -> None:
    """No span, no context and no log come of it, and neither the SDK nor DuckDB, Arrow or NumPy is loaded."""
    program = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
from opentelemetry.context import get_current
from weaklink_analysis import emit
with emit.agent_run("a", session="s"):
    assert get_current() == {}
    with emit.memory_write("m1") as write:
        assert get_current() == {}
        assert write._span is None
    emit.wrote("m2", confidence=float("nan"))
loaded = {"opentelemetry.sdk", "duckdb", "pyarrow", "numpy", "jinja2", "weaklink_processor"} & set(sys.modules)
assert not loaded, loaded
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(ANALYSIS)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_global_provider_is_found_whenever_it_is_set() -> None:
    """The names of the package emit to the global tracer provider from the moment that there is one."""
    program = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from weaklink_analysis import emit
emit.wrote("m1")
exporter, provider = InMemorySpanExporter(), TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
emit.wrote("m2")
print(*[span.name for span in exporter.get_finished_spans()])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(ANALYSIS)}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "create_memory\n"
