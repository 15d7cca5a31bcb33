"""What each convention recognises on a span, as the operations that users see."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from docs.pages import PAGES
from engine_harness import Analysis
from otlp import DAWN, SECOND, S, Value
from weaklink_analysis.conventions import CONVENTIONS

COLUMNS = ("operation", "memory_id", "declared_confidence", "agent_id", "session_id", "parent_ids", "hedged")


def operations(analysis: Analysis, *spans: S, columns: tuple[str, ...] = COLUMNS) -> list[tuple[object, ...]]:
    """These columns of the operations on the spans, in the order of span and record."""
    analysis.feed(spans)
    rows = sorted(analysis.table("memory_operations"), key=lambda row: (str(row["span_id"]), str(row["ordinal"])))
    return [tuple(row[column] for column in columns) for row in rows]


def memledger(verb: str, **attributes: Value) -> S:
    """A memledger.memory.* span."""
    return S(1, 1, f"memledger.memory.{verb}", attributes={f"memledger.memory.{k}": v for k, v in attributes.items()})


def genai(operation: str, **attributes: Value) -> S:
    """A GenAI memory span; `_` in a key stands for a dot."""
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return S(1, 1, operation, attributes={"gen_ai.operation.name": operation} | named)


def records(*items: Mapping[str, object]) -> str:
    """gen_ai.memory.records as the JSON string it usually is."""
    return json.dumps(items)


MEMLEDGER_CASES = {
    "a write": (
        memledger("add", operation="add", id="m", confidence=0.7, source_agent_id="a", session_id="s", hedged=True),
        ("write", "m", 0.7, "a", "s", [], True),
    ),
    "the name says the operation where no attribute does": (
        memledger("recall", id="m", confidence=0.7),
        ("read", "m", 0.7, None, None, [], False),
    ),
    "parents are a JSON array": (
        memledger("add", operation="add", id="m", parent_ids='["a", "b", "a", ""]'),
        ("write", "m", None, None, None, ["a", "b", "a"], False),
    ),
    "parents that are no JSON array are none": (
        memledger("add", operation="add", id="m", parent_ids="a,b"),
        ("write", "m", None, None, None, [], False),
    ),
    "'' and 'unknown' are no agent and no session": (
        memledger("add", operation="add", id="m", source_agent_id="unknown", session_id=""),
        ("write", "m", None, None, None, [], False),
    ),
    "a numeric string is its number": (
        memledger("add", operation="add", id="m", confidence=" 0.25 "),
        ("write", "m", 0.25, None, None, [], False),
    ),
    "an int is its number": (
        memledger("add", operation="add", id="m", confidence=1),
        ("write", "m", 1.0, None, None, [], False),
    ),
    "zero is zero": (
        memledger("add", operation="add", id="m", confidence=0.0),
        ("write", "m", 0.0, None, None, [], False),
    ),
    **{
        f"{bad!r} is no confidence": (
            memledger("add", operation="add", id="m", confidence=bad),
            ("write", "m", None, None, None, [], False),
        )
        for bad in ("high", "", 1.7, -0.1, float("nan"), float("inf"), True, "0_1", "0x1")
    },
    "SQL in an id is only text": (
        memledger("add", operation="add", id="'; DROP TABLE names; --", parent_ids='["\\" OR 1=1"]'),
        ("write", "'; DROP TABLE names; --", None, None, None, ['" OR 1=1'], False),
    ),
    "a search names no record": (
        memledger("search", operation="search", source_agent_id="a"),
        ("read", None, None, "a", None, [], False),
    ),
    "an outcome": (
        S(1, 1, "memledger.record_outcome", attributes={"memledger.memory_id": "m", "memledger.success": True}),
        ("outcome", "m", None, None, None, [], False),
    ),
    "a bare get is a read": (
        S(1, 1, "memledger.get", attributes={"memledger.memory_id": "m"}),
        ("read", "m", None, None, None, [], False),
    ),
    "a conflict is no operation of its own": (
        S(1, 1, "memledger.conflict_detected", attributes={"memledger.existing_id": "m"}),
        ("other", "m", None, None, None, [], False),
    ),
}

GENAI_CASES = {
    "one record, its provenance in metadata": (
        genai(
            "create_memory",
            gen_ai__memory__records=records(
                {
                    "id": "m",
                    "metadata": {"confidence": 0.7, "created_by": "a", "session_id": "s", "derived_from": ["p"]},
                }
            ),
        ),
        [("write", "m", 0.7, "a", "s", ["p"], False)],
    ),
    "provenance on the record itself": (
        genai("update_memory", gen_ai__memory__records=records({"id": "m", "confidence": 0.7, "hedged": True})),
        [("write", "m", 0.7, None, None, [], True)],
    ),
    "provenance on the span": (
        genai(
            "upsert_memory",
            gen_ai__memory__record__id="m",
            memory__confidence=0.7,
            memory__derived_from=["p", "q"],
            memory__agent__id="a",
            session__id="s",
        ),
        [("write", "m", 0.7, "a", "s", ["p", "q"], False)],
    ),
    "a parent without an array": (
        genai("create_memory", gen_ai__memory__record__id="m", memory__derived_from="p"),
        [("write", "m", None, None, None, ["p"], False)],
    ),
    "several records found": (
        genai("search_memory", gen_ai__memory__records=records({"id": "m", "score": 0.9}, {"id": "n", "score": 0.8})),
        [("read", "m", None, None, None, [], False), ("read", "n", None, None, None, [], False)],
    ),
    "metadata as a JSON string": (
        genai("search_memory", gen_ai__memory__records=records({"id": "m", "metadata": '{"confidence": "0.4"}'})),
        [("read", "m", 0.4, None, None, [], False)],
    ),
    "records as structured values": (
        genai("search_memory", gen_ai__memory__records=[{"id": "m", "metadata": {"confidence": 0.4}}, {"id": "n"}]),
        [("read", "m", 0.4, None, None, [], False), ("read", "n", None, None, None, [], False)],
    ),
    "records that are no JSON": (
        genai("search_memory", gen_ai__memory__records="two of them"),
        [("read", None, None, None, None, [], False)],
    ),
    "the administration of stores": (
        genai("create_memory_store", gen_ai__memory__store__id="st"),
        [("other", None, None, None, None, [], False)],
    ),
    "a deletion": (
        genai("delete_memory", gen_ai__memory__record__id="m"),
        [("delete", "m", None, None, None, [], False)],
    ),
    "another kind of span": (genai("chat"), []),
}


@pytest.mark.parametrize("case", MEMLEDGER_CASES)
def test_memledger(analysis: Analysis, case: str) -> None:
    """memledger's attributes make one operation a span."""
    span, expected = MEMLEDGER_CASES[case]
    assert operations(analysis, span) == [expected]


