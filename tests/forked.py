"""Runs weaklink's command line in processes that are forked from one that has imported its modules.

Half of what a command takes is imports and templates, which all of them have in common. A fork is a process as any
other, with a folder, an environment, streams and an exit code of its own. What is forked is `tests/forked.py FD`.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn

import jinja2

PROGRAM = "weaklink_processor"
LEFT_OUT = (f"{PROGRAM}.__main__", f"{PROGRAM}.testing", "weaklink_analysis.emit")
"""Modules of other programs than this one."""
LONGEST = 1 << 20
"""Bytes of a call: its arguments and its environment."""


class Forked:
    """The caller's end. The process ends when its caller does."""

    def __init__(self) -> None:
        self._calls, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()]
            )

    def run(self, arguments: Sequence[str], cwd: Path | None, streams: Sequence[IO[bytes]]) -> int:
        """Run a command to its end, with these as stdin, stdout and stderr; its exit code."""
        call = {"arguments": arguments, "cwd": str(cwd or Path.cwd()), "environment": dict(os.environ)}
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                fds = [theirs.fileno(), *(stream.fileno() for stream in streams)]
                socket.send_fds(self._calls, [json.dumps(call).encode()], fds)
            return int(ours.recv(8))


@cache
def forked() -> Forked:
    """The one of this process."""
    return Forked()


def main(calls: socket.socket) -> NoReturn:
    """Fork for each call, until nobody can call any more."""
    _import_everything()
    gc.freeze()  # so that memory stays shared
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who attend
    while True:
        call, fds, *_ = socket.recv_fds(calls, LONGEST, 4)
        if not call:
            os._exit(0)  # in silence
        answers, *streams = fds
        if os.fork() == 0:
            calls.close()
            _attend(json.loads(call), socket.socket(fileno=answers), streams)
        for fd in (answers, *streams):
            os.close(fd)


def _import_everything() -> None:
    for package in (PROGRAM, "weaklink_analysis"):
        for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            if not found.name.startswith(LEFT_OUT):
                importlib.import_module(found.name)
    for templates in [known for known in gc.get_objects() if isinstance(known, jinja2.Environment)]:
        for name in templates.list_templates(["sql", "jinja"]):
            templates.get_template(name)


def _attend(call: dict[str, Any], answers: socket.socket, streams: Sequence[int]) -> NoReturn:
    """Run a command in a process, and answer with its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    process = os.fork()
    if process == 0:
        answers.close()
        for fd, stream in enumerate(streams):
            os.dup2(stream, fd)
            os.close(stream)
        _become(call)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    answers.sendall(str(code).encode())
    os._exit(0)


def _become(call: dict[str, Any]) -> NoReturn:
    os.environ.clear()
    os.environ.update(call["environment"])
    os.chdir(call["cwd"])
    time.tzset()
    tempfile.tempdir = None
    sys.argv[1:] = call["arguments"]
    try:
        runpy.run_module(PROGRAM, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001  as the interpreter would
        traceback.print_exc()
        code = 1
    else:
        code = 0
    # Taking apart what was imported would take longer than the command.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else bool(code))


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
