"""What judging costs: traces with ten memory spans each, structurally and by decision, against the reference.

    python bench/evaluate.py [--traces 10000] [--rounds 5] [--profile]

A trace is an agent run: five memories are written, each derived from up to two before it, and five are read; so it has
one decision, one structural evaluation, and one more of its session. The reference, memledger 2.0.1, gets the same
spans and records as the mappings that its functions take.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import duckdb
import evaluators
import pyarrow as pa

from load import Attributes, Trace, request_of
from weaklink_analysis.engine import Engine
from weaklink_analysis.operations import Settings
from weaklink_analysis.recognition import Recogniser
from weaklink_processor.decode.batch import decode

PAIRS = 5
"""Writes, and reads, of a trace."""
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def traces(count: int, rng: Random) -> Iterator[Trace]:
    """Yield traces as the names and attributes of their spans, the run's own first."""
    for number in range(count):
        agent, session = f"agent-{rng.randrange(40)}", f"session-{number}"
        spans: Trace = [("invoke_agent", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.id": agent})]
        known: list[tuple[str, float]] = []
        for place in range(PAIRS):
            memory = (f"m-{number}-{place}", round(rng.random(), 3))
            parents = [known_id for known_id, _ in rng.sample(known, min(len(known), rng.randrange(3)))]
            known.append(memory)
            read = rng.choice(known)
            for verb, (memory_id, confidence), derived in (("add", memory, parents), ("recall", read, [])):
                attributes: Attributes = {
                    "memledger.memory.operation": verb,
                    "memledger.memory.id": memory_id,
                    "memledger.memory.confidence": confidence,
                    "memledger.memory.source_agent_id": agent,
                    "memledger.memory.session_id": session,
                    "memledger.memory.hedged": rng.random() < 0.2,  # noqa: PLR2004
                    "memledger.memory.parent_ids": json.dumps(derived),
                }
                spans.append((f"memledger.memory.{verb}", attributes))
        yield spans


def engine_with(payload: bytes, statements: dict[str, float] | None) -> Engine:
    """An engine that has absorbed a request."""
    connection = duckdb.connect(config={"threads": 1})
    engine = Engine(connection, Settings())
    batch = Recogniser(duckdb.connect(config={"threads": 1})).recognise(decode([payload]))
    engine.start()
    engine.sift(batch, 0, lambda _: {})
    received = pa.repeat(NOW - timedelta(minutes=1), len(batch))
    engine.admit(batch, pa.array(range(len(batch)), pa.int64()), received, [])
    engine.absorb()
    if statements is not None:
        watch(engine, statements)
    return engine


def watch(engine: Engine, statements: dict[str, float]) -> None:
    """Add up the CPU time of each of the engine's models."""
    for method in ("_temp", "_run"):
        run = getattr(engine, method)

        def timed(name: str, *rest: Any, _run: Callable[..., None] = run, **named: Any) -> None:
            before = time.process_time()
            _run(name, *rest, **named)
            statements[name] = statements.get(name, 0.0) + time.process_time() - before

        setattr(engine, method, timed)


def reference(made: list[Trace]) -> None:
    """Judge the same with the reference's functions: each trace's spans, and the records read in it."""
    for trace in made:
        evaluators.evaluate_structural([{"name": name, "attributes": attributes} for name, attributes in trace])
        records = [
            {
                "id": a["memledger.memory.id"],
                "created_by": a["memledger.memory.source_agent_id"],
                "confidence": a["memledger.memory.confidence"],
                "session_id": a["memledger.memory.session_id"],
                "hedged": a["memledger.memory.hedged"],
            }
            for name, a in trace
            if name.endswith("recall")
        ]
        evaluators.evaluate_attribution_integrity("decision", records, None)


@contextmanager
def cpu(seconds: list[float]) -> Iterator[None]:
    """Add the CPU-seconds of the block."""
    before = time.process_time()
    yield
    seconds.append(time.process_time() - before)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    chosen = parser.parse_args()
    made = list(traces(chosen.traces, Random(0)))
    payload = request_of(made)
    ours, theirs = list[float](), list[float]()
    statements: dict[str, float] | None = {} if chosen.profile else None
    for _ in range(chosen.rounds):
        engine = engine_with(payload, statements)
        with cpu(ours):
            revisions = engine.evaluate(NOW, timedelta(seconds=5))
        with cpu(theirs):
            reference(made)
    print(f"{chosen.traces:,} traces of {2 * PAIRS} memory spans, {revisions:,} evaluations (trace, decision, session)")
    for name, seconds in (("weaklink", ours), ("memledger", theirs)):
        print(f"{name:<10} {statistics.median(seconds):.2f} CPU-s (best {min(seconds):.2f})")
    print(f"memledger / weaklink: {statistics.median(theirs) / statistics.median(ours):.1f}")
    for name, took in sorted((statements or {}).items(), key=lambda item: -item[1]):
        print(f"  {name:<24} {took / chosen.rounds:.3f} CPU-s")


if __name__ == "__main__":
    main()
