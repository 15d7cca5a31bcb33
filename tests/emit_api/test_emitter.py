"""What the emitter says of an agent's work, as spans and as weaklink understands them."""

import asyncio
import json
from collections.abc import Callable

import numpy as np
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased
from opentelemetry.trace import StatusCode, get_current_span

from emitted import Told
from weaklink_analysis import emit
from weaklink_analysis.emit.known import KnownSpans


@pytest.fixture
def told() -> Told:
    return Told()


def records(told: Told, span: str) -> object:
    return json.loads(str(told.attributes(span)["gen_ai.memory.records"]))


def test_a_write_says_all_that_a_memory_is_judged_by(told: Told) -> None:
    """Provenance is in the record's metadata, and agent, session and conversation come from the run."""
    with told.emitter.agent_run("diagnosis", session="s1", conversation="c1"):
        told.emitter.wrote(
            "fix-42",
            "raise max_connections",
            store="ops",
            confidence=0.85,
            hedged=False,
            derived_from=("note-7",),
            supersedes="fix-41",
            source="model",
            namespace="/ops",
            type="semantic",
        )
    assert told.attributes("create_memory") == {
        "gen_ai.operation.name": "create_memory",
        "gen_ai.memory.store.id": "ops",
        "gen_ai.memory.records": told.attributes("create_memory")["gen_ai.memory.records"],
        "memory.agent.id": "diagnosis",
        "session.id": "s1",
        "gen_ai.conversation.id": "c1",
    }
    metadata = {
        "confidence": 0.85,
        "hedged": False,
        "derived_from": ["note-7"],
        "supersedes": ["fix-41"],
        "source": "model",
        "namespace": "/ops",
        "type": "semantic",
        "created_by": "diagnosis",
        "session_id": "s1",
    }
    assert records(told, "create_memory") == [
        {"id": "fix-42", "content": "raise max_connections", "metadata": metadata}
    ]


def test_a_run_is_an_agents_span(told: Told) -> None:
    """`agent_run` opens an invoke_agent span; a run inside of it inherits session and conversation, not the agent."""
    with told.emitter.agent_run("planner", session="s1", conversation="c1"):
        with told.emitter.agent_run("worker", agent_id="w-1", session="s2"):
            told.emitter.wrote("m1")
        told.emitter.wrote("m2", operation="upsert_memory")
    assert told.attributes("invoke_agent worker") == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "worker",
        "gen_ai.agent.id": "w-1",
        "session.id": "s2",
        "gen_ai.conversation.id": "c1",
    }
    assert told.attributes("create_memory")["memory.agent.id"] == "w-1"
    assert told.attributes("upsert_memory")["memory.agent.id"] == "planner"
    assert told.attributes("upsert_memory")["session.id"] == "s1"


def test_what_a_record_says_of_itself_is_kept(told: Told) -> None:
    """A write's author and session are the run's only where the record names none; those of a read are never."""
    with told.emitter.agent_run("copier", session="s2"):
        told.emitter.wrote("m1", created_by="triage", session_id="s1")
        told.emitter.found([emit.record("m2", score=0.7), "m3", {"id": "m4", "confidence": 0.3}], query="pool")
    assert records(told, "create_memory") == [{"id": "m1", "metadata": {"created_by": "triage", "session_id": "s1"}}]
    assert records(told, "search_memory") == [{"id": "m2", "score": 0.7}, {"id": "m3"}, {"id": "m4", "confidence": 0.3}]
    assert told.attributes("search_memory")["gen_ai.memory.record.count"] == 3
    assert told.attributes("search_memory")["gen_ai.memory.query.text"] == "pool"


def test_what_becomes_known_inside_is_on_the_span(told: Told) -> None:
    """Id, content and provenance of a write, what a read found and what a decision relied on may be said inside."""
    with told.emitter.memory_write(confidence=0.5) as write:
        write.memory_id, write.content = "m1", "text"
        write.provenance["derived_from"] = iter(["m0"])
    with told.emitter.memory_read("pool") as read:
        read.found("m1")
        read.found([{"id": "m2"}])
    with told.emitter.decision(relied_on="m1") as decision:
        decision.relied_on("m2", "m1")
    metadata = {"confidence": 0.5, "derived_from": ["m0"]}
    assert records(told, "create_memory") == [{"id": "m1", "content": "text", "metadata": metadata}]
    assert records(told, "search_memory") == [{"id": "m1"}, {"id": "m2"}]
    assert told.attributes("decide") == {"memory.decision": True, "memory.relied_on": ("m1", "m2")}


