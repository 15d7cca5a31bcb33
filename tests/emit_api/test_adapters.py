"""Wrapped memory systems do as they did, and what they did is told."""

import asyncio
import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from memledger import RecordType, SemanticRecord
from memledger.strategies.policies import ConflictResolution, ConflictResolverStrategy
from opentelemetry.trace import StatusCode

import memory_systems
from emitted import Told
from weaklink_analysis import emit
from weaklink_analysis.emit import guard

# What agents import beside weaklink warns of its own future.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def told() -> Told:
    return Told()


def operations(told: Told) -> list[tuple[str, str | None, list[Any]]]:
    """Each span's name, operation and records, as they ended."""
    return [
        (
            span.name,
            (span.attributes or {}).get("gen_ai.operation.name"),  # type: ignore[misc]
            json.loads(str((span.attributes or {}).get("gen_ai.memory.records", "[]"))),
        )
        for span in told.spans()
    ]


class Odd:
    """A memory system that returns and raises what no other does."""

    tag = "odd"

    def __init__(self) -> None:
        self.calls: list[object] = []

    def add(self, *args: object, **kwargs: object) -> object:
        self.calls.append((args, kwargs))
        if kwargs.get("fail"):
            raise KeyError("odd")
        return self

    async def search(self, *args: object, **kwargs: object) -> object:
        return self.add(*args, **kwargs)


