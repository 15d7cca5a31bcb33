"""A month of traces in a data folder: four services in two environments, every day as it would have arrived.

    python bench/month.py FOLDER/data [--spans 5000000] [--days 30] [--seconds 200]

Requests go through the queue, as those of a receiver or of `weaklink replay` do, and are analysed, judged and stored
day by day, with the clock of that day: the lake has the folders, files and times of evaluation that a service leaves
in a month. It stops after so many seconds, at the end of a day, and goes on from there when it is called again.
"""

import argparse
import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf
from pathlib import Path
from random import Random
from unittest import mock

from month_traces import ENVIRONMENTS, SERVICES, Service
from weaklink_processor import log, wiring
from weaklink_processor.config import Config
from weaklink_processor.supervise.lock import FolderLock, make_folder

SPANS = 5_000_000
DAY = timedelta(days=1)
QUIET_DAY, QUIET_SHARE = 5, 0.6
"""From Saturday on, as many spans as this of another day's."""
SPANS_OF_A_TRACE = 8.95
SPANS_PER_REQUEST = 500
ROWS_OF_A_DAY = 24
"""Rows of the queue."""

Row = tuple[datetime, list[bytes]]
"""When requests arrived, and these."""


@dataclass
class Month:
    """What a folder is to hold, and how far it is; kept beside it."""

    spans: int
    days: int
    until: datetime
    """When the month ends."""
    services: list[Service]
    """They remember what they did."""
    days_done: int = 0
    spans_done: int = 0

    def begin(self, day: int) -> datetime:
        """Return when a day begins, of which the first is 0."""
        return self.until - (self.days - day) * DAY

    def spans_of_days(self) -> list[int]:
        """Return how many spans are to arrive each day."""
        shares = [QUIET_SHARE if self.begin(day).weekday() >= QUIET_DAY else 1.0 for day in range(self.days)]
        return [round(self.spans * share / sum(shares)) for share in shares]


def make(folder: Path, spans: int, days: int = 30, sittings: int = 0, seconds: float = inf) -> Month:
    """Make a month that ends now, or go on with one, for so many seconds.

    `sittings`: in how many parts it is analysed; 0: one a day, as it would have been.
    """
    make_folder(folder)
    note, deadline = folder.with_suffix(".month"), time.monotonic() + seconds
    month = _noted(note) if note.exists() else Month(spans, days, datetime.now(UTC), _services())
    together = -(-month.days // sittings) if sittings else 1
    waiting: list[Row] = []
    for day, count in list(enumerate(month.spans_of_days()))[month.days_done :]:
        if time.monotonic() > deadline and not waiting:
            break
        rows, made = _rows(month.begin(day), count, month.services, Random(day))
        waiting += rows
        month.spans_done += made
        if (day + 1) % together and day + 1 < month.days:
            continue
        _take(Config(data_dir=folder), waiting, month.begin(day + 1))
        waiting.clear()
        month.days_done = day + 1
        note.write_bytes(pickle.dumps(vars(month)))
    return month


def _noted(note: Path) -> Month:
    return Month(**pickle.loads(note.read_bytes()))  # noqa: S301 - this program wrote it


def _services() -> list[Service]:
    return [Service(name, environment, seed=0) for name in SERVICES for environment in ENVIRONMENTS]


def _rows(begin: datetime, spans: int, services: Sequence[Service], rng: Random) -> tuple[list[Row], int]:
    """What arrives on a day, and how many spans that are."""
    shares = [service.share for service in services]
    traces = max(1, round(spans / SPANS_OF_A_TRACE))
    rows: list[Row] = []
    made = 0
    for number in range(ROWS_OF_A_DAY):
        low, high = (traces * place // ROWS_OF_A_DAY for place in (number, number + 1))
        starts = [begin + DAY * ((place + rng.random()) / traces) for place in range(low, high)]
        chosen = rng.choices(services, shares, k=len(starts))
        waiting: dict[Service, list[bytes]] = {service: [] for service in services}
        requests: list[bytes] = []
        for service, start in zip(chosen, starts, strict=True):
            waiting[service] += (found := service.trace(int(start.timestamp() * 1_000_000) * 1_000))
            made += len(found)
            if len(waiting[service]) >= SPANS_PER_REQUEST:
                requests.append(service.request(waiting[service]))
                waiting[service] = []
        requests += [service.request(left) for service, left in waiting.items() if left]
        if requests:
            rows.append((begin + DAY * ((number + 1) / ROWS_OF_A_DAY), requests))
    return rows, made


def _take(config: Config, rows: Sequence[Row], now: datetime) -> None:
    """Have the folder take a day's requests, as if it were the end of that day."""
    with wiring.open_queue(config) as queue, FolderLock(config.data_dir) as lock:
        if not lock.acquire():
            raise SystemExit(f"{config.data_dir}: a service is at work there")
        for arrived, requests in rows:
            queue.append(requests, arrived)
        with mock.patch("weaklink_processor.wiring._now", return_value=now):
            wiring.drain(config)


def main() -> None:
    """Make a month, or a part of it, and say how far it is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--spans", type=int, default=SPANS)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=inf)
    chosen = parser.parse_args()
    log.configure(Config().log, "month")
    month = make(chosen.folder, chosen.spans, chosen.days, seconds=chosen.seconds)
    print(f"{chosen.folder}: {month.days_done} of {month.days} days, {month.spans_done:,} spans")


if __name__ == "__main__":
    main()
