"""Take spans from files, by the same path as those that arrive over the network."""

import struct
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import click

from weaklink_processor import log, wiring
from weaklink_processor.commands.interrupts import put_off
from weaklink_processor.commands.options import PATH, with_config
from weaklink_processor.commands.progress import Progress, unseen
from weaklink_processor.config import Config
from weaklink_processor.errors import Overloaded, Refused, UsageError
from weaklink_processor.queue.store import QueueStore
from weaklink_processor.receive.accept import Accepted, accept
from weaklink_processor.receive.files import read_requests
from weaklink_processor.receive.limits import Limits
from weaklink_processor.supervise.lock import FolderLock, make_folder
from weaklink_processor.thrift import AS_A_SERVICE, SMALL, Steps, give_back
from weaklink_processor.wiring.analysing import own_conventions

_LENGTH = struct.Struct(">Q")
_MEMORY_BYTES = 64 * 1024 * 1024
_GROUP_BYTES = 4 * 1024 * 1024
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Tally:
    """What was in the files."""

    requests: int = 0
    spans: int = 0
    rejected: int = 0
    without: tuple[Path, ...] = ()
    """Files that hold no spans."""

    def plus(self, accepted: Accepted) -> "Tally":
        """With one more request."""
        spans, rejected = self.spans + accepted.spans, self.rejected + accepted.rejected
        return replace(self, requests=self.requests + 1, spans=spans, rejected=rejected)


@click.command()
@click.argument("files", nargs=-1, required=True, type=PATH, metavar="FILE...")
@with_config("--data-dir")
def replay(config: Config, files: tuple[Path, ...]) -> None:
    """Take the spans of OTLP files: JSON lines, one JSON object, or length-delimited protobuf (.binpb).

    Each may be compressed with gzip or zstd; - is standard input. All are read and checked before any span is taken.
    """
    tally = take(config, files)
    click.echo(f"read {tally.requests:,} requests with {tally.spans:,} spans; rejected {tally.rejected:,} spans")


def take(config: Config, files: Sequence[Path], progress: Progress = unseen, *, thrifty: bool = False) -> Tally:
    """Read and check all of the files, then have the data folder take their spans; return when they are analysed.

    `thrifty`: in little memory, for somewhat more CPU time.
    """
    log.configure(config.log, "replay")
    own_conventions(config)  # a faulty one is told before any span is taken
    wiring.refuse_newer(config)
    make_folder(config.data_dir)
    with tempfile.SpooledTemporaryFile(1 if thrifty else _MEMORY_BYTES, dir=str(config.data_dir)) as spool:
        tally = _spool(files, spool, wiring.limits(config), progress)
        with wiring.open_queue(config) as queue:
            with FolderLock(config.data_dir) as lock:
                if lock.acquire():  # else a service does the work
                    wiring.forget_others(config, queue)
            spool.seek(0)
            last = queue.stats().last_offset
            first = last
            steps = SMALL if thrifty else AS_A_SERVICE
            for group in _groups(spool):
                last = _append(config, queue, group, last, steps)
            trim = give_back() if thrifty else lambda: None

            def tell(done: int) -> None:
                trim()
                progress("analysing", (done - first) / max(last - first, 1))

            _catch_up(config, queue, last, tell, steps)
    return tally


def _spool(files: Sequence[Path], spool: IO[bytes], limits: Limits, progress: Progress) -> Tally:
    """Write every request that has spans, its length before it; refuse all when one cannot be read."""
    tally = Tally()
    sizes = [file.stat().st_size if file.is_file() else 0 for file in files]
    for number, file in enumerate(files):
        before, spans = sum(sizes[:number]), tally.spans

        def tell(read: int, before: int = before) -> None:
            progress("reading", (before + read) / max(sum(sizes), 1))

        for payload in read_requests(file, limits, tell):
            accepted = _accepted(file, payload, limits)
            tally = tally.plus(accepted)
            if accepted.spans:
                spool.write(_LENGTH.pack(len(accepted.payload)) + accepted.payload)
        if tally.spans == spans:
            tally = replace(tally, without=(*tally.without, file))
    return tally


def _accepted(file: Path, payload: bytes, limits: Limits) -> Accepted:
    try:
        return accept(payload, limits)
    except Refused as error:
        raise UsageError(f"{file}: {error}") from error


def _groups(spool: IO[bytes]) -> Iterator[list[bytes]]:
    """Yield the requests in groups, each of which becomes one row of the queue."""
    group: list[bytes] = []
    size = 0
    while head := spool.read(_LENGTH.size):
        group.append(spool.read(*_LENGTH.unpack(head)))
        size += len(group[-1])
        if size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _append(config: Config, queue: QueueStore, group: list[bytes], last: int, steps: Steps) -> int:
    """Append to the queue; if it is full, once more when all so far has been applied."""
    try:
        return queue.append(group, datetime.now(UTC))
    except Overloaded:
        _catch_up(config, queue, last, steps=steps)
        return queue.append(group, datetime.now(UTC))


def _catch_up(
    config: Config,
    queue: QueueStore,
    last: int,
    tell: Callable[[int], None] = lambda _: None,
    steps: Steps = AS_A_SERVICE,
) -> None:
    """Return when the queue is applied up to `last`: by the service, or by this process where none is running.

    `tell` hears up to where it is.
    """
    with FolderLock(config.data_dir) as lock:
        while (done := queue.progress(wiring.ANALYST)) < last:
            tell(done)
            if lock.acquire():
                _drain(config, lambda: tell(queue.progress(wiring.ANALYST)), steps)
                return
            time.sleep(_POLL_SECONDS)


def _drain(config: Config, tell: Callable[[], None], steps: Steps) -> None:
    with put_off() as heed:

        def told() -> None:
            heed()
            tell()

        wiring.drain(config, told, steps)
