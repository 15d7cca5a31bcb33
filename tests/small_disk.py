"""A disk that is soon full: a tmpfs of some MB, in a mount namespace of the test's own that goes when the test does.

A test that asks for `small_disk` is run again by a pytest inside such a namespace (see conftest.py).
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

INSIDE = "TEST_IN_OWN_MOUNTS"
WAYS = (("unshare", "-Urm"), ("unshare", "-m"))  # as anybody, where the kernel lets them; as root
PATIENCE = 110.0


@dataclass(frozen=True)
class SmallDisk:
    """An empty folder on a disk of its own."""

    path: Path

    def resize(self, mib: int) -> None:
        """Make it larger or smaller; not below what is in it."""
        _mount("-o", f"remount,size={mib}m", self.path)

    def fill(self) -> None:
        """Leave no room, until `make_room`."""
        with (self.path / "ballast").open("ab", buffering=0) as ballast:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while True:
                        ballast.write(bytes(size))
                except OSError:
                    continue

    def make_room(self) -> None:
        """Undo `fill`."""
        (self.path / "ballast").unlink()


def mounted(path: Path, mib: int) -> SmallDisk:
    """A new disk at a folder that is there."""
    _mount("-t", "tmpfs", "-o", f"size={mib}m", "none", path)
    return SmallDisk(path)


def is_inside() -> bool:
    """Whether mounts are this process's own affair."""
    return INSIDE in os.environ


def run_inside(test: str) -> None:
    """Run a test by its node id where mounts are its own; skipped with the reason where that cannot be."""
    way = _way()
    command = [*way, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", "-s", test]
    done = subprocess.run(
        command, env={**os.environ, INSIDE: "1"}, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    print(done.stdout)  # noqa: T201
    if done.returncode:
        pytest.fail(f"{done.stdout}\n{done.stderr}", pytrace=False)


@cache
def _way() -> tuple[str, ...]:
    if not shutil.which("unshare"):
        pytest.skip("no mounts of its own: unshare (util-linux) is not there")
    for way in WAYS:
        tried = subprocess.run(
            [*way, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True, check=False
        )
        if tried.returncode == 0:
            return way
    pytest.skip(f"no mounts of its own: {tried.stderr.strip()}")


def _mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *arguments], check=True)  # noqa: S607 - wherever the system has it
