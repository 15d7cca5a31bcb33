"""What is published: changes and removals, put together, are the tables themselves, in whatever order spans come."""

from collections.abc import Sequence
from datetime import timedelta
from random import Random

import pytest

from engine_harness import NOW, Analysis
from otlp import S
from scenarios import crowd
from weaklink_analysis.published import ABSORBED, EVALUATED, PUBLISHED, Published

BATCH = 14
"""Spans a step, of six scenarios: a few, so that most of what one needs comes after it."""

Rows = dict[tuple[object, ...], dict[str, object]]


class Reader:
    """A reader of deltas: table -> rows by key, with every column, hidden ones too."""

    def __init__(self) -> None:
        self.tables: dict[str, Rows] = {table.name: {} for table in PUBLISHED}
        self.new = 0

    def take(self, analysis: Analysis, tables: Sequence[Published]) -> None:
        """Apply what the last step changed; no key is both changed and removed, for a step's delta has no order.

        A row that is there already must not be said to be new.
        """
        for table in tables:
            changed = _by_key(analysis.engine.changes(table.name).to_pylist(), table.key)
            removed = _by_key(analysis.engine.removals(table.name).to_pylist(), table.key)
            assert not changed.keys() & removed.keys()
            known = {key for key, row in changed.items() if row.pop("known")}
            assert changed.keys() & self.tables[table.name].keys() <= known
            self.new += len(changed.keys() - known)
            kept = {key: row for key, row in self.tables[table.name].items() if key not in removed}
            self.tables[table.name] = kept | changed


def _by_key(rows: Sequence[dict[str, object]], key: Sequence[str]) -> Rows:
    keyed = {tuple(row[column] for column in key): row for row in rows}
    assert len(keyed) == len(rows)
    return keyed


def fed(spans: Sequence[S], batch: int) -> tuple[Analysis, Reader]:
    """An analysis that took the spans so many at a time, and a reader of what it published."""
    analysis, reader = Analysis(), Reader()
    for at in range(0, len(spans), batch):
        analysis.feed(spans[at : at + batch])
        reader.take(analysis, ABSORBED)
        analysis.engine.start()
        analysis.engine.evaluate(NOW, timedelta(0))
        reader.take(analysis, EVALUATED)
    return analysis, reader


@pytest.mark.parametrize("seed", range(5))
def test_a_row_is_published_again_whenever_it_changes(seed: int) -> None:
    """The deltas of many small steps add up to the tables, in every column; findings are those of a single step."""
    spans = crowd(range(6 * seed, 6 * seed + 6))
    whole, _ = fed(spans, len(spans))
    parts, reader = fed(Random(seed).sample(spans, len(spans)), BATCH)
    with whole, parts:
        for table in PUBLISHED:
            snapshot = _by_key(parts.engine.snapshot(table.name).to_pylist(), table.key)
            assert reader.tables[table.name] == snapshot
        assert reader.new > sum(map(len, reader.tables.values())) / 2
        assert sorted(parts.view("findings"), key=repr) == sorted(whole.view("findings"), key=repr)
