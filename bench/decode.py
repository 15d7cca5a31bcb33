"""What decoding costs on one core: spans/s, CPU-seconds per million spans, and where they go.

    python bench/decode.py [--requests 60] [--rounds 15] [--profile]

Each request holds 512 spans of about 820 bytes and 12 attributes, with random words for text; 40 % of
them are memory spans. Besides decode(), picking the attributes that conventions read into columns is timed.
"""

import argparse
import cProfile
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from types import CodeType, FunctionType

import load
from weaklink_analysis.batch import pick_attributes
from weaklink_analysis.conventions import attributes_read
from weaklink_processor.decode import attributes, batch, columns, descriptor, entries, values
from weaklink_processor.decode.batch import decode

SPANS_PER_REQUEST = 512

STAGES: Mapping[str, Sequence[Callable[..., object]]] = {
    "ptars": [descriptor.read],
    "attributes": [attributes.decode_attributes],
    "  scalar values": [values.read_values],
    "  read singly": [entries._read_singly],  # noqa: SLF001
    "  copy keys and texts": [entries._Pool.take],  # noqa: SLF001
    "ids, times, names": [columns.span_columns, columns.key_columns],
    "events, links": [columns.event_column, columns.link_column],
    "resource and scope": [columns.resource_columns, columns.scope_columns, batch._spread],  # noqa: SLF001
}
"""Stage -> its functions; indented: a part of the stage above."""


def report(name: str, run: Callable[[], object], spans: int, rounds: int) -> None:
    """Print the median and the best CPU cost of `run`, which handles `spans` spans, after one round of warm-up."""
    run()
    seconds = []
    for _ in range(rounds):
        before = time.process_time()
        run()
        seconds.append(time.process_time() - before)
    median, best = statistics.median(seconds), min(seconds)
    print(
        f"{name:<16} {spans / median:>12,.0f} spans/s   {median / spans * 1e6:.2f} CPU-s per million spans "
        f"(best round {best / spans * 1e6:.2f})"
    )


def report_stages(requests: Sequence[bytes], spans: int, rounds: int) -> None:
    """Print the time in each stage, by cProfile, whose own cost is small: a slice takes few calls."""
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(rounds):
        decode(requests)
    profile.disable()
    took = {entry.code: entry.totaltime for entry in profile.getstats() if isinstance(entry.code, CodeType)}
    for stage, functions in {"decode": [decode], **STAGES}.items():
        total = sum(took[function.__code__] for function in functions if isinstance(function, FunctionType))
        print(f"  {stage:<20} {total / rounds / spans * 1e6:.3f} s per million spans")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    chosen = parser.parse_args()
    requests = list(islice(load.requests(SPANS_PER_REQUEST), chosen.requests))
    decoded = decode(requests)
    size = sum(map(len, requests)) / len(decoded)
    print(f"{len(decoded):,} spans of {size:.0f} bytes, {decoded.spans['trace_id'].num_chunks} slices")
    report("decode", partial(decode, requests), len(decoded), chosen.rounds)
    pick = partial(pick_attributes, decoded.spans["attributes"], attributes_read())
    report(f"pick {len(attributes_read())} keys", pick, len(decoded), chosen.rounds)
    if chosen.profile:
        report_stages(requests, len(decoded), chosen.rounds)


if __name__ == "__main__":
    main()
