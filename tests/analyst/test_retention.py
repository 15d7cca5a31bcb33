"""What leaves the lake, and what does not."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from analyst_life import Life
from docs.pages import on_page
from otlp import S, payload, read, write
from weaklink_processor.analyst.step import GRACE
from weaklink_processor.emit.evaluator import ISSUED_SCHEMA
from weaklink_processor.lake.parts import Part
from weaklink_processor.lake.retention import FOR_EVER, Retention, too_much
from weaklink_service import tables

DAY_1 = datetime(2026, 9, 1, 12, tzinfo=UTC)
TWO_DAYS = Retention(age=timedelta(days=2))
AGING = {"spans"}
"""Of the tables that `tables` reads, those whose rows leave."""


def day(number: int) -> datetime:
    return DAY_1 + timedelta(days=number - 1)


STORY: Mapping[int, list[S]] = {
    1: [
        write(1, 1, "triage", 0.3, 1),
        read(1, 2, "triage", 0.3, 2),
        S(2, 1, "tool call", start=3, end=4),
        S(2, 2, "tool call", parent=1, start=3, end=4),
    ],
    4: [write(3, 1, "diagnosis", 0.9, 10, parents=["triage"])],
    5: [
        read(1, 3, "triage", 0.3, 20),  # late, in a trace that left
        write(1, 1, "triage", 0.3, 1),  # once more
        S(4, 1, "tool call", start=21, end=22),
    ],
}


def tell(
    folder: Path, retention: Retention, counted: Counter[str] | None = None
) -> dict[str, list[tuple[object, ...]]]:
    """What is in the tables when the story has been told, a step a day."""
    folder.mkdir()
    numbers: Counter[str] = Counter() if counted is None else counted
    with Life(folder, DAY_1, retention, lambda reason, spans: numbers.update({reason: spans})) as life:
        for number, spans in STORY.items():
            life.receive([payload(spans)], day(number))
            life.settle(day(number))
    return tables(folder)


def query(folder: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(str(folder / "weaklink.duckdb"), read_only=True) as catalogue:
        return catalogue.execute(sql).fetchall()


def test_old_spans_leave_and_what_is_known_of_memory_stays(tmp_path: Path) -> None:
    """Spans received longer ago than the retention are gone; every other table is as if none had left, also where newer
    spans build on old memories, go on with old traces, or come again."""
    counted: Counter[str] = Counter()
    kept, aged = tell(tmp_path / "kept", FOR_EVER), tell(tmp_path / "aged", TWO_DAYS, counted)
    for table in kept.keys() - AGING:
        assert aged[table] == kept[table], table
    assert (len(kept["spans"]), len(aged["spans"])) == (7, 3)
    assert counted == {"age": 4}
    assert query(tmp_path / "aged", "SELECT effective_confidence FROM memories WHERE memory_id = 'diagnosis'") == [
        (0.3,)
    ]
    revisions = "SELECT trace_id[-1:], revision FROM evaluation_history WHERE scope = 'trace' ORDER BY ALL"
    assert query(tmp_path / "aged", revisions) == [("3", 1)]


def test_what_a_poisoned_memory_reached_is_known_when_its_spans_have_left(tmp_path: Path) -> None:
    """The questions of docs/incident.md have the answers that they had before."""
    tell(tmp_path / "kept", FOR_EVER)
    tell(tmp_path / "aged", TWO_DAYS)
    asked = [
        block.text.replace("triage-1", "triage") for block in on_page("docs/incident.md") if block.language == "sql"
    ]
    answers = [query(tmp_path / "kept", question) for question in asked]
    assert all(answers[1:])  # nothing here names it without meaning it
    assert [query(tmp_path / "aged", question) for question in asked] == answers


def test_only_traces_that_touch_memory_are_remembered(tmp_path: Path) -> None:
    """The analysis forgets old spans of traces without memory; of the others it keeps what late spans need."""
    tell(tmp_path / "aged", TWO_DAYS)
    with Life(tmp_path / "aged", day(5)) as life:
        found = life.state.connection.execute("SELECT trace, span FROM span_index ORDER BY ALL").fetchall()
    assert [(trace.int, span) for trace, span in found] == [(1, 1), (1, 2), (1, 3), (3, 1), (4, 1)]


def issue(life: Life, number: int) -> None:
    """Put an EVALUATOR span into the outbox, as on that day."""
    row = {"trace_id": bytes(16), "span_id": number, "span": b"s", "service_name": "", "environment": ""}
    life.state.issue(pa.Table.from_pylist([row | {"scope": "trace"}], ISSUED_SCHEMA))
    made_at = day(number).timestamp()
    life.state.connection.execute("UPDATE issued SET made_at = ? WHERE span = ?", [made_at, number])
    life.state.connection.execute("UPDATE outbox SET made_at = ? WHERE seq = ?", [made_at, number])


def known(life: Life) -> list[int]:
    """The own spans that would not be taken for somebody's if they came back."""
    return [span for (span,) in life.state.connection.execute("SELECT span FROM issued ORDER BY ALL").fetchall()]


def test_own_spans_are_known_for_as_long_as_they_may_come_back(tmp_path: Path) -> None:
    """That is a day longer than spans of the day on which they were made are kept, and while they wait to be sent."""
    with Life(tmp_path, DAY_1, TWO_DAYS) as life:
        for number in range(1, 8):
            issue(life, number)
        life.receive([payload(STORY[1])], day(1))
        life.settle(day(3))
        assert known(life) == [1, 2, 3, 4, 5, 6, 7]
        life.state.prune(1, 0)  # the second waits on
        life.receive([payload(STORY[4])], day(4))
        life.settle(day(4))
        assert known(life) == [2, 3, 4, 5, 6, 7]
        life.state.prune(7, 0)
        life.receive([payload(STORY[5])], day(5))
        life.settle(day(7))
        assert known(life) == [4, 5, 6, 7]
        life.settle(day(8))
        assert known(life) == [7]