@pytest.mark.parametrize("case", GENAI_CASES)
def test_genai(analysis: Analysis, case: str) -> None:
    """GenAI memory spans make one operation a record."""
    span, expected = GENAI_CASES[case]
    assert operations(analysis, span) == expected


def test_memledger_is_more_specific_than_genai(analysis: Analysis) -> None:
    """A span that two conventions know is recognised once, by the most specific."""
    span = S(1, 1, "x", attributes={"gen_ai.operation.name": "create_memory", "memledger.memory.operation": "recall"})
    assert operations(analysis, span, columns=("operation", "convention")) == [("read", "memledger")]


RETRIEVER: dict[str, Value] = {"openinference.span.kind": "RETRIEVER"}
BOTH: dict[str, dict[str, Value]] = {
    "memledger": {"memledger.memory.operation": "add"} | RETRIEVER,
    "mem0_agentops": {"gen_ai.operation.name": "search_memory"} | RETRIEVER,
    "mem0_loongsuite": {"gen_ai.operation.name": "memory_operation", "gen_ai.memory.operation": "add"} | RETRIEVER,
    "mastra": {"gen_ai.operation.name": "memory_operation", "mastra.span.type": "memory_operation"} | RETRIEVER,
    "google_adk": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "load_memory", "db.system": "chroma"},
    "genai": {"gen_ai.operation.name": "search_memory"} | RETRIEVER,
    "genai_retrieval": {"gen_ai.operation.name": "retrieval"} | RETRIEVER,
    "openinference": {"db.system": "chroma", "db.operation": "query"} | RETRIEVER,
}


@pytest.mark.parametrize("first", BOTH)
def test_a_span_that_several_know_is_recognised_once(analysis: Analysis, first: str) -> None:
    """By the first in the documented order, and that order is the one that is used."""
    name = "mem0.memory.search" if first == "mem0_agentops" else "x"
    assert operations(analysis, S(1, 1, name, attributes=BOTH[first]), columns=("convention",)) == [(first,)]
    documented = re.findall(r"^\| `(\w+)` \| .* \| .* \| .* \|$", PAGES["docs/conventions.md"], re.MULTILINE)
    assert documented[: len(CONVENTIONS)] == [convention.name for convention in CONVENTIONS]


