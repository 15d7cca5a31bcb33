"""Runs weaklink's command line as a user does: a process of its own, its output and its exit code."""

import subprocess
import sys
import tempfile
from pathlib import Path

from forked import forked

PROGRAM = (sys.executable, "-m", "weaklink_processor")


def weaklink(*arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run it forked: the same, but for its imports."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        code = forked().run([*map(str, arguments)], cwd, (given, out, err))
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


def started(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run it all as it is, imports too."""
    return subprocess.run([*PROGRAM, *map(str, arguments)], cwd=cwd, capture_output=True, check=False)


def refused(*arguments: str | Path, cwd: Path | None = None) -> str:
    """Return the message of a call that must be refused as wrong use, without a traceback or any output."""
    done = weaklink(*arguments, cwd=cwd)
    message = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b""), message
    assert "Traceback" not in message
    return message


def printed(*arguments: str | Path, cwd: Path | None = None) -> str:
    """Return what a call that must succeed prints."""
    done = weaklink(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()
