"""A small disk that becomes full on demand: a tmpfs, shrunk to what is used of it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOM = 512 << 20
NAMESPACE = ("unshare", "-Urm")
"""What makes anybody root among mounts of one's own, where the system allows it."""


class NoDisk(Exception):
    """Nothing may be mounted here; its text says why."""


class SmallDisk:
    """A tmpfs at a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self, room: int = 0) -> None:
        """Leave room for so many bytes."""
        # It cannot be less than what somebody has written meanwhile.
        assert any(self._resized(max(self._used() + room, 1)) for _ in range(100))

    def clear(self) -> None:
        """Make room again."""
        assert self._resized(ROOM)

    def _used(self) -> int:
        disk = os.statvfs(self.folder)
        return (disk.f_blocks - disk.f_bfree) * disk.f_frsize

    def _resized(self, size: int) -> bool:
        # Ignored are the options that it has: user ids of outside mean nothing in a namespace.
        return not _refusal("mount", "--options-mode", "ignore", "-o", f"remount,size={size}", str(self.folder))


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """A disk for as long as the context lasts; NoDisk."""
    folder.mkdir(mode=0o700)
    if reason := _refusal("mount", "-t", "tmpfs", "-o", f"size={ROOM},mode=700", "weaklink-test", str(folder)):
        raise NoDisk(reason)
    try:
        yield SmallDisk(folder)
    finally:
        assert not _refusal("umount", "--lazy", str(folder))


def run_inside(test: str, **environment: str) -> str:
    """Run a test, by its node id, where it may mount a disk; what it printed. NoDisk."""
    if reason := _refusal(*NAMESPACE, "mount", "-t", "tmpfs", "none", "/mnt"):
        raise NoDisk(reason)
    command = [*NAMESPACE, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-s", test]
    done = subprocess.run(command, env=os.environ | environment, check=False, stdout=subprocess.PIPE, text=True)
    print(done.stdout)  # noqa: T201
    assert done.returncode == 0
    return done.stdout


def _refusal(*command: str) -> str:
    """Why a command failed, or nothing."""
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    except FileNotFoundError as error:
        return str(error)
    return done.stderr.strip() if done.returncode else ""
