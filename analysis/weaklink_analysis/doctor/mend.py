"""What a piece of advice is."""

from dataclasses import dataclass

ANY = "*"
"""Any convention, or any operation."""


@dataclass(frozen=True, slots=True)
class Mend:
    """Code stands for itself: `span`, `tracer`, `ledger`, `found` (a record) and the like are the user's own.

    `known(id)` is what the user keeps of a memory: a mapping with `confidence`, `created_by` and `session_id`.
    """

    attribute: str
    """Which weaklink then reads."""
    code: tuple[str, ...]
    """Lines of Python; for Mastra of TypeScript."""
    settings: tuple[str, ...] = ()
    """Lines of weaklink's settings that go with it: spans that say less of the same are left out."""
