"""What is recognised of a framework's spans goes the rest of the way as brute force says: versions, chains, verdicts.

The oracle knows memledger and GenAI memory by itself. Of the others it is given the operations, as golden/ has them.
"""

import pytest

import oracle
from analysis.test_oracle import differences
from conventions.test_golden import CAPTURED, RECOGNISER, request
from otlp import SECOND, S
from weaklink_analysis.conventions import CONVENTIONS
from weaklink_processor.decode.batch import decode

FIELDS = {name: name for name in ("ordinal", "store", "hedged", "record_session", "memory_type", "namespace")}
FIELDS |= {"id": "memory_id", "raw": "raw_confidence", "parents": "parent_ids", "author": "record_agent"}
FIELDS |= {"actor": "own_agent"} | {name: name for name in ("score", "rank", "success", "counted")}
"""Field of an operation of the oracle's -> column of what is recognised."""

FOUND = RECOGNISER.recognise(decode([*map(request, CAPTURED)]))
ROWS = FOUND.spans.to_pylist()
OPERATIONS = FOUND.operations.to_pylist()
DAWN = min(row["start_unix_nano"] for row in ROWS)
SPANS = [
    S(
        int(row["trace_id"], 16),
        int(row["span_id"], 16),
        row["name"],
        int(row["parent_span_id"] or "0", 16),
        (row["start_unix_nano"] - DAWN) / SECOND,
        (row["end_unix_nano"] - DAWN) / SECOND,
        dict(row["attributes"]),
        error=row["status_code"] == "ERROR",
        service=row["service_name"],
        events=[(event["name"], dict(event["attributes"])) for event in row["events"]],
    )
    for row in ROWS
]
"""Every captured span, its values as text."""


@pytest.mark.parametrize("seed", [2, 5])
def test_what_frameworks_emit_goes_the_whole_way(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Every column of every table agrees, whatever the order and the batches in which the captured spans come."""
    own = oracle.operations.recognised

    def told(spot: oracle.Spot) -> list[oracle.Op]:
        return own(spot) or [
            oracle.Op(spot, row["convention"], row["kind"], **{field: row[column] for field, column in FIELDS.items()})
            for row in OPERATIONS
            if ROWS[row["at"]]["span_id"] == spot.ids["span_id"]
        ]

    monkeypatch.setattr("oracle.operations.recognised", told)
    monkeypatch.setattr("oracle.world.recognised", told)
    world = oracle.Oracle(SPANS, oracle.Rules(), str)
    assert {op.convention for op in world.ops} == {convention.name for convention in CONVENTIONS}
    assert differences(SPANS, oracle.Rules(), seed) == []
