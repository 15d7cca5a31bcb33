"""Nothing acknowledged is lost, doubled or analysed otherwise when processes are killed.

A chapter is a data folder that lives through many rounds, each with a SIGKILL, while clients send and try again as
exporters do; at its end every published table must be that of a run that nothing disturbs. One chapter has each kind of
kill and each point between two steps (`e2e.stops`) once, and a disk that is full twice. WEAKLINK_CRASH_ROUNDS=200 makes
as many chapters as it takes; CRASH_SEED repeats a run.
"""

import json
import os
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

import crashing
from e2e.clients import Load
from e2e.rounds import VICTIMS, Round, Rounds, of_kills, of_stops
from e2e.settled import assert_equal, undisturbed, wait_for_tables
from e2e.small_disk import NoDisk, SmallDisk, run_inside, small_disk
from e2e.stops import POINTS, Stops
from e2e.workload import SpanKey, keys, workload
from sink import OtlpSink
from weaklink_processor.queue.store import QueueStats, QueueStore
from weaklink_service import SENT, Service, tables, wait_until

ROUNDS_VARIABLE = "WEAKLINK_CRASH_ROUNDS"
ROUNDS = int(os.environ.get(ROUNDS_VARIABLE, "0"))
SEED_VARIABLE = "CRASH_SEED"
"""To repeat a run: the seed that it printed."""

BUSY = {"WEAKLINK_ANALYSIS__PUBLISH_INTERVAL": "0.05"}
"""So that the analyst is hardly ever idle when it is killed."""
MORE_THAN_ENOUGH = 8000
"""Requests of a chapter; what is not sent by its end is not sent."""
PAUSE = 0.15
"""Seconds that each of four clients waits between requests."""
PARTS = 3
"""In so many chapters of a kind every point has its turn."""
KEY = """
    name, scope, if(scope = 'session', environment || session_id, trace_id), if(scope = 'decision', span_id, ''), rubric
"""
"""Of an evaluation; the span of a trace's evaluation may be another in a later revision."""
EXTRA = f"""
    SELECT {KEY}, revision FROM evaluation_history GROUP BY ALL HAVING count(*) > 1
    UNION ALL
    SELECT {KEY}, max(revision) FROM evaluation_history GROUP BY ALL HAVING max(revision) <> count(*)
"""
"""Revisions that are there twice, or without all those before them."""
TOLD = f"SELECT {KEY}, revision FROM {SENT}"


@dataclass(frozen=True, slots=True)
class Chapter:
    """How one service lives."""

    rounds: Sequence[Round]
    forwarding: bool
    full: bool
    """On a small disk, which is full at times."""


@dataclass
class Tally:
    """What the test prints, of a chapter or of all."""

    rounds: int = 0
    requests: int = 0
    acknowledged: int = 0
    found: int = 0
    doubled: int = 0

    def __iadd__(self, other: "Tally") -> Self:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)
        return self

    @classmethod
    def read(cls, printed: str) -> Self:
        """The last one that was printed."""
        return cls(*map(int, re.findall(r"\d+", printed[printed.rindex("rounds ") :].partition("\n")[0])))

    def __str__(self) -> str:
        return (
            f"rounds {self.rounds}, requests {self.requests}, spans acknowledged {self.acknowledged}, "
            f"found {self.found}, doubled {self.doubled}"
        )


