"""A result on its way to standard output: through a pipe it goes while it grows."""

import os
import shutil
import stat
import sys
from pathlib import Path

HELD = 1 << 20
"""Bytes that wait for more: what fails before there are so many has printed nothing."""


class Flow:
    """Prints a file from its beginning, bit by bit. Who reads a pipe may want no more of it than that."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._printed = 0
        self._is_piped = _is_pipe()

    def more(self) -> bool:
        """Print what has come since, if that is much and a pipe takes it; returns whether it was."""
        much = self._is_piped and self._file.exists() and self._file.stat().st_size - self._printed > HELD
        if much:
            self.end()
        return much

    def end(self) -> None:
        """Print the rest."""
        with self._file.open("rb") as result:
            result.seek(self._printed)
            shutil.copyfileobj(result, sys.stdout.buffer)
            self._printed = result.tell()
        sys.stdout.buffer.flush()


def _is_pipe() -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except OSError:  # nothing that the system knows
        return False
