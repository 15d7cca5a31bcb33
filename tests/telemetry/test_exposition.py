"""Prometheus's text format, read back by Prometheus's own parser."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from scrape import Scraped
from weaklink_processor.metrics import (
    ACCEPTED_SPANS,
    EVALUATIONS,
    INSTRUMENTS,
    LAG_SPANS,
    STEP_SECONDS,
    Reading,
    Tally,
)
from weaklink_processor.telemetry.board import BUCKETS, Board
from weaklink_processor.telemetry.exposition import exposition


class Desk:
    """A board that is read as text."""

    def __init__(self, *readings: Reading) -> None:
        self.readings: Iterable[Reading] = readings
        self._reader = InMemoryMetricReader()
        self.board = Board([self._reader], lambda: self.readings)

    def scraped(self) -> Scraped:
        return Scraped(exposition(self._reader.get_metrics_data()))


def test_names_are_as_they_are() -> None:
    """A counter has neither a unit nor `_total` appended, as the Collector shows its own."""
    desk = Desk()
    desk.board.hear({"counts": [[ACCEPTED_SPANS.name, {"receiver": "otlp", "transport": "grpc"}, 5]]})
    text = desk.scraped().text
    assert f"# TYPE {ACCEPTED_SPANS.name} counter\n" in text
    assert f'\n{ACCEPTED_SPANS.name}{{receiver="otlp",transport="grpc"}} 5\n' in text


def test_portions_add_up() -> None:
    """What processes counted since the last time is added, whoever sends it."""
    desk = Desk()
    for number in range(3):
        tally = Tally()
        tally.add(EVALUATIONS, number + 1, scope="trace", verdict="pass")
        tally.add(EVALUATIONS, 1, scope="trace", verdict="fail")
        for value in (0.01, 0.15, 100.0):
            tally.record(STEP_SECONDS, value)
        desk.board.hear(tally.take())
        assert tally.take() == {}
    scraped = desk.scraped()
    assert scraped.value(EVALUATIONS.name, verdict="pass") == 6
    assert scraped.value(EVALUATIONS.name) == 9
    buckets = {
        sample.labels["le"]: sample.value for sample in scraped.samples if sample.name == f"{STEP_SECONDS.name}_bucket"
    }
    assert list(buckets) == [*map(str, BUCKETS), "+Inf"]
    assert (buckets["0.05"], buckets["0.1"], buckets["0.2"], buckets["30.0"], buckets["+Inf"]) == (3, 3, 6, 6, 9)
    assert scraped.value(f"{STEP_SECONDS.name}_count") == 9


@given(name=st.text(st.characters(exclude_categories=["Cs"])), value=st.floats(allow_nan=False, allow_infinity=False))
def test_any_label_and_value_come_back(name: str, value: float) -> None:
    """Quotes, backslashes, line ends and any number are read as they were."""
    (sample,) = [
        sample
        for sample in Desk(Reading(LAG_SPANS, value, {"consumer": name})).scraped().samples
        if sample.name == LAG_SPANS.name
    ]
    assert (sample.labels, sample.value) == ({"consumer": name}, value)


def test_nothing_to_show_is_nothing() -> None:
    """An instrument that cannot be read now has no samples, and the others have."""
    scraped = Desk().scraped()
    assert LAG_SPANS.name not in scraped.families
    assert scraped.value(ACCEPTED_SPANS.name) == 0


def test_kinds_are_those_of_the_table() -> None:
    """Each instrument appears as the kind that it is declared as."""
    desk = Desk(*(Reading(one, 1) for one in INSTRUMENTS.values() if one.observed))
    for one in INSTRUMENTS.values():
        if one.kind == "counter" and not one.observed:
            desk.board.hear({"counts": [[one.name, {}, 1]]})
    desk.board.hear({"values": {STEP_SECONDS.name: [1.0]}})
    families = desk.scraped().families
    assert {name: families[name].type for name in INSTRUMENTS} == {one.name: one.kind for one in INSTRUMENTS.values()}