def test_links_name_the_parents_of_every_record_written(analysis: Analysis) -> None:
    """After those that the record names itself, each once; on a write alone, and only with ids."""
    links: list[Mapping[str, Value]] = [
        {"memory.link": "derived_from", "memory.id": "q"},
        {"memory.link": "derived_from", "memory.id": ["p", "r"]},
        {"memory.link": "derived_from"},
        {"memory.link": "relied_on", "memory.id": "no"},
        {"memory.id": "no"},
    ]
    named = records({"id": "m", "derived_from": ["p"]}, {"id": "n"})
    span = genai("create_memory", gen_ai__memory__records=named)
    assert operations(analysis, replace(span, links=links), columns=("memory_id", "parent_ids")) == [
        ("m", ["p", "q", "r"]),
        ("n", ["q", "p", "r"]),
    ]
    read = genai("search_memory", gen_ai__memory__records=named)
    assert operations(analysis, replace(read, span=2, links=links), columns=("parent_ids",))[2:] == [(["p"],), ([],)]


def test_links_name_what_a_decision_relied_on(analysis: Analysis) -> None:
    """Beside its attribute, or alone; the memories need not have been read."""
    links = [{"memory.link": "relied_on", "memory.id": '["b", "c"]'}, {"memory.link": "derived_from", "memory.id": "x"}]
    marked: dict[str, Value] = {"memory.decision": True, "memory.relied_on": "a"}
    analysis.feed([S(1, 1, attributes=marked, links=links), S(2, 1, attributes={"memory.decision": True}, links=links)])
    analysis.evaluate()
    relied = {row["trace_id"]: row["memory_ids"] for row in analysis.table("decisions")}
    assert relied == {f"{1:032x}": ["a", "b", "c"], f"{2:032x}": ["b", "c"]}


def test_agent_and_session_come_from_the_nearest_ancestor_that_has_them(analysis: Analysis) -> None:
    """Each is inherited on its own, and an ancestor may arrive later than the memory span."""
    named: dict[str, Value] = {"gen_ai.operation.name": "create_memory", "gen_ai.memory.record.id": "m"}
    memory = S(1, 9, "x", parent=3, attributes=named)
    seen = ("agent_id", "session_id")
    assert operations(analysis, memory, columns=seen) == [(None, None)]
    near = S(1, 3, parent=2, attributes={"gen_ai.agent.name": "near"})
    assert operations(analysis, near, columns=seen) == [("near", None)]
    far = S(1, 2, parent=1, attributes={"gen_ai.agent.id": "far", "gen_ai.conversation.id": "c"})
    assert operations(analysis, far, columns=seen) == [("near", "c")]
    assert [row["agent_id"] for row in analysis.table("memory_versions")] == ["near"]


def test_a_loop_among_parents_ends_the_search(analysis: Analysis) -> None:
    """Spans that are each other's parents carry nothing, and nothing hangs."""
    memory = memledger("add", operation="add", id="m")
    loop = [S(1, 1, memory.name, parent=2, attributes=memory.attributes), S(1, 2, parent=3), S(1, 3, parent=2)]
    assert operations(analysis, *loop, columns=("agent_id",)) == [(None,)]


@pytest.mark.parametrize("name", ["12345e67", "1.10", "7e2", "true", "null", '{"a": 1}'])
def test_a_bare_id_is_taken_as_it_is(analysis: Analysis, name: str) -> None:
    """Also one that JSON would read as a number, or as something else that is no text."""
    span = genai("create_memory", gen_ai__memory__record__id="d", memory__derived_from=name)
    linked = replace(memledger("add", id="e"), span=2, links=[{"memory.link": "derived_from", "memory.id": name}])
    assert operations(analysis, span, linked, columns=("parent_ids",)) == [([name],), ([name],)]


@pytest.mark.parametrize("untold", [None, "", "unknown"])
def test_what_the_metadata_does_not_tell_the_record_does(analysis: Analysis, untold: str | None) -> None:
    """And what neither tells, the span: nobody is no author, and null names no parent."""
    record: Mapping[str, object] = {
        "id": "d",
        "agent_id": "a",
        "session_id": "s",
        "metadata": {"created_by": untold, "session_id": untold, "derived_from": None},
    }
    span = genai("create_memory", gen_ai__memory__records=records(record), memory__derived_from="p")
    assert operations(analysis, span, columns=("agent_id", "session_id", "parent_ids")) == [("a", "s", ["p"])]


