"""Evaluations on their way to a server that takes annotations as Phoenix does."""

import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from emit.test_evaluator import NOT_EVALUABLE
from emit.test_worker import Sources, until
from evaluations import STRUCTURAL, Evaluation, evaluator_span
from phoenix_sink import PhoenixSink
from weaklink_processor.emit.exporter import OtlpExporter
from weaklink_processor.emit.feed import OutboxRow
from weaklink_processor.emit.patience import Patience, as_annotations
from weaklink_processor.emit.retry import Backoff
from weaklink_processor.emit.settings import ExportSettings
from weaklink_processor.emit.worker import EmitWorker
from weaklink_processor.metrics import FAILED_SPANS, SENT_SPANS, Tally

PATIENT = Patience(first_seconds=0.05, longest_seconds=0.2, total_seconds=60.0)
BRIEF = replace(PATIENT, total_seconds=0.3)
HEADERS = (("authorization", "Bearer a-key"),)


def of_trace(number: int, **change: object) -> Evaluation:
    return replace(STRUCTURAL, trace_id=f"{number:032x}", span_id=f"{number:016x}", **change)  # type: ignore[arg-type]


def of_decision(number: int, **change: object) -> Evaluation:
    return of_trace(number, scope="decision", name="memory_attribution_integrity", **change)


def of_session(name: str) -> Evaluation:
    return replace(STRUCTURAL, scope="session", session_id=name)


@dataclass
class Desk:
    """An outbox, a server, and workers from the one to the other."""

    sources: Sources
    sink: PhoenixSink
    tally: Tally
    workers: list[EmitWorker]
    room: int = 0  # what overflow() says

    def add(self, *evaluations: Evaluation) -> None:
        rows = self.sources.evaluations
        for each in evaluations:
            span = evaluator_span(each).SerializeToString()
            rows = [*rows, OutboxRow(len(rows) + 1, span, each.service_name, each.environment)]
        self.sources.evaluations = rows

    def start(self, patience: Patience = PATIENT, **settings: object) -> EmitWorker:
        backoff = Backoff(initial_seconds=0.02, max_seconds=0.1)
        exporter = OtlpExporter(
            self.sink.endpoint,
            ExportSettings(protocol="phoenix", headers=HEADERS, backoff=backoff, **settings),  # type: ignore[arg-type]
            "phoenix",
        )
        outbox = replace(self.sources.outbox(), overflow=lambda: self.room)
        worker = EmitWorker(
            exporter,
            None,
            outbox,
            poll_seconds=0.02,
            tally=self.tally,
            tell=lambda feed: as_annotations("phoenix", patience, feed),
        )
        worker.start()
        self.workers.append(worker)
        return worker

    def scores(self) -> dict[str, float | None]:
        """By target, of what the server keeps now."""
        return {key[1]: each["result"]["score"] for key, each in self.sink.kept.items()}

    def done(self) -> int:
        return self.sources.progress("outbox")

    def wait_for_counts(self, *, sent: int, failed: int) -> None:
        """They follow progress at once; more than these fail."""
        counted = Counter[str]()
        while counted.total() < sent + failed:
            counted.update({name: number for name, _, number in self.tally.take().get("counts", [])})
        assert counted == Counter({SENT_SPANS.name: sent, FAILED_SPANS.name: failed})


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with PhoenixSink() as sink:
        desk = Desk(Sources(tmp_path / "progress.sqlite"), sink, Tally(), [])
        yield desk
        for worker in desk.workers:
            worker.stop(1.0)