def test_links_lead_to_the_span_that_wrote_a_memory(told: Told) -> None:
    """What this process wrote is linked to, as a parent or relied on, at its last write in that store, and named."""
    emitter = told.emitter
    emitter.wrote("m1")
    with emitter.memory_write("m1", operation="update_memory"):
        pass
    emitter.wrote("m1", store="other", operation="upsert_memory")
    with emitter.memory_write("m2") as write:
        write.provenance["derived_from"] = ["m1", "unheard of"]
    emitter.decided(["m1", "m2"])
    found = {
        name: [(link.context.span_id, dict(link.attributes or {})) for link in told.span(name).links]
        for name in ("update_memory", "decide")
    }
    (first, second, third, *_) = told.spans()
    assert first.context
    assert second.context
    assert third.name == "upsert_memory"
    child = told.spans()[3]
    assert child.context
    assert [(link.context, dict(link.attributes or {})) for link in child.links] == [
        (second.context, {"memory.link": "derived_from", "memory.id": "m1"})
    ]
    assert found == {
        "update_memory": [],
        "decide": [
            (second.context.span_id, {"memory.link": "relied_on", "memory.id": "m1"}),
            (child.context.span_id, {"memory.link": "relied_on", "memory.id": "m2"}),
        ],
    }


def test_a_record_stands_for_its_id(told: Told) -> None:
    """Parents and what a decision relied on may be the records that were found, one or several."""
    note, fix = emit.record("note-7", confidence=0.3), emit.record("fix-42", confidence=0.85, derived_from="note-7")
    told.emitter.wrote("m1", derived_from=note)
    with told.emitter.memory_write("m2", operation="update_memory", derived_from=[note, "m1"], supersedes=fix):
        pass
    with told.emitter.decision(relied_on=[note, "m1"]) as decision:
        decision.relied_on(fix)
    assert records(told, "create_memory") == [{"id": "m1", "metadata": {"derived_from": ["note-7"]}}]
    metadata = {"derived_from": ["note-7", "m1"], "supersedes": ["fix-42"]}
    assert records(told, "update_memory") == [{"id": "m2", "metadata": metadata}]
    assert told.attributes("decide")["memory.relied_on"] == ("note-7", "m1", "fix-42")


@pytest.mark.parametrize("number", [np.float32, np.float64, np.float16, np.array])
def test_numbers_of_numpy_are_numbers(told: Told, number: Callable[[float], float]) -> None:
    """What a model computes has types of its own: a confidence is that number, and a hedge mark is one."""
    confidence = number(0.25)
    told.emitter.wrote("m1", confidence=confidence, hedged=confidence < 0.5, derived_from=np.array(["m0"]))
    metadata = {"confidence": 0.25, "hedged": True, "derived_from": ["m0"]}
    assert records(told, "create_memory") == [{"id": "m1", "metadata": metadata}]
    with told.analysis() as analysis:
        memory = analysis.memories()["m1"]
    assert (memory["declared_confidence"], memory["hedged"]) == (0.25, True)


def test_outcomes_are_counted(told: Told) -> None:
    """What an agent says of a memory's use is in its quality; Tier 3 asks no confidence of that."""
    for memory in ("note-7", "fix-42"):
        told.emitter.wrote(memory, store="ops", confidence=0.8, created_by="triage")
    told.emitter.outcome(["note-7", "fix-42"], success=True, store="ops")
    told.emitter.outcome("fix-42", success=False)
    with told.analysis() as analysis:
        used = {row["memory_id"]: (row["success_count"], row["failure_count"]) for row in analysis.view("memories")}
        (passed,) = {row["passed"] for row in analysis.view("evaluations") if row["scope"] == "trace"}
    assert used == {"note-7": (1, 0), "fix-42": (1, 1)}
    assert passed


def test_only_so_many_writes_are_known(told: Told) -> None:
    """Of more memories than it keeps, those written longest ago are forgotten."""
    told.emitter.known = KnownSpans(most=2)
    for name in ("m1", "m2", "m1", "m3"):
        told.emitter.wrote(name)
    assert [name for name in ("m1", "m2", "m3") if told.emitter.known.find(None, name)] == ["m1", "m3"]


