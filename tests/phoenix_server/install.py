"""The Phoenix that tests run: from PyPI, in a virtual environment of its own in the user's cache, once.

    python3 tests/phoenix_server/install.py

prints where its interpreter is. Nothing but the standard library, so that it runs before weaklink's own environment is
there.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CONSTRAINTS = Path(__file__).with_name("constraints.txt")
OLDEST = (3, 11)  # that what the constraints name runs on


def requirement() -> str:
    """Return the release that the constraints pin, as pip has it."""
    (found,) = re.findall(r"^arize-phoenix==\S+", CONSTRAINTS.read_text("utf-8"), re.MULTILINE)
    return str(found)


def missing() -> str | None:
    """Say why there can be no Phoenix here; None when there is one, or it can be installed."""
    if _mark().exists():
        return None
    if sys.version_info < OLDEST:
        return "no Phoenix is installed, and this Python is too old for it"
    with _alone() as folder:
        if _mark().exists():
            return None
        try:
            _make_environment(folder)
            _pip(folder, "index", "versions", "arize-phoenix")
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return "no Phoenix is installed, and pip cannot fetch one"
    return None


def phoenix() -> Path:
    """Return the interpreter. The first call installs, which takes minutes; others wait for it meanwhile."""
    if not _mark().exists():
        with _alone() as folder:
            if not _mark().exists():
                _make_environment(folder)
                _pip(folder, "install", "--quiet", "--constraint", str(CONSTRAINTS), requirement())
                _mark().touch()
    return _python(_folder())


def _folder() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256(CONSTRAINTS.read_bytes()).hexdigest()
    return cache / "weaklink" / f"{requirement().replace('==', '-')}-{digest[:8]}"


def _mark() -> Path:
    """Return the file that is there when everything is."""
    return _folder() / "installed"


@contextmanager
def _alone() -> Iterator[Path]:
    """Yield the folder, which no other process touches meanwhile."""
    folder = _folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder


def _python(folder: Path) -> Path:
    return folder / "bin" / "python"


def _make_environment(folder: Path) -> None:
    """Make it anew, as one that is not marked may lack anything."""
    command = [sys.executable, "-m", "venv", "--clear", str(folder)]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True, timeout=120)


def _pip(folder: Path, *arguments: str) -> None:
    command = [str(_python(folder)), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=900)


if __name__ == "__main__":
    if reason := missing():
        sys.exit(reason)
    print(phoenix())  # noqa: T201
