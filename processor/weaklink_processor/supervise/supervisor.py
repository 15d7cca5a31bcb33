"""Keeps children running until told to stop: restarts with backoff, and an orderly, bounded end."""

import asyncio
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import structlog

from weaklink_processor.errors import UsageError
from weaklink_processor.supervise.child import ChildSpec, described, listen, spawn

OnNews = Callable[[str, Mapping[str, Any]], None]
"""Hears the name of a child and a message of it, or `pid` when it is a new process."""
_USAGE = 2  # the exit code of a child that cannot run as it is set up


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast to restart, and how long an end may take. Seconds."""

    first_delay: float = 0.2
    most_delay: float = 5.0
    healthy_after: float = 30.0
    drain: float = 9.5

    def next_delay(self, previous: float, lived: float) -> float:
        """Return how long to wait before a restart: doubling, from the start again after a healthy life."""
        if not previous or lived >= self.healthy_after:
            return self.first_delay
        return min(previous * 2, self.most_delay)


class Keeper:
    """One child and its successors."""

    def __init__(self, spec: ChildSpec, pace: Pace, on_ready: Callable[[], None], on_news: OnNews) -> None:
        self._spec, self._pace, self._on_ready, self._on_news = spec, pace, on_ready, on_news
        self._log = structlog.get_logger().bind(child=spec.name)
        self._process: Process | None = None
        self._stopping = asyncio.Event()
        self._fault = ""
        self.ready = False  # it was, once

    async def run(self) -> None:
        """Keep a child running until stop().

        Raises:
            UsageError: the first one says that it cannot run as it is set up.
        """
        delay = 0.0
        while not self._stopping.is_set():
            begun = asyncio.get_running_loop().time()
            code = await self._live()
            if self._stopping.is_set():
                return
            if code == _USAGE and not self.ready:
                raise UsageError(self._fault or f"the {self._spec.name} cannot run: see its message above")
            delay = self._pace.next_delay(delay, asyncio.get_running_loop().time() - begun)
            self._log.error("child died", how=described(code), fault=self._fault or None, restart_in_seconds=delay)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), delay)

    async def stop(self, deadline: float) -> None:
        """Ask the child to end, and kill it at the deadline (loop time). Without a child, or twice, it is harmless."""
        self._stopping.set()
        process = self._process
        if process is None or process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout_at(deadline):
                await process.wait()
        except TimeoutError:
            self._log.error("child did not stop in time and is killed")
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _live(self) -> int:
        """Run one child from start to end; return its exit code."""
        self._fault = ""
        try:
            self._process = await spawn(self._spec)
        except OSError as error:
            self._fault = str(error)
            return 1
        self._log.info("child started", pid=self._process.pid)
        self._on_news(self._spec.name, {"pid": self._process.pid})
        if self._stopping.is_set():  # stop() came while it was being made, and did not see it
            self._process.kill()
        return await listen(self._process, self._heard)

    def _heard(self, message: dict[str, Any]) -> None:
        if "fault" in message:
            self._fault = str(message["fault"])
        if "ready" in message:
            self.ready = True
            self._log.info("child ready")
            self._on_ready()
        self._on_news(self._spec.name, message)


async def supervise(
    specs: Sequence[ChildSpec],
    stop: asyncio.Event,
    on_ready: Callable[[], None],
    pace: Pace | None = None,
    on_news: OnNews = lambda _name, _message: None,
) -> None:
    """Run the children until `stop` is set, then end them in their order: each is gone before the next is asked.

    `on_ready` is called once, when all have become ready; `on_news` with whatever a child says.

    Raises:
        UsageError: a child cannot run as it is set up; the others are stopped.
    """
    pace = pace or Pace()
    announced = False

    def one_ready() -> None:
        nonlocal announced
        if not announced and all(keeper.ready for keeper in keepers):
            announced = True
            on_ready()

    keepers = [Keeper(spec, pace, one_ready, on_news) for spec in specs]
    runs = [asyncio.create_task(keeper.run()) for keeper in keepers]
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([stopped, *runs], return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
        await _end(keepers, pace)
    await asyncio.gather(*runs)


async def _end(keepers: Sequence[Keeper], pace: Pace) -> None:
    """Stop one after the other; what one leaves of its share of the time is the next one's."""
    begun = asyncio.get_running_loop().time()
    for number, keeper in enumerate(keepers, start=1):
        await keeper.stop(begun + pace.drain * number / len(keepers))
