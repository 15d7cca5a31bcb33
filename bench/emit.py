"""What saying it costs an agent: CPU of each call of `weaklink_analysis.emit`, with the SDK and without."""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Tracer

from weaklink_analysis import emit

AIM = 20.0  # microseconds a call, beside the empty span that the SDK makes for it
RECORDS = '[{"id":"fix-42","content":"raise max_connections","metadata":{"confidence":0.85,"created_by":"diagnosis"}}]'


class Drops(SpanExporter):
    """Takes spans, and does nothing with them."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Say that all went well."""
        del spans
        return SpanExportResult.SUCCESS


def calls(emitter: emit.Emitter) -> dict[str, Callable[[], object]]:
    """One call of each kind, inside of an agent's run."""
    emitter.wrote("note-7", "the pool may be exhausted")

    def block() -> None:
        with emitter.memory_write("fix-42", "raise max_connections", confidence=0.85):
            pass

    def decide() -> None:
        with emitter.decision(relied_on="fix-42"):
            pass

    def run() -> None:
        with emitter.agent_run("diagnosis", session="incident-7"):
            pass

    three = [emit.record(f"note-{n}", score=0.9, confidence=0.3, created_by="triage") for n in range(3)]
    return {
        "wrote": lambda: emitter.wrote("fix-42", "raise max_connections", confidence=0.85),
        "wrote, derived from one memory": lambda: emitter.wrote(
            "fix-43", "raise max_connections", confidence=0.85, derived_from="note-7"
        ),
        "found, one record": lambda: emitter.found(three[:1]),
        "found, three records": lambda: emitter.found(three),
        "decided": lambda: emitter.decided("fix-42"),
        "with memory_write": block,
        "with decision": decide,
        "with agent_run": run,
    }


def by_hand(tracer: Tracer) -> Iterator[Callable[[], object]]:
    """What the SDK takes for a span that says nothing, and for one that says the same as `wrote`, its JSON ready."""
    said = {"gen_ai.operation.name": "create_memory", "memory.agent.id": "diagnosis", "session.id": "incident-7"}
    told = {**said, "gen_ai.memory.records": RECORDS}
    yield lambda: tracer.start_span("create_memory").end()
    yield lambda: tracer.start_span("create_memory", attributes=told).end()


def microseconds(call: Callable[[], object], rounds: int, number: int) -> float:
    """CPU of this process a call: the best round, for others may be at work on the machine."""
    taken = []
    for _ in range(rounds):
        begun = time.process_time()
        for _ in range(number):
            call()
        taken.append((time.process_time() - begun) / number)
    return min(taken) * 1e6


def main() -> None:
    """Print a table; exit 1 if a call adds more than the aim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=5_000)
    options = parser.parse_args()
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(Drops(), max_queue_size=1_000_000))
    told, silent = emit.Emitter(provider), emit.Emitter()
    worst = 0.0
    bare, same = (microseconds(call, options.rounds, options.calls) for call in by_hand(provider.get_tracer("by hand")))
    print(f"{'CPU a call, us':36} {'in all':>8} {'added':>8} {'no SDK':>8}")
    print(f"{'an empty span':36} {bare:8.1f}\n{'the span of wrote, made by hand':36} {same:8.1f} {same - bare:8.1f}")
    with told.agent_run("diagnosis", session="incident-7"):
        without = calls(silent)
        for name, call in calls(told).items():
            taken, idle = (microseconds(each, options.rounds, options.calls) for each in (call, without[name]))
            worst = max(worst, taken - bare)
            print(f"{name:36} {taken:8.1f} {taken - bare:8.1f} {idle:8.2f}")
    provider.shutdown()
    raise SystemExit(1 if worst > AIM else 0)


if __name__ == "__main__":
    main()
