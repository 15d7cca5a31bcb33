"""How it may go when a row is tried in a process of its own, which imports this module."""

import os
import signal
import sys
import time
from collections.abc import Sequence

from weaklink_analysis.engine import Engine
from weaklink_processor.config import Config
from weaklink_processor.wiring import in_memory


def well(requests: Sequence[bytes]) -> None:
    """What the analyst does with a row."""
    in_memory.rehearse(Config(), requests)


def decoder_dies(_requests: Sequence[bytes]) -> None:
    """What a decoder in native code may do."""
    os.abort()


def models_die(requests: Sequence[bytes]) -> None:
    """What a database in native code may do with what a decoder has made of the row."""
    Engine.absorb = abort  # type: ignore[assignment, method-assign]
    well(requests)


def abort(_engine: Engine) -> None:
    """End the process by a signal."""
    os.abort()


def says_what_is_wrong(_requests: Sequence[bytes]) -> None:
    """As does a machine that has no memory to spare, or what becomes of Ctrl-C."""
    raise MemoryError


def is_asked_to_end(_requests: Sequence[bytes]) -> None:
    """As all processes of a group are that ends."""
    os.kill(os.getpid(), signal.SIGTERM)


def does_not_end(_requests: Sequence[bytes]) -> None:
    """As a row may have it that two threads wait for each other."""
    sys.stdout.write("at work\n")
    sys.stdout.flush()
    time.sleep(600)
