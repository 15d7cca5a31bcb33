"""The exception tree.

    WeaklinkError                 anything weaklink raises on purpose; its text is fit for a user
    ├── UsageError                wrong command line, setting or input file          (exit code 2)
    ├── Refused                   a request that gets an OTLP error for its answer   (receive/status.py)
    │   ├── BadData               not OTLP, or beyond what the format allows          permanent
    │   ├── Unauthenticated       no credentials, or not ones that count              permanent (receive/credentials.py)
    │   ├── TooLarge              over a size limit, before or after decompression    permanent
    │   └── Overloaded            cannot take data now: full, slow disk, stopping     retryable
    └── BrokenStore               a file of the data folder is not what we wrote

Findings about the *content* of spans are values, never exceptions.
"""


class WeaklinkError(Exception):
    """Base of everything weaklink raises on purpose."""


class UsageError(WeaklinkError):
    """The command line, a setting or an input file is wrong; the message names it and its value."""


class Refused(WeaklinkError):
    """A request is answered with an OTLP error instead of being queued."""


class BadData(Refused):
    """The payload is not a valid ExportTraceServiceRequest."""


class TooLarge(Refused):
    """The payload is over a limit, as sent or after decompression."""


class Overloaded(Refused):
    """The queue cannot take data now; the client should retry after a delay."""


class BrokenStore(WeaklinkError):
    """A file in the data folder is damaged or from a newer version; nothing is deleted."""