@pytest.mark.parametrize(
    ("operation", "key"),
    [("search_memory", "gen_ai.memory.records"), ("retrieval", "gen_ai.retrieval.documents")],
)
@pytest.mark.parametrize(
    ("listed", "codes"), [('["m1", "m2"]', ["read_without_ids"]), ("[5]", ["read_without_ids"]), ("[ ]", [])]
)
def test_a_list_of_no_records_does_not_say_that_none_was_found(
    analysis: Analysis, operation: str, key: str, listed: str, codes: list[str]
) -> None:
    """It names none, which is a gap; an empty list is an answer."""
    analysis.feed([S(1, 1, operation, attributes={"gen_ai.operation.name": operation, key: listed})])
    assert [row["code"] for row in analysis.view("findings") if row["code"] == "read_without_ids"] == codes


@pytest.mark.parametrize(
    ("operation", "key"),
    [("search_memory", "gen_ai.memory.records"), ("retrieval", "gen_ai.retrieval.documents")],
)
def test_a_list_of_texts_may_be_records(analysis: Analysis, operation: str, key: str) -> None:
    """Those that are an object in JSON are records: most SDKs have no list of anything but texts."""
    listed = ['{"id": "m", "score": 0.5, "metadata": {"confidence": 0.3}}', "{", "5", "m1", '"m2"', "", '{"id": "n"}']
    said: dict[str, Value] = {"gen_ai.operation.name": operation, key: listed}
    seen = ("ordinal", "memory_id", "score", "declared_confidence")
    found = [(0, "m", 0.5, 0.3), (1, "n", None, None)]
    assert operations(analysis, S(1, 1, operation, attributes=said), columns=seen) == found


def test_a_get_beneath_a_search_is_lineage(analysis: Analysis) -> None:
    """The search walks a chain with it; the search's span may arrive later."""
    get = S(1, 9, "memledger.get", parent=1, attributes={"memledger.memory_id": "m"})
    assert operations(analysis, get, columns=("operation",)) == [("read",)]
    assert operations(analysis, memledger("search", operation="search"), columns=("operation",)) == [
        ("read",),
        ("lineage",),
    ]


def test_an_operation_ends_no_earlier_than_it_began(analysis: Analysis) -> None:
    """Where the end is missing, or before the start, the start counts, here as in the version that is made."""
    endless = replace(memledger("add", operation="add", id="m"), start=3.0, end=-DAWN / SECOND)
    backwards = replace(memledger("recall", operation="recall", id="m"), span=2, start=7.0, end=5.0)
    analysis.feed([endless, backwards])
    rows = analysis.view("memory_operations")
    assert [row["end_time"] for row in rows] == [row["start_time"] for row in rows]
    assert [row["written_at"] for row in analysis.view("memory_versions")] == [rows[0]["end_time"]]


def test_ids_with_an_apostrophe_are_parents_under_mem0(analysis: Analysis) -> None:
    """A list in JSON is read as it is, one that Python printed as Python meant it."""
    for number, parents in enumerate((json.dumps(["q's", "r"]), str(["q", "r"])), start=1):
        write: dict[str, Value] = {"mem0.memory.0.id": "m", "mem0.metadata.derived_from": parents}
        analysis.feed([S(number, 1, "mem0.memory.add", attributes=write)])
    rows = sorted(analysis.view("memory_versions"), key=lambda row: str(row["trace_id"]))
    assert [row["parent_ids"] for row in rows] == [["q's", "r"], ["q", "r"]]


def test_a_refused_or_failed_write_makes_no_version(analysis: Analysis) -> None:
    """A write whose span failed writes nothing, nor does one that a conflict resolver refused."""
    write: dict[str, Value] = {
        "memledger.memory.operation": "add",
        "memledger.memory.id": "m",
        "memledger.memory.confidence": 0.9,
    }
    analysis.feed([S(1, 1, "memledger.memory.add", attributes=write, error=True)])
    assert analysis.table("memory_versions") == []
    analysis.feed([S(1, 2, "memledger.memory.add", attributes=write)])
    assert len(analysis.table("memory_versions")) == 1
    analysis.feed([S(1, 3, "memledger.conflict_detected", parent=2, attributes={"memledger.existing_id": "m"})])
    assert analysis.table("memory_versions") == []
