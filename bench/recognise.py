"""What recognition costs spans that have no memory on them: the same requests with it, and without any convention.

    python bench/recognise.py [--spans-per-request 512] [--rounds 100]

Requests are decoded and recognised in turn with all conventions and with none, as the service does before it analyses
them; so what the machine does otherwise falls on both. The rule: at least 0.8 of the speed.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Iterator

import duckdb

from load import Attributes, Trace, request_of
from weaklink_analysis.recognition import Recogniser
from weaklink_processor.decode.batch import decode

LEAST = 0.8
KINDS: tuple[tuple[str, Attributes], ...] = (
    ("invoke_agent triage", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "triage"}),
    ("chat gpt", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt", "gen_ai.usage.input_tokens": 812}),
    ("execute_tool search", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}),
    ("GET /orders", {"http.request.method": "GET", "url.path": "/orders", "http.response.status_code": 200}),
    ("SELECT orders", {"db.system": "postgresql", "db.operation": "SELECT", "db.name": "shop"}),
    ("embed", {"openinference.span.kind": "EMBEDDING", "embedding.model_name": "small"}),
)
SHARED: Attributes = {
    "session.id": "s-1",
    "thread.id": 7,
    "code.function": "run",
    "server.address": "a",
    "retry": False,
}


def spans(count: int) -> Iterator[Trace]:
    """Traces of agents without memory."""
    for first in range(0, count, len(KINDS)):
        yield [(name, attributes | SHARED | {"number": first}) for name, attributes in KINDS][: count - first]


def main() -> None:
    """Measure and print; exit code 1 if it is slower than the rule."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans-per-request", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=100)
    chosen = parser.parse_args()
    request = request_of(list(spans(chosen.spans_per_request)))
    ways = {
        "all conventions": Recogniser(duckdb.connect(config={"threads": 1})),
        "none": Recogniser(duckdb.connect(config={"threads": 1}), conventions=()),
    }
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(chosen.rounds):
        for name, recogniser in ways.items():
            began = time.perf_counter()
            recogniser.recognise(decode([request]))
            taken[name].append(time.perf_counter() - began)
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    for name, seconds in medians.items():
        print(f"{name:<16} {chosen.spans_per_request / seconds:>10,.0f} spans/s")
    speed = medians["none"] / medians["all conventions"]
    print(f"speed with recognition: {speed:.2f} of that without (at least {LEAST})")
    sys.exit(speed < LEAST)


if __name__ == "__main__":
    main()
