"""Nothing that goes wrong in here reaches the agent: it is logged once, as a warning."""

import logging
from contextlib import suppress

_log = logging.getLogger("weaklink_analysis.emit")
_told: set[tuple[str, type[Exception]]] = set()


def swallow(what: str, error: Exception) -> None:
    """Log what could not be done, the first time that an error of its class prevents it."""
    if (what, type(error)) in _told:
        return
    _told.add((what, type(error)))
    with suppress(Exception):  # an exception's own text may fail
        _log.warning("%s: %s: %s; this is said once", what, type(error).__name__, error)
