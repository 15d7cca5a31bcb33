"""The child's end: its settings on the first line of stdin, and stdin's end or SIGTERM as the word to stop.

The parent never closes the pipe while it lives, so a parent that dies, however it dies, stops its children.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

_GRACE_SECONDS = 10.0
_telling = threading.Lock()  # a line from one thread, then a line from another


def receive_settings() -> str:
    """Return the first line of stdin. Nothing beyond it is read."""
    with open(0, "rb", buffering=0, closefd=False) as stdin:
        return stdin.readline().decode()


def stop_event() -> threading.Event:
    """Return an event that is set at SIGTERM, and by watch(); SIGINT is left to the parent.

    Call it from the main thread before any other thread is started: SIGTERM is blocked from here on and
    waited for in a thread, which also works while the main thread is deep in a native library.
    """
    stop = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    threading.Thread(target=_wait_for_term, args=(stop,), name="sigterm", daemon=True).start()
    return stop


def watch(stop: threading.Event) -> None:
    """Set the event at the end of stdin too; a process that is still there some time later is ended."""
    threading.Thread(target=_wait_for_end, args=(stop,), name="lifeline", daemon=True).start()


def tell_parent(message: Mapping[str, object]) -> None:
    """Write one JSON line to stdout, from any thread; a parent that is gone does not hear it."""
    with _telling, suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def _wait_for_term(stop: threading.Event) -> None:
    signal.sigwait({signal.SIGTERM})
    stop.set()


def _wait_for_end(stop: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    stop.set()
    time.sleep(_GRACE_SECONDS)
    os._exit(1)  # nobody is left to end a child that does not drain
