"""Packages that tests run beside weaklink: from PyPI, each once, in a virtual environment of its own in the cache.

    python3 tests/pinned/install.py arize-phoenix mem0ai

prints where their interpreters are. PACKAGE.txt pins a package and its company. Nothing but the standard library, so
that it runs before weaklink's own environment is there.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OLDEST = (3, 11)  # that what the constraints name runs on


@dataclass(frozen=True)
class Pinned:
    """A package at the version that its constraints name first."""

    package: str

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        (found,) = re.findall(rf"^{self.package}==\S+", self._constraints.read_text("utf-8"), re.MULTILINE)
        return str(found)

    def is_installed(self) -> bool:
        """Whether it is there, whole."""
        return self._mark.exists()

    def missing(self) -> str | None:
        """Say why it cannot be had here; None when it is there, or can be installed."""
        if self.is_installed():
            return None
        if sys.version_info < OLDEST:
            return f"{self.package} is not installed, and this Python is too old for it"
        with self._alone():
            if self.is_installed():
                return None
            try:
                self._make_environment()
                self._pip("index", "versions", self.package)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
                return f"{self.package} is not installed, and pip cannot fetch it"
        return None

    def python(self) -> Path:
        """Return the interpreter. The first call installs, which takes minutes; others wait for it meanwhile."""
        if not self.is_installed():
            with self._alone():
                if not self.is_installed():
                    self._make_environment()
                    self._pip("install", "--quiet", "--constraint", str(self._constraints), self.requirement)
                    self._mark.touch()
        return self._python

    def site_packages(self) -> Path:
        """Return the folder of what is installed; it installs as `python` does."""
        (found,) = self.python().parent.parent.glob("lib/python*/site-packages")
        return found

    @property
    def _constraints(self) -> Path:
        return Path(__file__).with_name(f"{self.package}.txt")

    @property
    def _folder(self) -> Path:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        digest = hashlib.sha256(self._constraints.read_bytes()).hexdigest()
        return cache / "weaklink" / f"{self.requirement.replace('==', '-')}-{digest[:8]}"

    @property
    def _mark(self) -> Path:
        """The file that is there when everything is."""
        return self._folder / "installed"

    @property
    def _python(self) -> Path:
        return self._folder / "bin" / "python"

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process touches the folder meanwhile."""
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        with self._folder.with_name(f"{self._folder.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _make_environment(self) -> None:
        """Make it anew, as one that is not marked may lack anything."""
        command = [sys.executable, "-m", "venv", "--clear", str(self._folder)]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, timeout=120)

    def _pip(self, *arguments: str) -> None:
        command = [str(self._python), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=900)


PHOENIX, MEM0 = Pinned("arize-phoenix"), Pinned("mem0ai")


if __name__ == "__main__":
    for wanted in map(Pinned, sys.argv[1:]):
        if reason := wanted.missing():
            sys.exit(reason)
        print(wanted.python())  # noqa: T201
