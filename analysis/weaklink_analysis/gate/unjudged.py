"""Traces that a gate passes over, since they wait for their quiet period."""

from dataclasses import asdict

import duckdb

from weaklink_analysis.gate.texts import text
from weaklink_analysis.selection import Selection


def unjudged(catalogue: duckdb.DuckDBPyConnection, selection: Selection) -> int:
    """How many selected traces of a catalogue have memory operations and were never judged."""
    asked = asdict(selection) | {"trace_ids": list(selection.trace_ids)}
    ((traces,),) = catalogue.execute(text("unjudged"), asked).fetchall()
    return int(traces)
