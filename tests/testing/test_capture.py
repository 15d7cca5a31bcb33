"""Which spans belong to a test, on tracer providers of one's own: the global one is set in `test_plugin.py`."""

import asyncio
import threading

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, Tracer, set_span_in_context, use_span

from weaklink_processor.testing.capture import Capture, own_provider


def names(capture: Capture) -> list[str]:
    return [span.name for span in capture.spans]


def begin_and_end(tracer: Tracer, name: str) -> None:
    tracer.start_span(name).end()


@pytest.fixture
def provider() -> TracerProvider:
    return own_provider()


@pytest.fixture
def tracer(provider: TracerProvider) -> Tracer:
    return provider.get_tracer("agent")


def test_each_test_sees_its_own_spans(provider: TracerProvider, tracer: Tracer) -> None:
    """What begins before, between and after captures is nobody's; the rest one of them has, in order of ending."""
    begin_and_end(tracer, "before")
    with Capture() as first:
        first.watch(provider)
        with tracer.start_as_current_span("outer"):
            begin_and_end(tracer, "inner")
    begin_and_end(tracer, "between")
    with Capture() as second:
        second.watch(provider)
        begin_and_end(tracer, "later")
    begin_and_end(tracer, "after")
    assert (names(first), names(second)) == (["inner", "outer"], ["later"])


def test_a_provider_is_listened_to_once(provider: TracerProvider, tracer: Tracer) -> None:
    """However often it is watched, a span is captured once, and the provider gets one span processor in all."""
    for _ in range(3):
        with Capture() as capture:
            capture.watch(provider)
            capture.watch(provider)
            begin_and_end(tracer, "once")
            assert names(capture) == ["once"]
    assert len(provider._active_span_processor._span_processors) == 1


def test_a_provider_that_nobody_watches_now_is_not_heard(provider: TracerProvider, tracer: Tracer) -> None:
    """That an earlier test watched a provider does not let this one hear of it."""
    with Capture() as earlier:
        earlier.watch(provider)
    with Capture() as capture:
        capture.watch(own_provider())
        begin_and_end(tracer, "elsewhere")
    assert names(capture) == []


def test_work_that_an_earlier_test_left_behind_stays_its_own(provider: TracerProvider, tracer: Tracer) -> None:
    """A span that began in an earlier test, and what a thread begins beneath it, is not the work of this one."""
    began, resume = threading.Event(), threading.Event()

    def linger() -> None:
        with tracer.start_as_current_span("run"):
            began.set()
            resume.wait(10)
            with tracer.start_as_current_span("step"):
                begin_and_end(tracer, "detail")

    with Capture() as earlier:
        earlier.watch(provider)
        thread = threading.Thread(target=linger)
        thread.start()
        began.wait(10)
    with Capture() as capture:
        capture.watch(provider)
        begin_and_end(tracer, "own")
        resume.set()
        thread.join()
    assert (names(capture), capture.unfinished) == (["own"], ())


def test_what_a_thread_ends_in_time_counts(provider: TracerProvider, tracer: Tracer) -> None:
    """Spans of threads of this test are captured from the moment that they end; until then they are unfinished."""
    began, resume = threading.Event(), threading.Event()

    def work() -> None:
        with tracer.start_as_current_span("work"):
            began.set()
            resume.wait(10)

    with Capture() as capture:
        capture.watch(provider)
        thread = threading.Thread(target=work)
        thread.start()
        began.wait(10)
        assert (names(capture), capture.unfinished) == ([], ("work",))
        resume.set()
        thread.join()
        assert (names(capture), capture.unfinished) == (["work"], ())


def test_tasks_are_captured(provider: TracerProvider, tracer: Tracer) -> None:
    """Spans of tasks that take turns keep their parents, and all of them are captured."""

    async def step(name: str) -> None:
        with tracer.start_as_current_span(name) as span:
            await asyncio.sleep(0)
            begin_and_end(tracer, f"{name}'s")
            assert span.is_recording()

    async def both() -> None:
        await asyncio.gather(step("one"), step("two"))

    with Capture() as capture:
        capture.watch(provider)
        asyncio.run(both())
    spans = {span.name: span for span in capture.spans}
    assert sorted(spans) == ["one", "one's", "two", "two's"]
    assert all(parent_id(spans[f"{name}'s"]) == own_id(spans[name]) for name in ("one", "two"))


def own_id(span: ReadableSpan) -> int:
    context = span.get_span_context()
    assert context
    return context.span_id


def parent_id(span: ReadableSpan) -> int | None:
    return span.parent and span.parent.span_id


def test_a_span_beneath_another_process_counts(provider: TracerProvider, tracer: Tracer) -> None:
    """A parent from elsewhere, sampled or not, belongs to no test: its child is captured."""
    for flags in TraceFlags.DEFAULT, TraceFlags.SAMPLED:
        remote = NonRecordingSpan(SpanContext(7, 8, is_remote=True, trace_flags=TraceFlags(flags)))
        with Capture() as capture:
            capture.watch(provider)
            tracer.start_span("child", context=set_span_in_context(remote)).end()
        assert names(capture) == ["child"]


def test_two_providers_make_one_trace(provider: TracerProvider, tracer: Tracer) -> None:
    """A test that watches two providers captures what is beneath each other's spans."""
    other = own_provider()
    with Capture() as capture:
        capture.watch(provider)
        capture.watch(other)
        with tracer.start_as_current_span("agent"):
            begin_and_end(other.get_tracer("store"), "store")
    store, agent = capture.spans
    assert (store.name, parent_id(store)) == ("store", own_id(agent))


def test_what_is_not_watched_is_not_waited_for(provider: TracerProvider, tracer: Tracer) -> None:
    """A span of a provider that only an earlier test watched is not captured beneath this test's, nor unfinished."""
    other = own_provider()
    with Capture() as earlier:
        earlier.watch(other)
    with Capture() as capture:
        capture.watch(provider)
        with tracer.start_as_current_span("agent"):
            begin_and_end(other.get_tracer("store"), "store")
    assert (names(capture), capture.unfinished) == (["agent"], ())


def test_the_innermost_of_several_captures(provider: TracerProvider, tracer: Tracer) -> None:
    """What begins while one runs inside of another is the inner one's; beneath a span of the outer one, its own."""
    with Capture() as outer:
        outer.watch(provider)
        run = tracer.start_span("outer run")
        with Capture() as inner:
            inner.watch(provider)
            begin_and_end(tracer, "inner")
            with use_span(run):
                begin_and_end(tracer, "step of the outer run")
        run.end()
    assert (names(inner), names(outer)) == (["inner"], ["step of the outer run", "outer run"])


def test_a_provider_that_is_shut_down_keeps_what_it_told(provider: TracerProvider, tracer: Tracer) -> None:
    """Applications shut their provider down when they end; what was captured by then stays."""
    with Capture() as capture:
        capture.watch(provider)
        begin_and_end(tracer, "work")
        provider.shutdown()
        assert names(capture) == ["work"]
