"""One story told in several ways: a guess, a diagnosis derived from it, an action that relies on the diagnosis.

carried by        | memledger | emitter | wrapped memledger | wrapped LangGraph | wrapped mem0     | retrievers
derivation        | yes       | yes     | yes               | in the value      | in the metadata  | of what is found
confidence, hedge | yes       | yes     | yes               | in the value      | in the metadata  | of what is found
author, session   | yes       | yes     | yes               | in the value      | agent_id, run_id | of what is found
ids that a search | no, its   | yes     | yes               | yes               | yes              | yes
  found           | recall is |         |                   |                   |                  |
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import incident
import memory_systems
from covered import gaps, report
from emitted import Told
from engine_harness import Analysis
from weaklink_analysis import emit
from weaklink_processor.queue import framing

pytestmark = pytest.mark.filterwarnings("ignore")

SESSION = "incident-7"
Write = Callable[[str, str, float, bool, list[str]], Awaitable[str]]
Find = Callable[[str, str], Awaitable[object]]
Teller = Callable[["Place"], Coroutine[Any, Any, dict[str, str]]]


@dataclass(frozen=True)
class Place:
    """Where the story is told."""

    told: Told
    folder: Path
    monkeypatch: pytest.MonkeyPatch


async def tell(told: Told, write: Write, find: Find) -> dict[str, str]:
    """Each agent finds what the one before it wrote, and derives its own from that; agent -> id of its memory."""
    written: dict[str, str] = {}
    before: tuple[str, str] | None = None
    for agent, content, confidence, hedged in incident.STEPS:
        with told.emitter.agent_run(agent, session=SESSION):
            if before:
                await find(*before)
            written[agent] = await write(agent, content, confidence, hedged, [*written.values()][-1:])
        before = (written[agent], content)
    return written


async def by_memledger(place: Place) -> dict[str, str]:
    """memledger's own instrumentation, and its `recall` around what is used."""
    return await incident.tell(place.told.provider, place.folder, one_trace=True)


async def by_emitter(place: Place) -> dict[str, str]:
    """No memory system but a dict."""
    emitter, kept = place.told.emitter, dict[str, dict[str, object]]()

    async def write(agent: str, content: str, confidence: float, hedged: bool, parents: list[str]) -> str:  # noqa: FBT001
        emitter.wrote(f"{agent}-1", content, confidence=confidence, hedged=hedged, derived_from=parents)
        said = {"confidence": confidence, "hedged": hedged, "created_by": agent, "session_id": SESSION}
        kept[f"{agent}-1"] = {"id": f"{agent}-1", **said}
        return f"{agent}-1"

    async def find(memory_id: str, query: str) -> None:
        emitter.found(kept[memory_id], query=query)

    return await tell(place.told, write, find)


async def by_wrapped_memledger(place: Place) -> dict[str, str]:
    ledger = emit.wrap_memledger(await memory_systems.a_ledger(place.folder), emitter=place.told.emitter)

    async def write(agent: str, content: str, confidence: float, hedged: bool, parents: list[str]) -> str:  # noqa: FBT001
        more = {"created_by": agent, "session_id": SESSION, "derived_from": parents}
        return str(await ledger.add(content, namespace="/ops", confidence=confidence, hedged=hedged, **more))

    async def find(_: str, query: str) -> object:
        return await ledger.search(query, namespace="/ops", top_k=1)

    try:
        return await tell(place.told, write, find)
    finally:
        await ledger.close()


async def by_wrapped_langgraph(place: Place) -> dict[str, str]:
    store = emit.wrap_langgraph(memory_systems.a_langgraph_store(), emitter=place.told.emitter)

    async def write(agent: str, content: str, confidence: float, hedged: bool, parents: list[str]) -> str:  # noqa: FBT001
        value = {"text": content, "confidence": confidence, "hedged": hedged, "derived_from": parents}
        await store.aput(("ops",), agent, value | {"created_by": agent, "session_id": SESSION})
        return emit.item_id(("ops",), agent)

    async def find(memory_id: str, _: str) -> object:
        return await store.aget(("ops",), memory_id.rpartition("/")[2])

    return await tell(place.told, write, find)


async def by_wrapped_mem0(place: Place) -> dict[str, str]:
    plain: Any = memory_systems.a_mem0(place.folder, place.monkeypatch)
    memory = emit.wrap_mem0(plain, emitter=place.told.emitter)

    async def write(agent: str, content: str, confidence: float, hedged: bool, parents: list[str]) -> str:  # noqa: FBT001
        metadata = {"confidence": confidence, "hedged": hedged, "derived_from": parents}
        added = memory.add(content, user_id="ops", agent_id=agent, run_id=SESSION, metadata=metadata, infer=False)
        return str(added["results"][0]["id"])

    async def find(_: str, query: str) -> object:
        return memory.search(query, filters={"user_id": "ops"}, top_k=1)

    return await tell(place.told, write, find)


TELLERS = {
    "memledger": by_memledger,
    "emitter": by_emitter,
    "wrapped memledger": by_wrapped_memledger,
    "wrapped LangGraph store": by_wrapped_langgraph,
    "wrapped mem0": by_wrapped_mem0,
}
"""A convention joins with a teller, and with a line in the table above."""

FAILED = {"confidence_above_threshold"}
"""Checks of Tier 3 that fail: more than a third of what is written and read is below 0.6, and says so."""


