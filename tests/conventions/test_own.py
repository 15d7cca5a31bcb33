"""A user's own convention: what the page tells makes it work, what is wrong with it is told before it runs."""

import json
import logging
import re
from pathlib import Path

import duckdb
import pytest

from docs.pages import on_page
from engine_harness import Analysis
from otlp import S, payload, write
from shell import refused
from weaklink_analysis.conventions import CONVENTIONS
from weaklink_analysis.conventions.convention import Convention
from weaklink_analysis.conventions.own import faults
from weaklink_analysis.recognition import Recogniser
from weaklink_processor.decode.batch import decode

Found = list[tuple[object, ...]]


def acme(sql: str, **more: tuple[str, ...]) -> Convention:
    return Convention("acme", **{"names": ("acme.*",), "also": ("acme.id",), "own_sql": sql} | more)  # type: ignore[arg-type]


def found(
    convention: Convention, *spans: S, columns: tuple[str, ...] = ("at", "ordinal", "kind", "memory_id")
) -> Found:
    """These columns of the operations on the spans, in order."""
    recognised = Recogniser(duckdb.connect(), (), (convention, *CONVENTIONS)).recognise(decode([payload(spans)]))
    rows = recognised.operations.sort_by([("at", "ascending"), ("ordinal", "ascending")]).to_pylist()
    return [tuple(row[column] for column in columns) for row in rows]


READ = "SELECT row_id, 'read' AS kind"
FAULTS = {
    "SELEC": 'line 1: Parser Error: syntax error at or near "SELEC"',
    "SELECT row_id,\n  'read' AS kind,\n nme AS store FROM candidates": 'line 3: Binder Error: Referenced column "nme"',
    "SELECT 1; SELECT 2": "expected one SELECT and nothing else",
    "DROP TABLE candidates": "expected one SELECT and nothing else",
    "COPY (SELECT 1) TO '/tmp/stolen'": "expected one SELECT and nothing else",
    "": "expected one SELECT and nothing else",
    "SELECT row_id FROM candidates": "expected a column kind",
    f"{READ}, 1 AS memory FROM candidates": "unknown column memory; there are row_id",
    f"{READ}, [name] AS memory_id FROM candidates": "column memory_id is VARCHAR[], expected VARCHAR",
    f"{READ}, 'yes' AS hedged FROM candidates": "column hedged is VARCHAR, expected BOOLEAN",
    f"{READ}\nFROM read_csv('/etc/passwd')": "line 2: a table function read_csv is not allowed",
    f"{READ}\nFROM '/etc/passwd'": "line 2: there is no relation /etc/passwd; there",
    f"{READ}\nFROM indexed": "line 2: there is no relation indexed; there are",
    f"{READ},\n\nrandom() AS score FROM candidates": "line 3: the function random is not allowed",
    f"{READ} FROM candidates WHERE now() > '2026-01-01'": "line 1: the function now is not allowed",
}


@pytest.mark.parametrize("sql", FAULTS)
def test_a_fault_is_told_with_its_line(sql: str) -> None:
    """The convention's name, the line if it is in a line, and what is wrong."""
    (fault,) = faults([acme(sql)])
    assert fault.startswith(f"acme: {FAULTS[sql]}")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT row_id, 'read' AS kind, NULL AS score, 0.5 AS raw_confidence FROM candidates; -- the end",
        "WITH x AS (FROM candidates) SELECT row_id, 'write' AS kind, CAST(row_id AS INTEGER) AS rank FROM x",
        "SELECT row_id, 'read' AS kind, value AS memory_id FROM candidates, json_each(\"acme.id\")",
    ],
)
def test_queries_of_the_relations_are_taken(sql: str) -> None:
    """One SELECT with columns of the right types is all that is asked for."""
    assert faults([acme(sql)]) == []


def test_a_get_of_ones_own_shows_a_version_in_any_order_or_in_none() -> None:
    """What a `get` beneath a search shows is no version, whether the search arrives before it or after."""
    own = acme("SELECT row_id, 'get' AS kind, \"acme.id\" AS memory_id, '0.3' AS raw_confidence FROM candidates")
    recogniser = Recogniser(duckdb.connect(), (), (own, *CONVENTIONS))
    get = S(1, 2, "acme.get", parent=1, attributes={"acme.id": "m"})
    search = S(1, 1, "memledger.memory.search", attributes={"memledger.memory.operation": "search"})
    for batches in ([[get, search]], [[get], [search]], [[search], [get]]):
        with Analysis(recognises=recogniser) as analysis:
            for batch in batches:
                analysis.feed(batch)
            assert analysis.table("memory_versions") == []


def test_names_are_taken_once() -> None:
    """Neither a built-in convention nor another of one's own has the name, and all faults are told at once."""
    sql = "SELECT row_id, 'read' AS kind FROM candidates"
    again = Convention("genai", names=("x",), own_sql="SELECT 1")
    taken = "another convention has this name"
    expected = [f"acme: {taken}", f"genai: {taken}", "genai: expected a column row_id", "genai: expected a column kind"]
    assert [fault for fault in faults([acme(sql), acme(sql), again]) if "unknown" not in fault] == expected


