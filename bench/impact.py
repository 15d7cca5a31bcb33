"""What `weaklink impact` and `weaklink chain` take on a million stored versions, each as a process of its own.

    python bench/impact.py [--versions 1000000] [--runs 5] [--folder F]

Agents write memories that they derive from up to two recent ones of their project, and read one: a trace is a run with
five of each. One project has 1,000 traces, all others 20. The spans are replayed into a data folder, as a user does it.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

import duckdb

from load import Attributes, Trace, request_of
from machine import MILLION, machine
from weaklink_processor.queue import framing

WEAKLINK = (sys.executable, "-m", "weaklink_processor")
WRITES = 5
"""Of a trace, and as many reads."""
LARGE, SMALL = 1_000, 20
"""Traces of the first project, and of each other."""
RECENT = 200
"""Memories of a project that may be read and built upon."""
TRACES_PER_REQUEST = 50


def traces(versions: int, rng: Random) -> Iterator[Trace]:
    """Yield traces as the names and attributes of their spans, the run's own first."""
    recent: deque[str] = deque(maxlen=RECENT)
    left = LARGE
    for number in range(versions // WRITES):
        if not left:
            recent.clear()
            left = SMALL
        left -= 1
        agent = f"agent-{rng.randrange(40)}"
        spans: Trace = [("invoke_agent", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.id": agent})]
        for place in range(WRITES):
            parents = rng.sample(recent, min(len(recent), rng.randrange(1, 3)))
            recent.append(f"m-{number}-{place}")
            for verb, memory, derived in (("add", recent[-1], parents), ("recall", rng.choice(recent), [])):
                spans.append((f"memledger.memory.{verb}", _memory(verb, memory, derived, agent, number)))
        yield spans


def _memory(verb: str, memory: str, parents: list[str], agent: str, session: int) -> Attributes:
    listed = ",".join(f'"{parent}"' for parent in parents)
    return {
        "memledger.memory.operation": verb,
        "memledger.memory.id": memory,
        "memledger.memory.confidence": 0.5 + session % 50 / 100,
        "memledger.memory.source_agent_id": agent,
        "memledger.memory.session_id": f"session-{session}",
        "memledger.memory.parent_ids": f"[{listed}]",
    }


def write(path: Path, versions: int) -> None:
    """Make a file that `weaklink replay` reads."""
    made, number = traces(versions, Random(0)), 1
    with path.open("wb") as file:
        while some := list(islice(made, TRACES_PER_REQUEST)):
            file.write(framing.join([request_of(some, number)]))
            number += len(some)


def asked(folder: Path) -> dict[str, int]:
    """Memories to ask about, by how many versions were derived from them: the most there are, and a dozen or so."""
    with duckdb.connect(folder / "weaklink.duckdb", read_only=True, config={"threads": 1}) as catalogue:
        # What was written early in a project reaches most of it.
        early = [f"m-{number}-{place}" for number in (*range(8), *range(LARGE, LARGE + 8)) for place in range(WRITES)]
        reached = {
            memory: catalogue.execute("SELECT count(*) FROM impact_of(?) WHERE kind = 'version'", [memory]).fetchall()
            for memory in early
        }
    sizes = {memory: rows[0][0] for memory, rows in reached.items()}
    most, few = max(sizes, key=sizes.__getitem__), min(sizes, key=lambda memory: abs(sizes[memory] - 12))
    return {few: sizes[few], most: sizes[most]}


def timed(*arguments: str) -> tuple[float, str]:
    """Seconds that the command takes, and the last line it prints."""
    began = time.perf_counter()
    done = subprocess.run([*WEAKLINK, *arguments], check=True, capture_output=True, text=True)
    return time.perf_counter() - began, done.stdout.rstrip().rpartition("\n")[2]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--versions", type=int, default=MILLION)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where files are made, and left; default: a temporary folder")
    chosen = parser.parse_args()
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    with tempfile.TemporaryDirectory(prefix="weaklink-impact-") as temporary:
        folder = chosen.folder or Path(temporary)
        file, data = folder / "spans.binpb", folder / "data"
        if not data.exists():
            write(file, chosen.versions)
            taken, said = timed("replay", str(file), "--data-dir", str(data))
            file.unlink()
            print(f"replayed in {taken:.0f} s: {said}")
        for memory, size in asked(data).items():
            for command in (("impact",), ("impact", "--what-if", "0.1"), ("chain",)):
                times = sorted(timed(*command, memory, "--data-dir", str(data)) for _ in range(chosen.runs))
                print(
                    f"{' '.join(command):24} {size:6,} versions: {times[0][0]:.2f} s at best, "
                    f"{times[len(times) // 2][0]:.2f} s in the middle; {times[0][1]}"
                )


if __name__ == "__main__":
    main()