def facts(analysis: Analysis, written: dict[str, str]) -> dict[str, object]:
    """What weaklink makes of the story, with agents instead of the ids of what they wrote."""
    agent = {memory_id: name for name, memory_id in written.items()}
    views = analysis.views("memories", "derivations", "decisions", "evaluations")
    scores = {
        row["span_id"]: (row["score"], row["score_effective"])
        for row in views["evaluations"]
        if row["scope"] == "decision"
    }
    decided = [row for row in views["decisions"] if row["agent_id"] == "action"]
    return {
        "memories": sorted(
            (
                agent[str(row["memory_id"])],
                row["agent_id"],
                row["session_id"],
                row["declared_confidence"],
                row["effective_confidence"],
                row["hedged"],
                agent[str(row["weakest_id"])],
                row["chain_depth"],
            )
            for row in views["memories"]
        ),
        "derivations": sorted(
            (agent[str(row["child_id"])], agent[str(row["parent_id"])]) for row in views["derivations"]
        ),
        "the action": [([agent[each] for each in row["memory_ids"]], scores[row["span_id"]]) for row in decided],  # type: ignore[attr-defined]
    }


def failed_checks(analysis: Analysis) -> set[object]:
    """Of Tier 3 on the trace."""
    return {
        row["check_name"]
        for row in analysis.view("evaluation_checks")
        if row["scope"] == "trace" and row["rubric"] == "mai-structural/1" and not row["passed"]
    }


async def by_retrievers(place: Place) -> dict[str, str]:
    """OpenInference retrievers: what was stored is told when it is found, and nothing says that it was written."""
    tracer, kept = place.told.provider.get_tracer("retriever"), dict[str, dict[str, object]]()

    async def write(agent: str, _: str, confidence: float, hedged: bool, parents: list[str]) -> str:  # noqa: FBT001
        said = {"confidence": confidence, "hedged": hedged, "derived_from": parents}
        kept[agent] = said | {"created_by": agent, "session_id": SESSION}
        return agent

    async def find(memory_id: str, _: str) -> None:
        attributes = {
            "openinference.span.kind": "RETRIEVER",
            "retrieval.documents.0.document.id": memory_id,
            "retrieval.documents.0.document.metadata": json.dumps(kept[memory_id]),
        }
        tracer.start_span("retrieve", attributes=attributes).end()

    return await tell(place.told, write, find)


SAID: dict[str, list[Any]] = {
    "memories": [
        ("action", "action", SESSION, 0.95, 0.3, False, "triage", 2),
        ("diagnosis", "diagnosis", SESSION, 0.85, 0.3, False, "triage", 1),
        ("triage", "triage", SESSION, 0.3, 0.3, True, "triage", 0),
    ],
    "derivations": [("action", "diagnosis"), ("diagnosis", "triage")],
    "the action": [(["diagnosis"], (0.8, 0.4))],
}

FOUND = {
    "memories": SAID["memories"][1:],
    "derivations": SAID["derivations"][1:],
    "the action": [(["diagnosis"], (1.0, 0.4))],
}
"""What the action wrote is not carried: nobody found it, so only what it relied on is judged."""


def test_retrievers_carry_what_was_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenInference retrievers give the same derivations, effective confidences and verdict, of all that was read."""
    told = Told()
    with told.provider.get_tracer("story").start_as_current_span("incident"):
        written = asyncio.run(by_retrievers(Place(told, tmp_path, monkeypatch)))
    with told.analysis() as analysis:
        assert facts(analysis, written) == FOUND
        assert failed_checks(analysis) == {"confidence_above_threshold"}


@pytest.mark.parametrize("teller", TELLERS)
def test_the_story_is_the_same(teller: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivations, effective confidences, what the action relied on and its scores, and the verdict on the trace."""
    told = Told()
    with told.provider.get_tracer("story").start_as_current_span("incident"):
        written = asyncio.run(TELLERS[teller](Place(told, tmp_path, monkeypatch)))
    with told.analysis() as analysis:
        assert facts(analysis, written) == SAID
        assert failed_checks(analysis) == FAILED


async def by_bare_retrievers(place: Place) -> dict[str, str]:
    """OpenInference retrievers as they come, without a word of provenance."""
    tracer = place.told.provider.get_tracer("retriever")

    async def write(agent: str, *_: object) -> str:
        return agent

    async def find(memory_id: str, _: str) -> None:
        attributes = {"openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.id": memory_id}
        tracer.start_span("retrieve", attributes=attributes).end()

    return await tell(place.told, write, find)


LACKS: dict[Teller, dict[tuple[str, str], int]] = {
    **{teller: {} for teller in (by_emitter, by_wrapped_mem0, by_retrievers)},
    by_bare_retrievers: {("read", "confidence"): 2, ("read", "agent"): 2},
}
"""Teller -> operation and gap -> how many records lack it."""


@pytest.mark.parametrize("teller", LACKS, ids=lambda teller: teller.__name__)
def test_doctor_names_exactly_what_each_lacks(teller: Teller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a way of telling leaves out is named, with how much of it is; of what it says nothing is."""
    told = Told()
    with told.provider.get_tracer("story").start_as_current_span("incident"):
        asyncio.run(teller(Place(told, tmp_path, monkeypatch)))
    file = tmp_path / "spans.binpb"
    file.write_bytes(framing.join([told.request()]))
    said = report(file)
    (service,) = {row["service_name"] for row in said["recognised"]}
    assert {key: gap["open"] for key, gap in gaps(said, service).items()} == LACKS[teller]
    assert said["covered"] == (not LACKS[teller])
