"""How a fault in a file is told."""

from weaklink_processor.errors import UsageError


def fault(place: str, what: object) -> UsageError:
    """Say what is wrong at a place: a file, file:line, or a file and a byte offset."""
    return UsageError(f"{place}: {what}")
