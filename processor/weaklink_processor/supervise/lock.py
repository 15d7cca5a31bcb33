"""The lock on a data folder: one service, or one replay that stands in for it, at a time.

The lock belongs to the open file. Children inherit it, so a folder whose service was killed stays locked
until the last of its children is gone, and a new service never meets their ports and files.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from weaklink_processor.errors import UsageError

LOCK_FILE = "lock"
_PATIENCE_SECONDS = 12.0  # children that lost their parent are gone by then
_POLL_SECONDS = 0.05


class FolderLock:
    """An exclusive advisory lock on `DATA_DIR/lock`; the file holds its owner's process id.

    Raises:
        UsageError: the folder is not there, or cannot be written to.
    """

    def __init__(self, data_dir: Path) -> None:
        try:
            self.fd = os.open(data_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise UsageError(f"data folder {data_dir}: {error.strerror}") from error

    def acquire(self) -> bool:
        """Take the lock, if nobody has it."""
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        os.ftruncate(self.fd, 0)
        os.pwrite(self.fd, str(os.getpid()).encode(), 0)
        return True

    def owner(self) -> int | None:
        """Return the process id of the last one who took the lock, while that process lives."""
        text = os.pread(self.fd, 32, 0)
        return int(text) if text.isdigit() and _alive(int(text)) else None

    def close(self) -> None:
        """Give the lock up, unless a child still has it; a second time does nothing."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def make_folder(data_dir: Path) -> None:
    """Make the data folder, for its owner only, unless it is there.

    Raises:
        UsageError: it cannot be made.
    """
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"data folder {data_dir}: {error.strerror}") from error


@contextmanager
def hold(data_dir: Path, patience: float = _PATIENCE_SECONDS) -> Iterator[int]:
    """Make the folder if need be and keep its lock meanwhile; yields the lock's file descriptor, for children.

    `patience` is how many seconds to wait for the children of a service that was killed.

    Raises:
        UsageError: another process has it, or the folder cannot be made or written to.
    """
    make_folder(data_dir)
    with FolderLock(data_dir) as lock:
        deadline = time.monotonic() + patience
        while not lock.acquire():
            owner = lock.owner()
            if owner is not None or time.monotonic() >= deadline:
                raise UsageError(f"data folder {data_dir} is in use by another weaklink (process {owner or 'unknown'})")
            time.sleep(_POLL_SECONDS)
        yield lock.fd


def is_held(data_dir: Path) -> bool:
    """Return whether a service, or a replay, is at work on the folder."""
    try:
        fd = os.open(data_dir / LOCK_FILE, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