WRAPS: dict[str, Callable[..., Any]] = {
    "mem0": emit.wrap_mem0,
    "langgraph": emit.wrap_langgraph,
    "memledger": emit.wrap_memledger,
}


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS.keys())
def test_a_wrapper_changes_nothing(wrap: Callable[..., Any], told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results, exceptions, attributes and class are those of what is wrapped, though nothing of it is understood."""
    monkeypatch.setattr(guard, "_told", set())
    plain = Odd()
    odd: Odd = wrap(plain, emitter=told.emitter)
    assert odd.add(1, two=2) is plain
    assert asyncio.run(odd.search(3)) is plain
    with pytest.raises(KeyError, match="odd"):
        odd.add(fail=True)
    with pytest.raises(KeyError, match="odd"):
        asyncio.run(odd.search(fail=True))
    assert plain.calls == [((1,), {"two": 2}), ((3,), {}), ((), {"fail": True}), ((), {"fail": True})]
    assert isinstance(odd, Odd)
    assert odd.tag == "odd"
    odd.tag = "even"
    assert plain.tag == "even"
    with pytest.raises(AttributeError):
        _ = odd.nothing  # type: ignore[attr-defined]
    setattr(odd, "add", "replaced")  # noqa: B010
    replaced: object = odd.add
    assert replaced == "replaced"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_is_told_too(told: Told, copied: Callable[[Any], Any]) -> None:
    """It stands before a copy of what is wrapped, which alone changes by it."""
    first: Any = emit.wrap_mem0(Odd(), emitter=told.emitter)
    second = copied(first)
    second.calls = []
    second.add(1)
    assert (first.calls, len(second.calls)) == ([], 1)
    assert [span.name for span in told.spans()] == ["add mem0"]


def test_memledger_is_told(told: Told, tmp_path: Path) -> None:
    """Adds, and what searches and look-ups find, carry author, session, confidence and parents."""

    async def work() -> tuple[str, str]:
        plain = await memory_systems.a_ledger(tmp_path)
        ledger = emit.wrap_memledger(plain, emitter=told.emitter)
        with told.emitter.agent_run("triage", session="s1"):
            note = await ledger.add("the pool", namespace="/ops", confidence=0.3, hedged=True, created_by="triage")
        fix = await ledger.add("raise it", namespace="/ops", confidence=0.8, derived_from=[note], session_id="s2")
        found = await ledger.search("raise it", namespace="/ops", top_k=1)
        assert [record.id for record in found.records] == [fix]
        assert (await ledger.get(note)).content == "the pool"
        assert await ledger.get("no such") is None
        assert await ledger.delete(fix) is True
        await ledger.close()
        return note, fix

    note, fix = asyncio.run(work())
    of_note = {"confidence": 0.3, "hedged": True, "created_by": "triage", "namespace": "/ops"}
    of_fix = {"confidence": 0.8, "derived_from": [note], "session_id": "s2", "namespace": "/ops"}
    seen = [item for item in operations(told) if item[1] != "invoke_agent"]
    stored = {"hedged": False, "type": "semantic"}
    score = seen[2][2][0].pop("score")
    assert score > 0
    assert seen == [
        ("create_memory memledger", "create_memory", [{"id": note, "metadata": of_note | {"session_id": "s1"}}]),
        ("create_memory memledger", "create_memory", [{"id": fix, "metadata": of_fix}]),
        ("search_memory memledger", "search_memory", [{"id": fix, "metadata": of_fix | stored}]),
        (
            "search_memory memledger",
            "search_memory",
            [{"id": note, "metadata": of_note | {"derived_from": [], "type": "semantic"}}],
        ),
        ("search_memory memledger", "search_memory", []),
        ("delete_memory memledger", "delete_memory", [{"id": fix}]),
    ]
    with told.analysis() as analysis:
        assert analysis.memories()[fix]["effective_confidence"] == 0.3
        assert {row["convention"] for row in analysis.view("memory_operations")} == {"genai"}


def test_memledger_is_told_however_it_is_called(told: Told, tmp_path: Path) -> None:
    """Arguments by their names, records as a whole, what `ingest` adds and what a hybrid search finds are told, too."""
    guard._told.clear()

    async def work() -> tuple[str, str, str]:
        async with await memory_systems.a_ledger(tmp_path) as plain:
            ledger = emit.wrap_memledger(plain, emitter=told.emitter, content=True)
            note = await ledger.add(content="the pool", namespace="/ops", confidence=0.3)
            whole = await ledger.add_record(SemanticRecord(content="raise it", confidence=0.8, derived_from=[note]))
            text = "I learned that the database needs more connections."
            (taken,) = (await ledger.ingest(text, agent_id="triage", strategy="deterministic"))["memory_ids"]
            found = await ledger.search_hybrid(query="the pool", namespace="/ops")
            assert [record.id for record in found.records] == [note]
            assert (await ledger.get(record_id=note)).id == note
            assert await ledger.delete(record_id=note) is True
            return note, whole, taken

    note, whole, taken = asyncio.run(work())
    assert [(operation, [each["id"] for each in records]) for _, operation, records in operations(told)] == [
        ("create_memory", [note]),
        ("create_memory", [whole]),
        ("create_memory", [taken]),
        ("search_memory", [note]),
        ("search_memory", [note]),
        ("delete_memory", [note]),
    ]
    with told.analysis() as analysis:
        memories = analysis.memories()
    assert memories[whole]["effective_confidence"] == 0.3
    assert (memories[taken]["declared_confidence"], memories[taken]["agent_id"]) == (0.6, "triage")
    assert guard._told == set()


def test_what_memledger_recalls_is_told_and_whether_it_helped(told: Told, tmp_path: Path) -> None:
    """All of memledger's ways to read for an agent are reads; an outcome counts for the memory that it found."""
    guard._told.clear()

    async def work() -> tuple[str, str, dict[str, tuple[int, int]]]:
        async with await memory_systems.a_ledger(tmp_path) as plain:
            ledger = emit.wrap_memledger(plain, emitter=told.emitter)
            past = {"record_type": RecordType.EPISODIC, "session_id": "s1"}
            oom = await ledger.add("the pod was out of memory", confidence=0.7, **past)
            fix = await ledger.add("raise the limit", record_type=RecordType.PROCEDURAL, confidence=0.8)
            assert await ledger.record_outcome(fix, success=True)
            assert await ledger.record_outcome(description="the pod was out of memory", success=False)
            assert not await ledger.record_outcome("no such", success=True)
            recalled = await ledger.recall_context("the pod was out of memory")
            groups = recalled.similar_episodes, recalled.suggested_procedures, recalled.known_failures
            assert sorted({each.id for group in groups for each in group}) == sorted([oom, fix])
            assert [each.id for each in await ledger.get_by_session("s1")] == [oom]
            assert len(await ledger.get_by_timerange("2000-01-01", "2999-01-01")) == 2
            kept = [await plain.get(each) for each in (oom, fix)]
            return oom, fix, {each.id: (each.success_count, each.failure_count) for each in kept}

    oom, fix, outcomes = asyncio.run(work())
    by_description = next(memory_id for memory_id, (_, failures) in outcomes.items() if failures)
    seen = [(operation, sorted(each["id"] for each in records)) for _, operation, records in operations(told)[2:]]
    both = sorted([oom, fix])
    assert seen == [
        ("record_memory_outcome", [fix]),
        ("record_memory_outcome", [by_description]),
        ("record_memory_outcome", []),
        ("search_memory", both),
        ("search_memory", [oom]),
        ("search_memory", both),
    ]
    with told.analysis() as analysis:
        used = {row["memory_id"]: (row["success_count"], row["failure_count"]) for row in analysis.view("memories")}
    assert used == outcomes
    assert guard._told == set()


def test_what_memledger_promotes_is_told(told: Told, tmp_path: Path) -> None:
    """An episode that helped often enough is written once more as a procedure, which is derived from it; and what was
    put in the place of a method is what is called."""

    async def work() -> tuple[str, list[object]]:
        async with await memory_systems.a_ledger(tmp_path) as plain:
            ledger = emit.wrap_memledger(plain, emitter=told.emitter)
            note = str(await ledger.add("the pool", record_type=RecordType.EPISODIC, confidence=0.3))
            for _ in range(plain._config.auto_promote_threshold):
                assert await ledger.record_outcome(note, success=True)
            plain.record_outcome = lambda *given: [*given]
            return note, emit.wrap_memledger(plain, emitter=told.emitter).record_outcome(note)

    note, given = asyncio.run(work())
    assert given == [note]
    with told.analysis() as analysis:
        (promoted,) = (memory for memory in analysis.view("memories") if memory["memory_id"] != note)
    assert (promoted["parent_ids"], promoted["effective_confidence"]) == ([note], 0.3)


def test_what_memledger_refuses_writes_nothing(told: Told, tmp_path: Path) -> None:
    """A guess keeps its confidence where the resolver of conflicts gives it back for what was to be written."""

    class Refusing(ConflictResolverStrategy):  # type: ignore[misc]  # memledger has no types
        async def resolve(self, *_: object, **__: object) -> ConflictResolution:
            return ConflictResolution(action="reject_new", reason="known")

    async def work() -> str:
        async with await memory_systems.a_ledger(tmp_path) as plain:
            ledger = emit.wrap_memledger(plain, emitter=told.emitter)
            note = str(await ledger.add("the pool", namespace="/ops", confidence=0.3))
            there = await plain.get(note)
            there.score = 1.0

            async def nearest(*_: object, **__: object) -> list[object]:
                return [there]

            plain._backend.search_vector = nearest  # Python's SQLite may be without sqlite-vec
            plain._strategies.conflict_resolver = Refusing()
            assert await ledger.add("the pool", namespace="/ops", confidence=0.95) == note
            return note

    note = asyncio.run(work())
    with told.analysis() as analysis:
        (memory,) = analysis.view("memories")
        assert (memory["memory_id"], memory["version"], memory["declared_confidence"]) == (note, 1, 0.3)
        assert len(analysis.view("memory_operations")) == 1


def test_langgraph_is_told(told: Told) -> None:
    """Items are named by namespace and key, with what their values say of provenance; a batch tells each operation."""
    plain = memory_systems.a_langgraph_store()
    store = emit.wrap_langgraph(plain, emitter=told.emitter)
    store.put(("ops", "db"), "note", {"text": "the pool", "confidence": 0.3, "created_by": "triage"})
    store.put(("ops", "db"), "fix", {"metadata": {"confidence": 0.85, "derived_from": ["note", "hr/other"]}})
    assert store.get(("ops", "db"), "note") == plain.get(("ops", "db"), "note")
    assert store.get(("ops",), "no such") is None
    assert store.search(("ops",), limit=1) == plain.search(("ops",), limit=1)
    store.delete(("ops", "db"), "note")
    assert plain.get(("ops", "db"), "note") is None
    assert store.list_namespaces() == plain.list_namespaces()
    of_note = {"confidence": 0.3, "created_by": "triage", "namespace": "/ops/db"}
    of_fix = {"confidence": 0.85, "derived_from": ["ops/db/note", "hr/other"], "namespace": "/ops/db"}
    seen = operations(told)
    assert seen[:4] == [
        ("upsert_memory langgraph", "upsert_memory", [{"id": "ops/db/note", "metadata": of_note}]),
        ("upsert_memory langgraph", "upsert_memory", [{"id": "ops/db/fix", "metadata": of_fix}]),
        ("search_memory langgraph", "search_memory", [{"id": "ops/db/note", "metadata": of_note}]),
        ("search_memory langgraph", "search_memory", []),
    ]
    assert [name for name, _, records in seen[4:]] == ["search_memory langgraph", "delete_memory langgraph"]
    with told.analysis() as analysis:
        assert analysis.memories()["ops/db/fix"]["effective_confidence"] == 0.3


def test_langgraph_batches_are_told(told: Told) -> None:
    """Sync and async, and from an iterator, which is read once."""
    store = emit.wrap_langgraph(memory_systems.a_langgraph_store(), emitter=told.emitter, content=True)
    base = pytest.importorskip("langgraph.store.base", reason=memory_systems.LANGGRAPH)
    assert isinstance(store, base.BaseStore)

    def ops() -> Iterator[Any]:
        yield base.PutOp(("ops",), "a", {"confidence": 0.9})
        yield base.PutOp(("ops",), "b", None)
        yield base.ListNamespacesOp()

    assert len(store.batch(ops())) == 3
    (found, items) = asyncio.run(store.abatch([base.GetOp(("ops",), "a"), base.SearchOp(("ops",), query="q")]))
    assert found.value == {"confidence": 0.9}
    assert [item.key for item in items] == ["a"]

    async def one_by_one() -> None:
        await store.aput(("ops",), "c", {"confidence": 0.5})
        assert (await store.aget(("ops",), "c")).value == {"confidence": 0.5}
        assert len(await store.asearch(("ops",))) == 2
        await store.adelete(("ops",), "c")

    asyncio.run(one_by_one())
    assert [(name, operation, [each["id"] for each in records]) for name, operation, records in operations(told)] == [
        ("upsert_memory", "upsert_memory", ["ops/a"]),
        ("delete_memory", "delete_memory", ["ops/b"]),
        ("batch langgraph", None, []),
        ("search_memory", "search_memory", ["ops/a"]),
        ("search_memory", "search_memory", ["ops/a"]),
        ("abatch langgraph", None, []),
        ("upsert_memory langgraph", "upsert_memory", ["ops/c"]),
        ("search_memory langgraph", "search_memory", ["ops/c"]),
        ("search_memory langgraph", "search_memory", ["ops/a", "ops/c"]),
        ("delete_memory langgraph", "delete_memory", ["ops/c"]),
    ]
    with pytest.raises(base.InvalidNamespaceError):
        store.put((), "key", {})
    assert told.spans()[-1].status.status_code is StatusCode.ERROR


def without_times(result: Any) -> Any:
    if isinstance(result, dict):
        return {key: without_times(value) for key, value in result.items() if not key.endswith("_at")}
    return [without_times(each) for each in result] if isinstance(result, list) else result


def test_mem0_is_told(told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `metadata` says of a memory when it is added is told then and whenever it is found."""
    plain = memory_systems.a_mem0(tmp_path, monkeypatch)
    memory = emit.wrap_mem0(plain, emitter=told.emitter, store="mem0")
    metadata = {"confidence": 0.3, "hedged": True, "team": "db"}
    own = {"user_id": "u", "agent_id": "triage", "run_id": "s1"}
    (added,) = memory.add("the pool", **own, metadata=metadata, infer=False)["results"]
    note = added["id"]
    found = memory.search("the pool", filters={"user_id": "u"})
    assert found == plain.search("the pool", filters={"user_id": "u"})
    assert memory.get(note) == plain.get(note)
    assert memory.get("00000000-0000-0000-0000-000000000000") is None
    memory.update(note, "the pool is small", metadata={"confidence": 0.6})
    memory.delete(note)
    with pytest.raises(ValueError, match="not found"):
        memory.delete(note)
    with pytest.raises(Exception, match="user_id"):
        memory.add("nobody's")
    known = {"confidence": 0.3, "hedged": True, "created_by": "triage", "session_id": "s1"}
    seen = operations(told)
    score = seen[1][2][0].pop("score")
    assert score == found["results"][0]["score"]
    assert seen == [
        ("add mem0", "upsert_memory", [{"id": note, "metadata": known}]),
        ("search_memory mem0", "search_memory", [{"id": note, "metadata": known}]),
        ("search_memory mem0", "search_memory", [{"id": note, "metadata": known}]),
        ("search_memory mem0", "search_memory", []),
        ("update_memory mem0", "update_memory", [{"id": note, "metadata": {"confidence": 0.6}}]),
        ("delete_memory mem0", "delete_memory", [{"id": note}]),
        ("delete_memory mem0", "delete_memory", []),
        ("add mem0", None, []),
    ]
    assert [span.status.status_code is StatusCode.ERROR for span in told.spans()] == [False] * 6 + [True, True]


def test_async_mem0_is_told(told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same of `AsyncMemory`, with content where it is asked for."""
    plain = memory_systems.a_mem0(tmp_path, monkeypatch, "AsyncMemory")
    memory = emit.wrap_mem0(plain, emitter=told.emitter, content=True)

    async def work() -> str:
        result = await memory.add("the pool", user_id="u", metadata={"confidence": 0.3}, infer=False)
        assert await memory.get_all(filters={"user_id": "u"}) == await plain.get_all(filters={"user_id": "u"})
        assert (await memory.search("the pool", filters={"user_id": "u"}))["results"]
        await memory.update(result["results"][0]["id"], text="the pool is small")
        await memory.delete_all(user_id="u")
        return str(result["results"][0]["id"])

    note = asyncio.run(work())
    known = {"id": note, "content": "the pool", "metadata": {"confidence": 0.3}}
    seen = operations(told)
    seen[2][2][0].pop("score")
    assert seen == [
        ("add mem0", "upsert_memory", [known]),
        ("search_memory mem0", "search_memory", [known]),
        ("search_memory mem0", "search_memory", [known]),
        ("update_memory mem0", "update_memory", [{"id": note, "content": "the pool is small"}]),
        ("delete_memory mem0", "delete_memory", []),
    ]
    assert (told.spans()[2].attributes or {})["gen_ai.memory.query.text"] == "the pool"
    with told.analysis() as analysis:
        assert {row["convention"] for row in analysis.view("memory_operations")} == {"genai"}
