"""What is told of an evaluation: one revision of one verdict on a decision, a trace or a session, a row each.

Texts are large: together they may take more than the 2 GiB that Arrow's usual ones can.
"""

import pyarrow as pa

EVALUATION_SCHEMA = pa.schema(
    [
        ("name", pa.large_string()),
        ("scope", pa.large_string()),  # decision | trace | session
        ("trace_id", pa.binary()),  # 16 bytes; with span_id it names the target span
        ("span_id", pa.binary()),  # 8 bytes
        ("session_id", pa.large_string()),  # '' for none, as environment and service_name
        ("environment", pa.large_string()),
        ("service_name", pa.large_string()),
        ("score", pa.float64()),  # 0 to 1
        ("passed", pa.bool_()),
        ("label", pa.large_string()),  # pass | fail | not_evaluable
        ("explanation", pa.large_string()),
        ("rubric", pa.large_string()),
        ("revision", pa.int64()),  # 1, 2, ...
        ("annotator_kind", pa.large_string()),  # CODE | LLM | HUMAN
        ("evaluated_at", pa.timestamp("us", "UTC")),
        ("record_ids", pa.large_string()),  # a thousand at most, with commas between; '' for none
        ("framework", pa.large_string()),  # deterministic | structural | llm
        ("metadata", pa.large_string()),  # a JSON object: the checks, and what has no column of its own
    ]
)
"""Keyed by (name, scope, target, rubric, annotator_kind).

A target that ceased to be one has no score, `passed` null and the label `not_evaluable`.
"""
