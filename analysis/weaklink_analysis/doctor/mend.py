"""What a piece of advice is."""

from dataclasses import dataclass

ANY = "*"
"""Any convention, or any operation."""


@dataclass(frozen=True, slots=True)
class Mend:
    """Code stands for itself: `span`, `tracer`, `ledger`, `found` (a record) and the like are the user's own."""

    attribute: str
    """Which weaklink then reads."""
    code: tuple[str, ...]
    """Lines of Python."""
