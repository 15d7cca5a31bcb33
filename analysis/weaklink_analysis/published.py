"""The tables that the engine publishes: what identifies a row of theirs, when it is certainly new, and when sought."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Published:
    """A table whose rows change after they were first published, and the columns that identify a row."""

    name: str
    key: tuple[str, ...]
    new: str
    """Of a changed row: whether certainly no row of its key was published before. Numbers in keys only grow."""
    sought: str | None = None
    """A column that is null in most rows, and by which readers look for the others; None: there is none."""


ABSORBED = (
    Published("memory_operations", ("row_id", "ordinal"), "row_id >= (SELECT min(row_id) FROM fresh)", "finding_codes"),
    Published(
        "memory_versions",
        ("version_key",),
        "version_key >= (SELECT min(version_key) FROM new_versions)",
        "finding_codes",
    ),
    Published(
        "derivations",
        ("child_key", "parent_name_key"),
        "child_key >= (SELECT min(version_key) FROM new_versions)",
        "oddity",
    ),
)
"""What changes with the spans."""

EVALUATED = (
    Published(
        "decisions",
        ("trace_id", "span_id"),
        "trace_id NOT IN (SELECT replace(CAST(trace AS VARCHAR), '-', '') FROM known_decisions)",
        "finding_codes",
    ),
    Published(
        "evaluations",
        ("evaluation_key",),
        "evaluation_key >= (SELECT min(evaluation_key) FROM judged_evaluations WHERE revised AND revision = 1)",
    ),
)
"""What changes when traces are judged."""

PUBLISHED = ABSORBED + EVALUATED
BY_NAME = {table.name: table for table in PUBLISHED}