def test_own_spans_are_forgotten_where_no_span_is_kept(tmp_path: Path) -> None:
    """A bound that leaves room for none does not keep their ids for ever."""
    with Life(tmp_path, DAY_1, Retention(max_bytes=1)) as life:
        issue(life, 1)
        life.state.prune(1, 0)
        for number, expected in ((1, [1]), (2, [1]), (4, [])):
            life.receive([payload([S(number, 1, "tool call", start=number, end=number + 1)])], day(number))
            life.settle(day(number))
            assert known(life) == expected


def test_own_spans_of_a_state_of_before_are_known(tmp_path: Path) -> None:
    """In a file that does not say when they were made they count as made when it is opened."""
    with Life(tmp_path, DAY_1) as life:
        issue(life, 1)
        life.state.prune(1, 0)
    with duckdb.connect(str(tmp_path / "state.duckdb")) as before:
        before.execute("ALTER TABLE issued DROP COLUMN made_at")
    opened = datetime.now(UTC)
    with Life(tmp_path, DAY_1) as life:
        life.state.forget_issued(opened - timedelta(hours=1))
        assert known(life) == [1]
        life.state.forget_issued(opened + timedelta(hours=1))
        assert known(life) == []


def test_a_reader_has_its_time_to_go_on(tmp_path: Path) -> None:
    """Who opened the catalogue before spans left reads them for the grace time; after it their files are gone."""
    with Life(tmp_path, DAY_1, TWO_DAYS) as life:
        life.receive([payload(STORY[1])], day(1))
        life.settle(day(1))
        with duckdb.connect(str(tmp_path / "weaklink.duckdb"), read_only=True) as reader:
            assert reader.execute("SELECT count(*) FROM spans").fetchall() == [(4,)]
            life.settle(day(4))
            assert reader.execute("SELECT count(*), count(name) FROM spans").fetchall() == [(4, 4)]
        assert query(tmp_path, "SELECT count(*) FROM spans") == [(0,)]
        old = tmp_path / "lake/spans/date=2026-09-01"
        assert len(list(old.iterdir())) == 2
        life.settle(day(4) + GRACE + timedelta(minutes=2))
        assert [file.name for file in old.iterdir()] == ["part-000000000001.parquet"]


def test_a_lake_that_is_too_large_loses_its_oldest_spans(tmp_path: Path) -> None:
    """The oldest spans leave until what counts fits, newer ones and what is known of memory stay."""
    tell(tmp_path / "kept", FOR_EVER)
    with Life(tmp_path / "kept", day(5)) as life:
        parts = life.state.parts()
        oldest = next(part for part in parts if part.table == "spans" and part.rows)
    counted: Counter[str] = Counter()
    bound = Retention(max_bytes=sum(part.bytes for part in parts) - oldest.bytes)
    with Life(tmp_path / "kept", day(5), bound, lambda reason, spans: counted.update({reason: spans})) as life:
        life.settle(day(5))
        assert sum(part.bytes for part in life.state.parts()) <= (bound.max_bytes or 0)
    assert counted == {"size": 4}
    assert query(tmp_path / "kept", "SELECT count(*) FROM spans") == [(3,)]
    assert query(tmp_path / "kept", "SELECT count(*) FROM memories") == [(2,)]


def test_a_restart_with_nothing_left_still_has_its_columns(tmp_path: Path) -> None:
    """A bound that no table of memory fits in takes all spans, and the views go on."""
    with Life(tmp_path, DAY_1, Retention(max_bytes=1)) as life:
        life.receive([payload(STORY[1])], day(1))
        life.settle(day(1))
    with Life(tmp_path, day(2), Retention(max_bytes=1)) as life:
        life.settle(day(2))
    assert query(tmp_path, "SELECT count(*), count(attributes) FROM spans") == [(0, 0)]
    assert query(tmp_path, "SELECT memory_id FROM memories") == [("triage",)]


PARTS = st.lists(
    st.builds(
        lambda table, number, rows, size: Part(
            table, f"{table}/date=2026-09-0{number}/p", number, rows, size, base=False
        ),
        st.sampled_from(["spans", "memory_versions", "evaluation_history"]),
        st.integers(1, 9),
        st.integers(0, 2),
        st.integers(1, 50),
    ),
    max_size=8,
)


@given(PARTS, st.integers(1, 300))
def test_no_more_leaves_than_has_to(parts: list[Part], most: int) -> None:
    """What leaves is the oldest spans, as few parts as make the rest fit, or all if it cannot."""
    gone = too_much(parts, Retention(max_bytes=most))
    total = sum(part.bytes for part in parts)
    spans = sorted((part for part in parts if part.table == "spans" and part.rows), key=lambda part: part.day)
    assert [part.day for part in gone] == [part.day for part in spans[: len(gone)]]
    assert total - sum(part.bytes for part in gone) <= most or len(gone) == len(spans)
    assert not gone or total - sum(part.bytes for part in gone[:-1]) > most


def test_a_day_leaves_when_all_of_it_is_old(tmp_path: Path) -> None:
    """With a retention of two days, what was received on the 1st is there until the 3rd ends."""
    with Life(tmp_path, DAY_1, TWO_DAYS) as life:
        life.receive([payload(STORY[1])], day(1))
        for moment, left in ((datetime(2026, 9, 3, 23, 59, tzinfo=UTC), 4), (datetime(2026, 9, 4, tzinfo=UTC), 0)):
            life.settle(moment)
            assert query(tmp_path, "SELECT count(*) FROM spans") == [(left,)]
    assert date(2026, 9, 1) == DAY_1.date()
