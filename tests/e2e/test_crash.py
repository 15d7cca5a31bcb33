"""Nothing acknowledged is lost, doubled or analysed otherwise when processes are killed."""

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from e2e.clients import Load
from e2e.settled import assert_equal, undisturbed, wait_for_tables
from e2e.workload import keys, workload
from sink import OtlpSink
from weaklink_service import Service, tables, wait_until

REQUESTS = 200
KILLS = 3
SEED_VARIABLE = "CRASH_SEED"
"""To repeat a run: the seed that it printed."""


@pytest.fixture
def rng() -> random.Random:
    seed = int(os.environ.get(SEED_VARIABLE, 0)) or random.SystemRandom().randrange(1, 1 << 32)
    print(f"{SEED_VARIABLE}={seed}")  # noqa: T201
    return random.Random(seed)


@pytest.fixture
def sink() -> Iterator[OtlpSink]:
    with OtlpSink() as sink:
        yield sink


@pytest.mark.parametrize("victims", [("receiver",), ("analyst",), ("receiver", "analyst")], ids="+".join)
def test_kill(victims: tuple[str, ...], rng: random.Random, sink: OtlpSink, tmp_path: Path) -> None:
    """After SIGKILLs at random moments each acknowledged span is there once, and tables are those of an undisturbed run.

    The same after an orderly restart; and each acknowledged span reached the forward endpoint.
    """
    requests = workload(rng.randrange(1 << 32), REQUESTS)
    with Service(tmp_path / "data", forward=sink.endpoint) as service:
        with Load(service, requests, pause=0.05) as load:
            for progress in sorted(rng.sample(range(5, REQUESTS - 20), KILLS)):
                wait_until(lambda reached=progress: len(load.acknowledged) >= reached, "the next moment to kill")
                time.sleep(rng.uniform(0, 0.3))
                for victim in rng.sample(victims, len(victims)):
                    _kill(service, victim)
        expected = undisturbed(requests, tmp_path)
        wait_for_tables(service, expected)
        _assert_each_once(service, load.acknowledged)
        forwarded = keys(load.acknowledged)
        wait_until(lambda: forwarded <= keys(sink.requests), "every acknowledged span at the sink")
        assert service.stop() == 0
        service.start()
        assert_equal(tables(service.data_dir), expected)


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
