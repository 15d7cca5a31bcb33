"""The views that users query: one `.sql` file each, over the tables of schema `lake`."""

from importlib import resources

from weaklink_analysis.models import constant_text

VIEWS = (
    "spans",
    "memory_operations",
    "memory_versions",
    "memories",
    "derivations",
    "decisions",
    "evaluations",
    "evaluation_history",
    "evaluation_checks",
    "confidence_gating",
)
"""In the order in which they can be created."""


def create_statements() -> list[str]:
    """One CREATE VIEW statement a view."""
    files = resources.files(__package__)
    return [
        f"CREATE VIEW {name} AS {constant_text(files.joinpath(f'{name}.sql').read_text('utf-8'))}" for name in VIEWS
    ]
