"""What is done to a service in one round of a crash test, and what a whole run has in store."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import psutil

from e2e.clients import Load
from e2e.small_disk import SmallDisk
from e2e.stops import POINTS, SENDING, START, UPKEEP, Stops
from weaklink_service import Service, wait_until

SUPERVISOR, WHOLE = "supervisor", "whole service"
VICTIMS = ("receiver", "analyst", "receiver and analyst", SUPERVISOR, WHOLE)
ONCE = frozenset((*START, *UPKEEP))
"""Points that are not passed so often that one could wait for the n-th time."""
FULL_SECONDS = 1.0
ROOMS = (0, 100_000, 300_000)
"""Bytes that are left on a full disk, so that it is not always the same write that finds it so."""
CALM = 0.3
"""How often a service has the time to recover before the next point is armed."""


@dataclass(frozen=True, slots=True)
class Round:
    """One crash: of victims at any moment, or of the process that comes by a point."""

    victims: str = ""
    point: str = ""
    full: bool = False
    """The disk is full meanwhile."""

    def __str__(self) -> str:
        return (self.victims or self.point) + (" on a full disk" if self.full else "")


def of_kills(*, full: bool) -> list[Round]:
    """Each kind of kill twice; with `full`, once on a full disk."""
    return [Round(victims, full=on) for victims in VICTIMS for on in (False, full)]


def of_stops(*, forwarding: bool, part: int = 0, parts: int = 1) -> list[Round]:
    """A crash at each point that a service with or without a forward endpoint comes by, or at one part of them."""
    left_out = () if forwarding else SENDING
    every = [Round(point=each) for points in POINTS.values() for each in points if each not in left_out]
    return every[part::parts]


class Rounds:
    """Carries rounds out under a load."""

    def __init__(self, service: Service, load: Load, stops: Stops, disk: SmallDisk | None, rng: random.Random) -> None:
        self._service, self._load, self._stops, self._disk, self._rng = service, load, stops, disk, rng

    def run(self, each: Round) -> None:
        """One crash, from which the service has recovered when this returns, or is about to."""
        if each.point:
            self._stop_at(each.point)
            if self._rng.random() < CALM:
                self._wait_for_life()
            return
        with self._disk_full() if each.full else nullcontext():
            time.sleep(self._rng.uniform(0, 0.5))
            _KILLS[each.victims](self)
        if each.victims in {SUPERVISOR, WHOLE}:
            self._service.start()
        self._wait_for_life()

    def kill(self, *names: str) -> None:
        """SIGKILL these children, in any order."""
        for name in self._rng.sample(names, len(names)):
            process = self._found(name)
            process.kill()
            assert psutil.wait_procs([process], timeout=5)[1] == []

    def kill_supervisor(self) -> None:
        """SIGKILL the parent alone: its children notice, and end in order."""
        self._service.kill_supervisor()

    def kill_whole(self) -> None:
        """SIGKILL all processes at one moment."""
        self._service.kill_all()

    def _found(self, name: str) -> psutil.Process:
        while not (process := self._service.child(name)):  # it is about to be started
            time.sleep(0.01)
        return process

    def _stop_at(self, point: str) -> None:
        self._stops.arm(point, 1 if point in ONCE else self._rng.randint(1, 2))
        if point in START:
            self.kill("analyst")
        wait_until(lambda: not self._stops.armed, f"a crash {point}")

    @contextmanager
    def _disk_full(self) -> Iterator[None]:
        assert self._disk
        self._disk.fill(self._rng.choice(ROOMS))
        try:
            time.sleep(self._rng.uniform(0.2, FULL_SECONDS))
            yield
            time.sleep(self._rng.uniform(0.2, FULL_SECONDS))
        finally:
            self._disk.clear()

    def _wait_for_life(self) -> None:
        """Requests are acknowledged again, and sometimes: analysed again."""
        acknowledged = len(self._load.acknowledged)
        wait_until(lambda: len(self._load.acknowledged) > acknowledged + 4, "acknowledgements")
        if self._rng.random() < CALM:
            spans = self._service.count("spans")
            wait_until(lambda: self._service.count("spans") > spans, "new spans in the lake")


_KILLS: dict[str, Callable[[Rounds], None]] = {
    "receiver": lambda rounds: rounds.kill("receiver"),
    "analyst": lambda rounds: rounds.kill("analyst"),
    "receiver and analyst": lambda rounds: rounds.kill("receiver", "analyst"),
    SUPERVISOR: Rounds.kill_supervisor,
    WHOLE: Rounds.kill_whole,
}
