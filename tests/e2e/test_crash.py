"""Nothing acknowledged is lost, doubled or analysed otherwise when processes are killed."""

import os
import random
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import pytest

from e2e.clients import Load
from e2e.settled import assert_equal, undisturbed, wait_for_tables
from e2e.workload import keys, workload
from sink import OtlpSink
from weaklink_service import SENT, Service, tables, wait_until

REQUESTS = 200
KILLS = 3
BUSY = {"WEAKLINK_ANALYSIS__PUBLISH_INTERVAL": "0.05"}
"""So that the analyst is hardly ever idle when it is killed."""
SEED_VARIABLE = "CRASH_SEED"
"""To repeat a run: the seed that it printed."""


@pytest.fixture
def rng() -> random.Random:
    seed = int(os.environ.get(SEED_VARIABLE, "0")) or random.SystemRandom().randrange(1, 1 << 32)
    print(f"{SEED_VARIABLE}={seed}")  # noqa: T201
    return random.Random(seed)


@pytest.mark.parametrize("victims", [("receiver",), ("analyst",), ("receiver", "analyst")], ids="+".join)
def test_kill(victims: tuple[str, ...], rng: random.Random, tmp_path: Path) -> None:
    """After SIGKILLs at random moments each acknowledged span is there once, and tables are as without them.

    The same after an orderly restart.
    """
    requests = workload(rng.randrange(1 << 32), REQUESTS)
    with Service(tmp_path / "data", settings=BUSY) as service:
        acknowledged = _load_and_kill(service, requests, victims, rng)
        expected = undisturbed(requests, tmp_path)
        wait_for_tables(service, expected)
        _assert_each_once(service, acknowledged)
        assert service.stop() == 0
        service.start()
        assert_equal(tables(service.data_dir), expected)


def test_kill_while_forwarding(rng: random.Random, tmp_path: Path) -> None:
    """After SIGKILLs of both at random moments the forward endpoint gets each acknowledged span, and each verdict."""
    requests = workload(rng.randrange(1 << 32), REQUESTS)
    with OtlpSink() as sink, Service(tmp_path / "data", forward=sink.endpoint, settings=BUSY) as service:
        acknowledged = _load_and_kill(service, requests, ("receiver", "analyst"), rng)
        wait_for_tables(service, undisturbed(requests, tmp_path))
        _assert_each_once(service, acknowledged)
        wait_until(lambda: keys(acknowledged) <= keys(sink.requests), "every acknowledged span at the sink")
        revisions = service.count(SENT)
        wait_until(lambda: len(keys(sink.requests)) >= len(keys(requests)) + revisions, "every verdict at the sink")
        assert len(keys(sink.requests)) == len(keys(requests)) + revisions


def _load_and_kill(
    service: Service, requests: Sequence[bytes], victims: Sequence[str], rng: random.Random
) -> list[bytes]:
    """The requests that were acknowledged while victims were killed now and then: all, since clients try again."""
    with Load(service, requests, pause=0.05) as load:
        for progress in sorted(rng.sample(range(5, REQUESTS - 20), KILLS)):
            _wait_for_progress(load, progress)
            time.sleep(rng.uniform(0, 0.3))
            for victim in rng.sample(victims, len(victims)):
                _kill(service, victim)
    return load.acknowledged


def _wait_for_progress(load: Load, count: int) -> None:
    wait_until(lambda: len(load.acknowledged) >= count, f"{count} acknowledged requests")


def _kill(service: Service, victim: str) -> None:
    """SIGKILL one that is there, which it soon is again after an earlier kill."""
    wait_until(lambda: service.child(victim), f"a {victim} to kill")
    process = service.child(victim)
    assert process
    service.kill(victim)
    assert psutil.wait_procs([process], timeout=5)[1] == []


def _assert_each_once(service: Service, acknowledged: list[bytes]) -> None:
    rows = service.query("SELECT trace_id, span_id FROM spans")
    wanted = keys(acknowledged)
    found = wanted & {(str(trace_id), str(span_id)) for trace_id, span_id in rows}
    doubled = len(rows) - len(set(rows))
    print(f"acknowledged {len(wanted)}, found {len(found)}, doubled {doubled}")  # noqa: T201
    assert (len(acknowledged), found, doubled) == (REQUESTS, wanted, 0)
