"""What a service leaves for those who ask how it is doing: errors, and where its destinations stand.

A small file that is replaced as a whole, soon after something changed. It holds no data, so a power cut may cost it.
"""

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

JOURNAL_FILE = "journal.json"
MOST_ERRORS = 20
_SOON_SECONDS = 0.5  # after a change, so that a flood of them is one write


@dataclass(slots=True)
class Fault:
    """An error of the log, and how often it has come."""

    process: str
    text: str
    first_at: str  # ISO 8601, UTC
    last_at: str
    count: int = 1


@dataclass(slots=True)
class Content:
    """The whole file."""

    errors: list[Fault] = field(default_factory=list)  # the latest last
    destinations: dict[str, dict[str, Any]] = field(default_factory=dict)  # name -> {"away": bool, "since": time}
    waiting: dict[str, dict[str, Any]] = field(default_factory=dict)  # name -> evaluations, as the analyst counts them


def read_journal(folder: Path) -> Content:
    """Read the file; one that is missing or unreadable is empty."""
    try:
        found = json.loads((folder / JOURNAL_FILE).read_text("utf-8"))
        return Content([Fault(**error) for error in found["errors"]], found["destinations"], found.get("waiting", {}))
    except (OSError, ValueError, KeyError, TypeError):
        return Content()


class Journal:
    """Keeps the file of a service that runs; for any number of threads."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / JOURNAL_FILE
        self._content = read_journal(folder)
        self._lock = threading.Lock()
        self._writing: threading.Timer | None = None

    def error(self, process: str, text: str) -> None:
        """Note an error; the same one once more only counts."""
        now, known = _now(), self._content.errors
        with self._lock:
            same = next((fault for fault in known if (fault.process, fault.text) == (process, text)), None)
            if same:
                known.remove(same)
                same.count, same.last_at = same.count + 1, now
            known.append(same or Fault(process, text, now, now))
            del known[:-MOST_ERRORS]
            self._write_soon()

    def destinations(self, away: Mapping[str, bool]) -> None:
        """Note which destinations there are, and which of them do not answer."""
        with self._lock:
            before = self._content.destinations
            now = {name: {"away": gone, "since": _now()} for name, gone in away.items()}
            same = {name: before[name] for name, gone in away.items() if before.get(name, {}).get("away") == gone}
            self._content.destinations = now | same
            if self._content.destinations != before:
                self._write_soon()

    @property
    def waiting(self) -> dict[str, dict[str, Any]]:
        """Evaluations that wait, by what they are told as; to be replaced as a whole."""
        return self._content.waiting

    @waiting.setter
    def waiting(self, waiting: dict[str, dict[str, Any]]) -> None:
        with self._lock:
            self._content.waiting = waiting
            self._write_soon()

    def close(self) -> None:
        """Write what is not written yet; twice is fine."""
        with self._lock:
            pending, self._writing = self._writing, None
        if pending:
            pending.cancel()
            self._write()

    def _write_soon(self) -> None:
        if self._writing is None:
            self._writing = threading.Timer(_SOON_SECONDS, self._write_now)
            self._writing.daemon = True
            self._writing.start()

    def _write_now(self) -> None:
        with self._lock:
            self._writing = None
        self._write()

    def _write(self) -> None:
        with self._lock, suppress(OSError):  # a full disk, as like as not: the next change tries again
            draft = self._path.with_suffix(".tmp")
            draft.touch(0o600)
            draft.write_text(json.dumps(asdict(self._content), indent=1), "utf-8")
            draft.replace(self._path)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