def test_the_cascade_is_seen(told: Told) -> None:
    """A guess at 0.30, declared 0.85 and relied on at 0.95, is 0.30 all along, and the decision is judged by it."""
    emitter = told.emitter
    with emitter.agent_run("triage", session="incident-7"):
        emitter.wrote("note-7", "maybe the pool", confidence=0.30)
    with emitter.agent_run("diagnosis", session="incident-7"):
        emitter.found([emit.record("note-7", confidence=0.30, created_by="triage", session_id="incident-7")])
        emitter.wrote("fix-42", "raise it", confidence=0.85, derived_from="note-7")
    with emitter.agent_run("action", session="incident-7"), emitter.decision(relied_on="fix-42"):
        emitter.wrote("change-42", "applied", confidence=0.95, derived_from="fix-42")
    with told.analysis() as analysis:
        memories = analysis.memories()
        decisions = analysis.view("decisions")
        evaluations = analysis.view("evaluations")
    assert {
        name: (row["agent_id"], row["session_id"], row["effective_confidence"]) for name, row in memories.items()
    } == {
        "note-7": ("triage", "incident-7", 0.30),
        "fix-42": ("diagnosis", "incident-7", 0.30),
        "change-42": ("action", "incident-7", 0.30),
    }
    (decision,) = [row for row in decisions if row["span_id"] == f"{told.span('decide').context.span_id:016x}"]
    assert (decision["agent_id"], decision["memory_ids"], decision["decision_memory_id"]) == (
        "action",
        ["fix-42"],
        "change-42",
    )
    (verdict,) = [row for row in evaluations if (row["scope"], row["span_id"]) == ("decision", decision["span_id"])]
    assert (verdict["score"], verdict["score_effective"]) == (0.8, 0.4)


def test_an_error_passes_through_and_writes_nothing(told: Told) -> None:
    """The agent gets its own exception, the span is ERROR, and a write that failed is no version."""
    failure = ValueError("disk full")
    with pytest.raises(ValueError, match="disk full") as caught, told.emitter.memory_write("m1", confidence=0.9):
        raise failure
    assert caught.value is failure
    span = told.span("create_memory")
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "ValueError: disk full"
    assert [event.name for event in span.events] == ["exception"]
    assert told.emitter.known.find(None, "m1") is None
    with told.analysis() as analysis:
        assert analysis.memories() == {}


def test_async_code_has_its_own_agent(told: Told) -> None:
    """Runs that go on at the same time keep agents and parents apart; `async with` does as `with`."""

    async def run(agent: str) -> None:
        async with told.emitter.agent_run(agent, session=f"s-{agent}"):
            await asyncio.sleep(0.001)
            async with told.emitter.memory_write(operation="upsert_memory") as write:
                await asyncio.sleep(0.001)
                write.memory_id = agent

    async def main() -> None:
        await asyncio.gather(*(run(agent) for agent in "abc"))

    asyncio.run(main())
    runs = {span.name[-1]: span.context for span in told.spans() if span.name.startswith("invoke")}
    writes = [span for span in told.spans() if span.name == "upsert_memory"]
    assert len(writes) == 3
    for span in writes:
        attributes = span.attributes or {}
        agent = str(attributes["memory.agent.id"])
        assert span.parent == runs[agent]
        assert attributes["session.id"] == f"s-{agent}"
        assert json.loads(str(attributes["gen_ai.memory.records"]))[0]["id"] == agent


def test_a_cancelled_write_writes_nothing(told: Told) -> None:
    """Nobody knows how far a task came that was cancelled, so its write is marked ERROR."""

    async def main() -> None:
        async def work() -> None:
            async with told.emitter.memory_write("m1", confidence=0.9):
                await asyncio.sleep(60)

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert told.span("create_memory").status.status_code is StatusCode.ERROR


def test_what_is_not_sampled_stays_so() -> None:
    """Inside of a run that the sampler left out nothing begins a trace of its own."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler=ParentBased(ALWAYS_OFF), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    emitter = emit.Emitter(provider)
    with emitter.agent_run("a"):
        provider.sampler = ParentBased(ALWAYS_OFF)
        assert get_current_span().get_span_context().is_valid
        with emitter.memory_write("m1"):
            emitter.wrote("m2")
    assert exporter.get_finished_spans() == ()
