"""Which parts become one, without looking into any."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weaklink_processor.lake.merging import (
    DAY_PARTS,
    DELTA_ROWS,
    LARGE_ROWS,
    SMALL_PARTS,
    SMALL_ROWS,
    TINY_ROWS,
    Merge,
    due,
    whole,
)
from weaklink_processor.lake.parts import Part
from weaklink_processor.lake.reading import TableParts

TODAY = date(2026, 9, 9)


def part(number: int, rows: int, day: date = TODAY, kind: str = "part") -> Part:
    return Part("spans", f"spans/date={day}/{kind}-{number:012d}.parquet", number, rows, rows, base=False)


def merged(parts: Sequence[Part], merge: Merge) -> list[Part]:
    """The parts after a merge, whose result has a name of its own."""
    rows = sum(each.rows for each in merge.parts)
    result = part(merge.seq, rows, merge.day, merge.kind)
    assert result.path not in {each.path for each in parts}
    return [*(each for each in parts if each not in merge.parts), result]


def after(parts: Sequence[Part], today: date = TODAY, upto: int | None = None) -> list[Part]:
    """The parts when all is merged that is to be."""
    table = TableParts(parts=list(parts))
    while merge := (due("spans", table, today) if upto is None else whole("spans", table, upto)):
        table = replace(table, parts=merged(table.parts, merge))
    return table.parts


PARTS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 500, SMALL_ROWS, 20 * SMALL_ROWS, LARGE_ROWS])), max_size=200
)


@given(PARTS)
def test_no_row_is_lost_or_gets_to_another_day(drawn: list[tuple[int, int]]) -> None:
    """However parts are merged, each day has as many rows as before; empty and very large parts stay as they are."""
    parts = [part(number, rows, TODAY - timedelta(days=ago)) for number, (ago, rows) in enumerate(drawn)]
    for left in (after(parts), after(parts, upto=len(parts))):
        assert rows_by_day(left) == rows_by_day(parts)
        assert {each for each in parts if not 0 < each.rows < LARGE_ROWS} <= set(left)


def rows_by_day(parts: Sequence[Part]) -> Counter[date]:
    return Counter({day: sum(each.rows for each in parts if each.day == day) for day in {each.day for each in parts}})


def test_a_day_of_parts_costs_few_rewrites_and_leaves_few_files() -> None:
    """A part of 5,000 spans each 30 s: while the day lasts there are few files and a row is written again once; after
    it, few are left."""
    parts: list[Part] = []
    written = most = 0
    for number in range(24 * 3600 // 30):
        parts.append(part(number, 5_000))
        if merge := due("spans", TableParts(parts=parts), TODAY):
            written += sum(each.rows for each in merge.parts)
            parts = merged(parts, merge)
        most = max(most, len(parts))
    closed = after(parts, TODAY + timedelta(days=1))
    assert written <= sum(each.rows for each in parts)
    assert most <= 3 * SMALL_PARTS
    assert len([each for each in closed if each.rows < LARGE_ROWS]) <= DAY_PARTS
    assert len(closed) <= 20


def test_deltas_are_merged_earlier_while_nothing_waits() -> None:
    """A quarter of the base is enough then, where otherwise deltas grow as large as the base."""
    base = replace(part(0, 8 * DELTA_ROWS, kind="base"), base=True)
    table = TableParts(("id",), [base, part(1, 2 * DELTA_ROWS + 1)])
    assert due("decisions", table, TODAY) is None
    assert due("decisions", table, TODAY, resting=True) == Merge("decisions", tuple(table.parts), base=True)
    assert due("decisions", replace(table, parts=[base, part(1, 2 * DELTA_ROWS)]), TODAY, resting=True) is None


@pytest.mark.parametrize("rows", [1, 300, TINY_ROWS, SMALL_ROWS])
def test_a_reader_finds_few_deltas_while_nothing_waits(rows: int) -> None:
    """A thousand publications: a table has few parts at any time, and merging costs what a few publications do."""
    parts = [replace(part(0, 10_000 * SMALL_ROWS, kind="base"), base=True)]
    published = written = most = 0
    for number in range(1, 1_000):
        parts.append(part(number, rows))
        published += max(rows, TINY_ROWS)
        if merge := due("decisions", TableParts(("id",), parts), TODAY, resting=True):
            assert not merge.base
            parts = merged(parts, merge)
            written += max(parts[-1].rows, TINY_ROWS)
        most = max(most, len(parts))
    assert most <= 10
    assert written <= 10 * published


def test_an_ended_day_is_one_part_while_nothing_waits() -> None:
    """There is time then to leave fewer parts than otherwise."""
    parts = [part(number, SMALL_ROWS) for number in range(DAY_PARTS)]
    tomorrow = TODAY + timedelta(days=1)
    assert due("spans", TableParts(parts=parts), tomorrow) is None
    assert due("spans", TableParts(parts=parts), tomorrow, resting=True) == Merge("spans", tuple(parts), base=False)


def test_very_large_parts_are_not_made() -> None:
    """A merge takes no more parts than make a large one."""
    left = after([part(number, LARGE_ROWS // 4) for number in range(50)], TODAY + timedelta(days=1))
    assert max(each.rows for each in left) == LARGE_ROWS


def test_compacting_ends_though_parts_keep_coming() -> None:
    """What came after the request need not be merged for it."""
    parts = [part(number, 1) for number in range(5)]
    left = after([*parts, part(9, 1)], upto=4)
    assert sorted((each.seq, each.rows) for each in left) == [(4, 5), (9, 1)]
