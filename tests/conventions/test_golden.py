"""Every convention on spans as its framework emits them: golden/NAME.json holds the operations of captured/NAME.json.

captured/README.md says of each file whether the framework itself made it, or it was written from the attribute names in
the framework's source or documents. WEAKLINK_REGENERATE=1 writes golden/ anew.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine_harness import Analysis
from weaklink_processor.config import Config
from weaklink_processor.receive import otlp_json
from weaklink_processor.wiring import limits

REGENERATE = os.environ.get("WEAKLINK_REGENERATE") == "1"  # a test sees no WEAKLINK_ variable
HERE = Path(__file__).parent
CAPTURED = {path.stem: path for path in sorted((HERE / "captured").glob("*.json"))}
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


def _read(path: Path) -> object:
    return json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("name", CAPTURED)
def test_operations_are_what_the_golden_file_says(name: str) -> None:
    """Each span gives the operations that it names, and nothing that it does not say."""
    found = operations(name)
    golden = HERE / "golden" / f"{name}.json"
    if REGENERATE:
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in found)
        golden.write_text(f"[\n{lines}\n]\n", "utf-8")
    assert found == _read(golden)
