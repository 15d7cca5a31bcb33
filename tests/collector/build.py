"""The OpenTelemetry Collector that tests run: built by its own builder from ocb.yaml, once, into the user's cache.

    python3 tests/collector/build.py

prints where it is. Nothing but the standard library, so that it runs before there is a virtual environment, and by an
older Python too.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

MANIFEST = Path(__file__).with_name("ocb.yaml")


def version() -> str:
    """Return the release that the manifest pins."""
    (found,) = re.findall(r"^  version: (\S+)", MANIFEST.read_text("utf-8"), re.MULTILINE)
    return str(found)


def missing() -> str | None:
    """Say why there can be no Collector here; None when there is one, or it can be built."""
    if _executable().exists():
        return None
    if not (go := shutil.which("go")):
        return "no Collector is built, and there is no Go on PATH to build one with"
    try:
        subprocess.run([go, "list", "-m", _builder()], check=True, capture_output=True, timeout=60)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return "no Collector is built, and Go cannot fetch what builds one"
    return None


def collector() -> Path:
    """Return the executable. The first call builds it, which takes minutes; others wait for it meanwhile."""
    executable = _executable()
    if not executable.exists():
        executable.parent.mkdir(parents=True, exist_ok=True)
        with (executable.parent / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not executable.exists():
                _build(executable)
    return executable


def _builder() -> str:
    return f"go.opentelemetry.io/collector/cmd/builder@v{version()}"


def _executable() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    digest = hashlib.sha256(MANIFEST.read_bytes()).hexdigest()
    return cache / "weaklink" / f"otelcol-{version()}-{digest[:8]}" / "otelcol"


def _build(executable: Path) -> None:
    with tempfile.TemporaryDirectory(dir=executable.parent) as folder:
        subprocess.run(
            ["go", "run", _builder(), "--config", str(MANIFEST)],  # noqa: S607  whichever Go is there
            cwd=folder,
            env=os.environ | {"CGO_ENABLED": "0"},
            stdout=2,  # stdout is for the path
            check=True,
        )
        (Path(folder) / "build" / executable.name).replace(executable)


if __name__ == "__main__":
    print(collector())  # noqa: T201
