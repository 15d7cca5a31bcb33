"""One child process: spawned with its settings on stdin, heard through the JSON lines on its stdout."""

import asyncio
import json
import signal
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

_LINE_LIMIT = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """What to run: `settings` is one line, the first that the child reads."""

    name: str
    argv: tuple[str, ...]
    settings: str
    inherit: tuple[int, ...] = ()  # file descriptors


async def spawn(spec: ChildSpec) -> Process:
    """Start the child in a process group of its own, so that a terminal's Ctrl-C reaches the parent only.

    Raises:
        OSError: the system cannot start a process.
    """
    process = await asyncio.create_subprocess_exec(
        *spec.argv, stdin=PIPE, stdout=PIPE, pass_fds=spec.inherit, process_group=0, limit=_LINE_LIMIT
    )
    stdin = cast("StreamWriter", process.stdin)
    stdin.write(spec.settings.encode() + b"\n")
    with suppress(ConnectionError):  # it died at once: its exit code tells
        await stdin.drain()
    return process


async def listen(process: Process, heard: Callable[[dict[str, Any]], None]) -> int:
    """Pass on each JSON object that the child writes until it ends; return its exit code, negative for a signal."""
    async for line in _lines(cast("StreamReader", process.stdout)):
        message = _parsed(line)
        if message is not None:
            heard(message)
    return await process.wait()


async def _lines(stdout: StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines up to the end; of one that is too long to be a message, some pieces or none."""
    while True:
        try:
            line = await stdout.readline()
        except ValueError:  # asyncio's word for it; what it has read so far is gone
            continue
        if not line:
            return
        yield line


def described(code: int) -> str:
    """Say how a process ended: `exit code 1`, `signal SIGKILL`."""
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return f"signal {signal.Signals(-code).name}"
    return f"signal {-code}"


def _parsed(line: bytes) -> dict[str, Any] | None:
    """Return the line's JSON object, or nothing: a library may print too."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None