def test_each_goes_where_it_belongs(desk: Desk) -> None:
    """Traces, decisions and sessions have a path each; sessions go one by one; the API key goes along."""
    desk.add(*(of_trace(n) for n in range(1, 151)), *(of_decision(n) for n in range(1, 4)))
    desk.add(of_session("s-1"), of_session("s-10"))
    desk.start()
    until(lambda: desk.done() == 155)
    sizes = sorted((a.metadata[":path"], len(json.loads(a.request)["data"])) for a in desk.sink.attempts)
    assert sizes == [
        ("/v1/session_annotations?sync=true", 1),
        ("/v1/session_annotations?sync=true", 1),
        ("/v1/span_annotations?sync=true", 3),
        ("/v1/trace_annotations?sync=true", 50),
        ("/v1/trace_annotations?sync=true", 100),
    ]
    assert {attempt.metadata["authorization"] for attempt in desk.sink.attempts} == {"Bearer a-key"}
    assert len(desk.sink.kept) == 155
    desk.wait_for_counts(sent=155, failed=0)


def test_a_path_of_phoenixs_own(desk: Desk) -> None:
    """Phoenix may lie behind a path."""
    exporter = OtlpExporter(f"{desk.sink.endpoint}/phoenix/", ExportSettings(protocol="phoenix"))
    assert exporter.export(b'{"data": [{"trace_id": "a", "name": "b", "identifier": "c"}]}')
    exporter.close()
    assert desk.sink.attempts[0].metadata[":path"] == "/phoenix/v1/trace_annotations?sync=true"


def test_the_newest_revision_stands(desk: Desk) -> None:
    """Of revisions that wait together the newest is sent alone; one that comes later takes the place of the former."""
    desk.add(of_trace(1, score=0.1, revision=1), of_trace(2, score=0.2), of_trace(1, score=0.3, revision=2))
    desk.start()
    until(lambda: desk.done() == 3)
    assert (list(desk.scores().values()), len(desk.sink.attempts)) == ([0.2, 0.3], 1)
    desk.add(replace(NOT_EVALUABLE, trace_id=f"{1:032x}"))
    until(lambda: desk.done() == 4)
    assert sorted(desk.scores().items()) == [(f"{1:032x}", None), (f"{2:032x}", 0.2)]


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504, 507])
def test_retryable_codes_are_retried(desk: Desk, code: int) -> None:
    """What a server says of itself is no refusal."""
    desk.sink.fail(code, times=2)
    desk.add(of_trace(1))
    worker = desk.start()
    until(lambda: desk.done() == 1)
    assert (len(desk.sink.kept), worker.stats().retried) == (1, 2)
    desk.wait_for_counts(sent=1, failed=0)


@pytest.mark.parametrize("code", [400, 401, 403, 404, 405, 413, 422])
def test_other_codes_are_final(desk: Desk, code: int) -> None:
    """One attempt, and it counts as failed; also a 404 that names none of the ids, which is no answer of this route."""
    desk.sink.fail(code, "no such thing")
    desk.add(of_trace(1))
    worker = desk.start()
    until(lambda: desk.done() == 1)
    assert (len(desk.sink.attempts), worker.stats().failed, worker.stats().evaluations) == (1, 1, 0)
    desk.wait_for_counts(sent=0, failed=1)


def test_while_it_is_away_all_waits(desk: Desk) -> None:
    """Nobody listens, then somebody does: everything arrives."""
    desk.sink.stop()
    desk.add(*(of_trace(n) for n in range(1, 4)))
    worker = desk.start()
    until(lambda: worker.stats().away)
    assert desk.done() == 0
    desk.sink.start()
    until(lambda: desk.done() == 3)
    assert len(desk.sink.kept) == 3


def test_the_unknown_hold_nobody_up(desk: Desk) -> None:
    """Others of the request are taken at once, and later ones too; the unknown one is taken as soon as it is known.

    Progress stays before it until then.
    """
    known = {f"{number:032x}" for number in range(1, 11)}
    desk.sink.knows = known - {f"{4:032x}"}
    desk.add(*(of_trace(number) for number in range(1, 9)))
    worker = desk.start()
    until(lambda: desk.done() == 3 and len(desk.sink.kept) == 7)
    desk.add(of_trace(9), of_trace(10))
    until(lambda: len(desk.sink.kept) == 9)
    until(lambda: worker.stats().evaluations == 9)
    assert (desk.done(), worker.stats().away) == (3, False)
    desk.sink.knows = known
    until(lambda: desk.done() == 10)
    assert set(desk.scores()) == known
    desk.wait_for_counts(sent=10, failed=0)


