"""Agents with their own SDK, the real Collector in front and behind, kills and an outage: nothing lost, nothing loops.

    OUTAGE_SECONDS=15 make unit ARGS="-n 0 -s tests/e2e/test_collector.py"

prints what arrived. Most of the test's time is the outage.
"""

import os
import time
from pathlib import Path

import pytest

from collector.build import collector, missing
from collector.fleet import REMEMBERING, SPANS, fleet
from collector.process import Collector
from e2e.arrived import Arrived, Verdict
from sink import OtlpSink
from weaklink_service import SENT, Service, free_port, wait_until

AWAY_AT, KILLS_AT = 0.1, (0.3, 0.65)
"""When the backend goes, and when weaklink is killed: shares of the spans that weaklink has taken."""
OUTAGE_SECONDS = float(os.environ.get("OUTAGE_SECONDS", "60"))
PATIENCE = OUTAGE_SECONDS + 60
"""The Collector waits longer from try to try, up to 10 s give or take half of that."""
QUIET_SECONDS = 2.0
SETTINGS = {"WEAKLINK_ANALYSIS__QUIET_PERIOD": str(QUIET_SECONDS)}


@pytest.mark.timeout(900)  # most of it for building the Collector, where nobody has yet
def test_all_of_it_arrives_and_nothing_goes_round(tmp_path: Path) -> None:
    """With weaklink killed twice and the backend away, each span arrives, and one EVALUATOR span for each evaluation.

    What was on its way at a kill or a cut may come twice, the same in every byte.
    """
    if reason := missing():
        pytest.skip(reason)
    collector()
    from_weaklink = f"127.0.0.1:{free_port()}"
    with (
        OtlpSink() as backend,
        Service(tmp_path / "data", from_weaklink, SETTINGS) as weaklink,
        Collector(tmp_path, weaklink.grpc, from_weaklink, backend.endpoint) as between,
    ):
        began = time.monotonic()
        with fleet(tmp_path, between) as sent:
            _wait_for_share(between, AWAY_AT)
            backend.stop()
            gone = time.monotonic()
            for share in KILLS_AT:
                _wait_for_share(between, share)
                weaklink.kill_all()
                weaklink.start()
        time.sleep(max(0.0, gone + OUTAGE_SECONDS - time.monotonic()))
        away = time.monotonic() - gone
        backend.start()

        arrived = Arrived(backend)
        wait_until(lambda: arrived.originals() >= sent, "every span at the backend", PATIENCE)
        wait_until(lambda: _judged(weaklink) == REMEMBERING, "a verdict on each trace with memory operations")
        wait_until(lambda: arrived.verdicts() >= _evaluated(weaklink), "every evaluation at the backend", PATIENCE)
        took = time.monotonic() - began
        time.sleep(QUIET_SECONDS + 1)  # what went round would be taken up again, judged again and come again

        evaluated = _evaluated(weaklink)
        told = {
            "seconds": round(took), "away": round(away), "kills": len(KILLS_AT),
            "spans": len(sent), "arrived": len(arrived.originals()), "again": arrived.again(own=False),
            "evaluations": len(evaluated), "told": len(arrived.verdicts()), "told again": arrived.again(own=True),
            "to weaklink": between.sent("otlp_grpc/weaklink"), "from weaklink": between.accepted("otlp/weaklink"),
        }  # fmt: skip
        print(told)  # noqa: T201
        assert arrived.originals() == sent
        assert arrived.verdicts() == evaluated
        assert arrived.altered == set()
        assert len(sent) == weaklink.count("spans") == between.sent("otlp_grpc/weaklink") == SPANS


def _wait_for_share(between: Collector, share: float) -> None:
    wait_until(lambda: between.sent("otlp_grpc/weaklink") >= share * SPANS, f"{share:.0%} of the spans in weaklink")


def _judged(weaklink: Service) -> int:
    return weaklink.count("evaluations WHERE scope = 'trace'")


def _evaluated(weaklink: Service) -> set[Verdict]:
    rows = weaklink.query(f"SELECT h.name, h.scope, h.trace_id, h.span_id, h.revision FROM {SENT}")
    return {Verdict(*row) for row in rows}  # type: ignore[arg-type]