def test_it_goes_before_all_others() -> None:
    """Also before memledger, where its query knows the span; otherwise the next convention counts."""
    sql = "SELECT row_id, 'delete' AS kind, 'mine' AS memory_id FROM candidates WHERE \"memledger.memory.id\" = 'a'"
    own = acme(sql, names=("memledger.*",), also=("memledger.memory.id",))
    assert found(own, write(1, 1, "a", 0.5), write(1, 2, "b", 0.5)) == [(0, 0, "delete", "mine"), (1, 0, "write", "b")]


def test_events_links_and_indexed_attributes_reach_it() -> None:
    """Each as a relation; of an attribute that is there twice, in effect, the first counts."""
    sql = """
        SELECT row_id, 'read' AS kind, concat_ws('/', place, name, "e.id") AS memory_id FROM events
        UNION ALL SELECT row_id, 'read', concat_ws('/', place, span_id, "l.id") FROM links
        UNION ALL SELECT row_id, 'read', concat_ws('/', prefix, number, field, value) FROM indexed
    """
    own = acme(sql, events=("kept",), event_reads=("e.id",), link_reads=("l.id",), prefixes=("a.", "a.b."))
    span = S(
        1,
        1,
        "other",
        attributes={"a.0": "x", "a.01.id": "y", "a.1.id": "z", "a.b.2.c.d": "w", "a.n.1": "no", "ab.1": "no"},
        events=[("kept", {"e.id": 1}), ("lost", {"e.id": "no"}), ("kept", {})],
        links=[{"l.id": "m"}, {}],
    )
    texts = ["0/0000000000000009/m", "0/kept/1", "1/0000000000000009", "2/kept", "a./0//x", "a./1/id/y", "a.b./2/c.d/w"]
    assert [memory for *_, memory in found(own, span)] == texts


def test_ordinals_are_counted_anew() -> None:
    """Rows of a span that yield the same ordinal, or none, are records of their own; other kinds are no operations."""
    sql = """
        SELECT row_id, unnest(['b', 'a', 'c']) AS memory_id, unnest(['read', 'read', 'admire']) AS kind FROM candidates
    """
    assert found(acme(sql), S(1, 1, "acme.x")) == [(0, 0, "read", "a"), (0, 1, "read", "b")]


@pytest.mark.parametrize("sizes", [(7,), (1, 6), (3, 4), (1,) * 7])
def test_a_span_on_which_it_fails_is_left_to_others(sizes: tuple[int, ...], caplog: pytest.LogCaptureFixture) -> None:
    """However the spans are batched, those alone; the log tells it without the span's values."""
    sql = "SELECT row_id, 'read' AS kind, CAST(CAST(\"acme.id\" AS INTEGER) AS VARCHAR) AS memory_id FROM candidates"
    own = acme(sql, names=("memledger.*", "acme.*"))
    bad = write(1, 3, "m", 0.5)
    spans = [S(1, n, "acme.x", attributes={"acme.id": n}) for n in (1, 2)]
    spans += [S(1, 3, bad.name, attributes={**bad.attributes, "acme.id": "secret"})]
    spans += [S(1, n, "acme.x", attributes={"acme.id": n if n != 6 else "1e999"}) for n in (4, 5, 6, 7)]
    with caplog.at_level(logging.WARNING):
        batches = [spans[sum(sizes[:n]) :][:size] for n, size in enumerate(sizes)]
        ids = [memory for batch in batches for *_, memory in found(own, *batch)]
    assert ids == ["1", "2", "m", "4", "5", "7"]
    assert "secret" not in caplog.text


def test_the_page_shows_one_convention() -> None:
    """The settings that docs/conventions.md explains are those that its commands try; tests/docs runs these."""
    (settings,) = [block for block in on_page("docs/conventions.md") if block.language == "yaml"]
    (commands,) = [block for block in on_page("docs/conventions.md") if block.language == "sh"]
    assert f"cat > acme.yaml <<'END'\n{settings.text}END\n" in commands.text
    json.loads(re.findall(r"spans\.json <<'END'\n(.*?)END\n", commands.text, re.DOTALL)[0])


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ('sql: "SELECT nothing FROM candidates"', 'acme: line 1: Binder Error: Referenced column "nothing" not found'),
        ("file: nowhere.sql", "analysis.conventions.0.file: nowhere.sql cannot be read"),
        ("file: nowhere.sql, sql: SELECT 1", "expected either sql or file"),
        ("only: [x], sql: SELECT 1", "expected reads beside only"),
    ],
)
def test_a_faulty_one_is_refused_at_start(how: str, message: str, tmp_path: Path) -> None:
    """With exit code 2, before any span is taken."""
    (tmp_path / "weaklink.yaml").write_text(f"analysis: {{conventions: [{{name: acme, names: [a], {how}}}]}}")
    arguments = ("--config", "weaklink.yaml", "--data-dir", "data")
    assert message in refused("replay", "-", *arguments, cwd=tmp_path)
    assert message in refused("serve", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", *arguments, cwd=tmp_path)
