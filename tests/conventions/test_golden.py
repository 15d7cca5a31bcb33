"""Every convention on spans as its framework emits them: golden/NAME.json holds the operations of captured/NAME.json.

Each test's id says whether the framework itself made the spans (real) or they were written from the names in its source
or documents (source), as captured/origins.toml tells. WEAKLINK_REGENERATE=1 writes golden/ anew.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_harness import Analysis
from golden import REGENERATE
from otlp import S, Value, payload
from weaklink_analysis.conventions import CONVENTIONS
from weaklink_analysis.recognition import Recogniser
from weaklink_processor.config import Config
from weaklink_processor.decode.batch import decode
from weaklink_processor.receive import otlp_json
from weaklink_processor.wiring import limits

RECOGNISER = Recogniser(duckdb.connect())
HERE = Path(__file__).parent
CAPTURED = {path.stem: path for path in sorted((HERE / "captured").glob("*.json"))}
ORIGINS = tomllib.loads((HERE / "captured" / "origins.toml").read_text("utf-8"))
COLUMNS = (
    *("operation", "convention", "ordinal", "store", "memory_id", "memory_type", "namespace", "agent_id", "session_id"),
    *("declared_confidence", "hedged", "parent_ids", "score", "rank", "counted"),
)


def request(name: str) -> bytes:
    """The captured request as the service would have it."""
    return otlp_json.to_protobuf(CAPTURED[name].read_bytes(), limits(Config()))


def operations(name: str) -> list[Mapping[str, object]]:
    """The operations on the captured spans in their order, each with its span's name and what is not empty."""
    spans = [
        span
        for resource in json.loads(CAPTURED[name].read_text("utf-8"))["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
    ids = [span["spanId"] for span in spans]
    with Analysis() as analysis:
        analysis.feed_request(request(name))
        rows = analysis.engine.snapshot("memory_operations").to_pylist()
    rows.sort(key=lambda row: (ids.index(row["span_id"]), row["ordinal"]))
    return [
        {"span": spans[ids.index(row["span_id"])]["name"]}
        | {column: row[column] for column in COLUMNS if row[column] not in (None, "", False, [])}
        for row in rows
    ]


def _read(path: Path) -> list[dict[str, object]]:
    return json.loads(path.read_text("utf-8"))  # type: ignore[no-any-return]


def test_each_convention_has_spans() -> None:
    """Every convention recognises captured spans, and every file those of the conventions that it is meant for."""
    recognised = {name: {row["convention"] for row in _read(HERE / "golden" / f"{name}.json")} for name in CAPTURED}
    assert recognised == {name: set(origin["conventions"]) for name, origin in ORIGINS.items()}
    assert set.union(*recognised.values()) == {convention.name for convention in CONVENTIONS}


@given(st.lists(st.text(), max_size=3), st.sampled_from([None, 0.25]))
def test_python_text_of_mem0_is_read_whatever_a_memory_says(texts: list[str], score: float | None) -> None:
    """LoongSuite prints what mem0 answered: quotes, escapes and braces in a memory hide no record after it."""
    found = [
        {"id": f"m{n}", "memory": text, "metadata": {"ok": True, "a": text}, "score": score}
        for n, text in enumerate(texts)
    ]
    said = {"gen_ai.operation.name": "memory_operation", "gen_ai.memory.operation": "search"}
    attributes: dict[str, Value] = {**said, "gen_ai.memory.output.messages": str({"results": found})}
    rows = RECOGNISER.recognise(decode([payload([S(1, 1, attributes=attributes)])])).operations.to_pylist()
    expected = [(one["id"], score) for one in found] or [(None, None)]
    assert sorted((row["memory_id"], row["score"]) for row in rows) == expected


@pytest.mark.parametrize("name", CAPTURED, ids=lambda name: f"{name}-{ORIGINS[name]['kind']}")
def test_operations_are_what_the_golden_file_says(name: str) -> None:
    """Each span gives the operations that it names, and nothing that it does not say."""
    found = operations(name)
    golden = HERE / "golden" / f"{name}.json"
    if REGENERATE:
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in found)
        golden.write_text(f"[\n{lines}\n]\n", "utf-8")
    assert found == _read(golden)
