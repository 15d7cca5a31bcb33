"""What `weaklink doctor` says, for tests."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from otlp import S, payload
from shell import printed
from weaklink_processor.queue import framing


def file_of(path: Path, spans: Iterable[S]) -> Path:
    """Write the spans as one request."""
    path.write_bytes(framing.join([payload(spans)]))
    return path


def report(*arguments: str | Path) -> dict[str, Any]:
    """The JSON of it."""
    found: dict[str, Any] = json.loads(printed("doctor", *arguments, "--json"))
    return found


def gaps(said: Mapping[str, Any], service: str) -> dict[tuple[str, str], dict[str, Any]]:
    """What is to be mended in a service, by operation and gap."""
    own = [gap for gap in said["gaps"] if gap["service_name"] == service and gap["open"]]
    return {(gap["operation"], gap["gap"]): gap for gap in own}
