"""The tests of somebody who uses the fixture: `test_plugin.py` runs them, each in the order of the file."""

import asyncio
import threading

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

from weaklink_analysis import emit
from weaklink_processor.testing.mai import Mai


def names(mai: Mai) -> list[str]:
    return [span.name for span in mai.spans]


def work(name: str) -> None:
    trace.get_tracer("agent").start_span(name).end()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def test_without_the_fixture() -> None:
    work("unseen")


def test_the_global_provider_is_captured(mai: Mai) -> None:
    work("first")
    assert names(mai) == ["first"]


def test_the_next_test_sees_its_own(mai: Mai) -> None:
    work("second")
    assert names(mai) == ["second"]


@pytest.mark.anyio
async def test_async_code_is_captured(mai: Mai) -> None:
    async with emit.agent_run("agent"):
        await asyncio.gather(*(asyncio.to_thread(work, name) for name in ("one", "two")))
    assert sorted(names(mai)) == ["invoke_agent agent", "one", "two"]
    run, *steps = sorted(mai.spans, key=lambda span: span.name)
    assert {step.parent.span_id for step in steps if step.parent} == {run.context.span_id if run.context else None}


def test_threads_are_captured(mai: Mai) -> None:
    thread = threading.Thread(target=work, args=("in a thread",))
    thread.start()
    thread.join()
    assert names(mai) == ["in a thread"]


def test_a_provider_that_the_code_is_given(mai: Mai) -> None:
    emit.Emitter(mai.tracer_provider).found("note-7")
    assert names(mai) == ["search_memory"]


def test_a_provider_that_the_code_makes(mai: Mai) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    mai.watch(provider)
    provider.get_tracer("agent").start_span("its own").end()
    assert names(mai) == ["its own"]


def test_what_sets_the_global_provider_too_late_is_captured_by_the_api(mai: Mai) -> None:
    trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))
    work("through the API")
    assert names(mai) == ["through the API"]


def test_that_fails(mai: Mai) -> None:
    mai.assert_passes()