def chapters() -> list[Chapter]:
    """A short one without a number of rounds, else as many as it takes, of four kinds in turn."""
    if not ROUNDS:
        kills = [Round(victims, full=bool(number % 2)) for number, victims in enumerate(VICTIMS)]
        return [Chapter([*kills, *of_stops(forwarding=True)], forwarding=True, full=True)]
    made: list[Chapter] = []
    while sum(len(chapter.rounds) for chapter in made) < ROUNDS:
        forwarding, full = bool(len(made) % 2), len(made) % 4 < 2
        stops = of_stops(forwarding=forwarding, part=len(made) // 2 % PARTS, parts=PARTS)
        made.append(Chapter([*of_kills(full=full), *stops], forwarding, full))
    return made


@pytest.fixture(scope="module")
def total() -> Iterator[Tally]:
    tally = Tally()
    yield tally
    print(f"in all: {tally}")  # noqa: T201


@pytest.fixture
def rng() -> random.Random:
    seed = int(os.environ.get(SEED_VARIABLE, "0")) or random.SystemRandom().randrange(1, 1 << 32)
    print(f"{SEED_VARIABLE}={seed}")  # noqa: T201
    return random.Random(seed)


def test_points_are_at_what_there_is() -> None:
    """The functions and constants that the program under test changes have these names."""
    points = {point.split(" ", 1)[1] for points in POINTS.values() for point in points}
    for name in (*filter(crashing.is_function, points), *crashing.TIDY):
        crashing.found(name)


@pytest.mark.timeout(3600 if ROUNDS else 600)
@pytest.mark.parametrize("chapter", chapters())
def test_crashes(
    chapter: Chapter, rng: random.Random, tmp_path: Path, total: Tally, request: pytest.FixtureRequest
) -> None:
    """After each SIGKILL and full disk the service recovers; in the end each acknowledged span is there once, tables
    are as without them, and a forward endpoint has each request, and each verdict under one id."""
    data_dir, rounds, disk = tmp_path / "data", chapter.rounds, None
    with ExitStack() as stack:
        try:
            disk = stack.enter_context(small_disk(data_dir)) if chapter.full else None
        except NoDisk:
            with suppress(NoDisk):
                total += Tally.read(run_inside(request.node.nodeid, **{ROUNDS_VARIABLE: str(ROUNDS)}))
                return
            rounds = [each for each in rounds if not each.full]
        total += _lived(stack, data_dir, rounds, disk, rng, forwarding=chapter.forwarding)
    if chapter.full and not disk:
        pytest.skip("passed, but without a full disk: neither root nor `unshare -Urm` may mount one")


def _lived(
    stack: ExitStack,
    data_dir: Path,
    rounds: Sequence[Round],
    disk: SmallDisk | None,
    rng: random.Random,
    *,
    forwarding: bool,
) -> Tally:
    """Let a service live through the rounds, and hold its tables against those of an undisturbed run."""
    requests, stops = workload(rng.randrange(1 << 32), MORE_THAN_ENOUGH), Stops(data_dir.with_name("stops"))
    sink = stack.enter_context(OtlpSink()) if forwarding else None
    service = stack.enter_context(
        Service(data_dir, sink.endpoint if sink else None, BUSY | stops.environment, [crashing.__file__])
    )
    with Load(service, requests, PAUSE) as load:
        under_load = Rounds(service, load, stops, disk, rng)
        for each in rng.sample(rounds, len(rounds)):
            print(each, flush=True)  # noqa: T201
            under_load.run(each)
        load.finish()
    expected = undisturbed(load.acknowledged, data_dir.parent)
    try:
        wait_for_tables(service, expected, patience=120)
    finally:
        tally = _tally(service, load.acknowledged, len(rounds))
        print(tally)  # noqa: T201
    assert (tally.found, tally.doubled) == (tally.acknowledged, 0), tally
    assert service.query(EXTRA) == []
    if sink:
        _assert_all_sent(service, sink, keys(load.acknowledged))
    assert service.stop() == 0
    assert_equal(tables(data_dir), expected)
    left = _queue(data_dir)
    assert (left.rows, left.quarantined) == (0, 0)
    return tally


def _tally(service: Service, acknowledged: Sequence[bytes], rounds: int) -> Tally:
    rows = service.query("SELECT trace_id, span_id FROM spans")
    wanted = keys(acknowledged)
    found = wanted & {(str(trace_id), str(span_id)) for trace_id, span_id in rows}
    return Tally(rounds, len(acknowledged), len(wanted), len(found), len(rows) - len(set(rows)))


def _assert_all_sent(service: Service, sink: OtlpSink, acknowledged: set[SpanKey]) -> None:
    """Requests arrived at least once. So did each verdict: always under the same id, and always the same."""
    told = set(service.query(TOLD))
    wait_until(lambda: acknowledged <= keys(sink.requests), "every acknowledged span at the sink")
    wait_until(lambda: {_verdict(span) for span in sink.spans() if _is_verdict(span)} >= told, "every verdict")
    spans: dict[object, set[bytes]] = defaultdict(set)
    ids: dict[object, set[bytes]] = defaultdict(set)
    for span in filter(_is_verdict, sink.spans()):
        spans[_verdict(span)].add(span.SerializeToString())
        ids[span.trace_id, span.span_id].add(span.SerializeToString())
    assert set(spans) == told
    assert {len(each) for each in spans.values()} == {len(each) for each in ids.values()} == {1}


def _is_verdict(span: Span) -> bool:
    return span.name.startswith("evaluators.mai_")


def _verdict(span: Span) -> tuple[object, ...]:
    """As a row of TOLD."""
    values = {each.key: each.value.string_value for each in span.attributes}
    about = json.loads(values["annotations.0.annotation.metadata"])
    target = span.parent_span_id.hex() if about["scope"] == "decision" else ""
    return values["eval.name"], about["scope"], span.trace_id.hex(), target, about["rubric"], about["revision"]


def _queue(data_dir: Path) -> QueueStats:
    queue = QueueStore.open(data_dir / "queue.sqlite", max_bytes=1 << 30)
    try:
        return queue.stats()
    finally:
        queue.close()