def test_a_newer_revision_takes_the_place_of_one_that_waits(desk: Desk) -> None:
    """The one before is never sent again, so that it cannot come last."""
    desk.sink.knows = set()
    desk.add(of_trace(1, score=0.1, revision=1))
    desk.start()
    until(lambda: len(desk.sink.attempts) >= 2)
    desk.sink.knows = {f"{1:032x}"}
    desk.add(of_trace(1, score=0.2, revision=2))
    until(lambda: desk.done() == 2)
    time.sleep(0.3)
    assert list(desk.scores().values()) == [0.2]


def test_what_stays_unknown_is_given_up(desk: Desk) -> None:
    """After the time it counts as failed, one line names it, and progress goes on; it was tried more than once."""
    desk.sink.knows = {f"{2:032x}"}
    desk.add(of_trace(1), of_trace(2), of_decision(3))
    with capture_logs() as lines:
        desk.start(BRIEF)
        until(lambda: desk.done() == 3)
    (first, second) = [line for line in lines if line["event"] == "annotations_given_up"]
    assert sorted([*first["targets"], *second["targets"]]) == [f"span_id {3:016x}", f"trace_id {1:032x}"]
    assert {first["destination"], second["destination"]} == {"phoenix"}
    assert len(desk.sink.attempts) > 3
    desk.wait_for_counts(sent=1, failed=2)


def test_only_so_many_may_wait(desk: Desk) -> None:
    """With more unknown ones than that, those that wait longest are given up, and the rest goes on."""
    desk.sink.knows = {f"{6:032x}"}
    desk.add(*(of_trace(number) for number in range(1, 7)))
    desk.start(replace(PATIENT, most_waiting=2))
    until(lambda: desk.done() == 3)
    desk.sink.knows = {f"{number:032x}" for number in range(1, 7)}
    until(lambda: desk.done() == 6)
    assert sorted(desk.scores()) == [f"{number:032x}" for number in (4, 5, 6)]
    desk.wait_for_counts(sent=3, failed=3)


def test_what_there_is_no_room_for_waits_no_longer(desk: Desk) -> None:
    """Those that wait are passed over as those are that were not read yet."""
    desk.sink.knows = set()
    desk.add(*(of_trace(number) for number in range(1, 5)))
    desk.start()
    until(lambda: len(desk.sink.attempts) >= 2)
    desk.room = 3
    until(lambda: desk.done() == 3)
    desk.sink.knows = {f"{4:032x}"}
    until(lambda: desk.done() == 4)
    assert set(desk.scores()) == {f"{4:032x}"}


def test_another_life_goes_on_with_those_that_waited(desk: Desk) -> None:
    """What was taken behind one that waits is sent again, which changes nothing."""
    desk.sink.knows = {f"{number:032x}" for number in (1, 3)}
    desk.add(*(of_trace(number) for number in range(1, 4)))
    first = desk.start()
    until(lambda: desk.done() == 1 and len(desk.sink.kept) == 2)
    first.stop(1.0)
    before = dict(desk.sink.kept)
    desk.sink.knows |= {f"{2:032x}"}
    desk.start()
    until(lambda: desk.done() == 3)
    assert set(desk.scores()) == desk.sink.knows
    assert {key: desk.sink.kept[key] for key in before} == before


def test_a_fault_of_the_progress_loses_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fails for a moment: nothing is lost, and all counts are right."""
    advance, failures = desk.sources.advance, iter(range(2))

    def sometimes(consumer: str, offset: int) -> None:
        if next(failures, None) is not None:
            raise OSError("no")
        advance(consumer, offset)

    monkeypatch.setattr(desk.sources, "advance", sometimes)
    desk.sink.knows = {f"{1:032x}"}
    desk.add(of_trace(1), of_trace(2))
    desk.start(BRIEF)
    until(lambda: desk.done() == 2)
    desk.wait_for_counts(sent=1, failed=1)
