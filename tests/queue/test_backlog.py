"""How much of the queue a consumer has still before it."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from weaklink_processor.queue.backlog import Backlog, queue_readings
from weaklink_processor.queue.outgoing import Outgoing, still_outgoing
from weaklink_processor.queue.store import QueueStore

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[QueueStore]:
    with closing(QueueStore.open(tmp_path / "queue.sqlite", max_bytes=1 << 30)) as store:
        store.register("analyst")
        store.register("away")
        yield store


def test_nothing_waits(store: QueueStore) -> None:
    """An empty queue, and one that a consumer is done with, is an empty backlog of no age."""
    assert store.backlog("analyst") == Backlog()
    store.release("analyst", store.append([b"x"], NOON))
    assert store.backlog("analyst") == Backlog()
    assert store.backlog("analyst").seconds(NOON) == 0


def test_what_waits(store: QueueStore) -> None:
    """Rows and stored bytes are those after the consumer's own offset, and its oldest row's age is its lag."""
    random = Random(3)
    offsets = [store.append([random.randbytes(5000)], NOON + timedelta(seconds=n)) for n in range(60)]
    store.release("analyst", offsets[39])
    ahead = store.backlog("analyst")
    assert (ahead.rows, ahead.oldest_received_at) == (20, NOON + timedelta(seconds=40))
    assert ahead.bytes == pytest.approx(20 * 5002)
    assert ahead.seconds(NOON + timedelta(seconds=100)) == 60
    assert store.backlog("away").rows == 60
    assert store.backlog("away").stored_bytes == store.stats().bytes


def test_readings_are_a_consumers_each(store: QueueStore) -> None:
    """Every consumer has its lag, evaluations beside the queue too; only destinations have size and capacity."""
    store.release("analyst", store.append([bytes(8000)], NOON))
    readings = list(
        queue_readings(
            store,
            capacity=77,
            destinations={"away": "there:4317", "evaluations": "there:4317"},
            outgoing={"evaluations": Outgoing("mark", 3, 2, 500, NOON.timestamp() - 1)},
            bytes_per_span=800,
            now=NOON + timedelta(seconds=9),
        )
    )
    told = {(one.instrument.name, *one.labels.values()): one.value for one in readings}
    assert told["weaklink_lag_seconds", "analyst"] == told["weaklink_lag_spans", "analyst"] == 0
    assert (told["weaklink_lag_seconds", "away"], told["weaklink_lag_spans", "away"]) == (9, 10)
    assert told["otelcol_exporter_queue_capacity", "there:4317", "traces"] == 77
    assert told["otelcol_exporter_queue_size", "there:4317", "traces"] == store.stats().bytes + 500
    lag = [told[name, "evaluations"] for name in ("weaklink_lag_seconds", "weaklink_lag_spans")]
    assert lag == [10, 2]
    assert [key for key in told if key[0].startswith("otelcol") and "analyst" in key] == []


def test_what_is_settled_waits_no_longer(store: QueueStore) -> None:
    """What the analyst told of evaluations counts until the last of them is settled."""
    told = {"evaluations:a": asdict(Outgoing("forward:a", 3, 2, 500, 1.5))}
    store.set_mark("forward:a", 2)
    assert still_outgoing(store, told)["evaluations:a"].evaluations == 2
    store.set_mark("forward:a", 3)
    assert still_outgoing(store, told) == {"evaluations:a": Outgoing("forward:a")}
