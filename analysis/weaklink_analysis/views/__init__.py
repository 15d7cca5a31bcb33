"""The views that users query: one `.sql` file each, over the tables of schema `lake`, rendered as the models are."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from weaklink_analysis.operations import Settings

VIEWS = (
    "spans",
    "memory_operations",
    "memory_versions",
    "memories",
    "derivations",
    "evaluations",
    "evaluation_history",
    "evaluation_checks",
    "confidence_gating",
    "findings",
)
"""In the order in which they can be created."""


_ENVIRONMENT = Environment(
    loader=PackageLoader(__name__, ""),
    undefined=StrictUndefined,
    autoescape=False,  # noqa: S701 - SQL, not HTML; nothing of a span is ever rendered
)


def create_statements(settings: Settings) -> list[str]:
    """One CREATE VIEW statement a view."""
    return [f"CREATE VIEW {name} AS {_text(name, settings)}" for name in VIEWS]


def _text(name: str, settings: Settings) -> str:
    return _ENVIRONMENT.get_template(f"{name}.sql").render(max_hops=settings.max_hops)
