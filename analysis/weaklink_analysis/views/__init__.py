"""What users query: views and table macros over the tables of schema `lake`, one `.sql` file each."""

from weaklink_analysis.models import environment
from weaklink_analysis.operations import Settings

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
    "findings",
)
"""In the order in which they can be created."""

_ONE_MEMORY = "id, environment := NULL, store := NULL"
MACROS = {
    "lake.versions_of": _ONE_MEMORY,
    "lake.reached_from": "keys",
    "lake.ancestors_of": "keys",
    "lake.standing_on": "rows, low, high",
    "chain_of": _ONE_MEMORY,
    "impact_of": _ONE_MEMORY,
}
"""Their parameters, in the order in which they can be created; those of `lake` serve the others."""

FOUND_AT = {
    "operations": "lake.memory_operations",
    "versions": "lake.memory_versions",
    "known": "lake.memory_versions",
    "derivations": "lake.derivations",
    "links": "lake.derivations",
    "endless": "(FROM lake.memory_versions WHERE chain_truncated)",
    "decisions": "lake.decisions",
}
"""What findings are looked for in."""

_ENVIRONMENT = environment("views", "sql")


def create_statements(settings: Settings) -> list[str]:
    """One statement a view, then one a macro."""
    return [
        *(f"CREATE VIEW {name} AS {_text(name, settings)}" for name in VIEWS),
        *(
            f"CREATE MACRO {name}({parameters}) AS TABLE {_text('macros/' + name.removeprefix('lake.'), settings)}"
            for name, parameters in MACROS.items()
        ),
    ]


def _text(name: str, settings: Settings) -> str:
    return _ENVIRONMENT.get_template(f"{name}.sql").render(
        max_hops=settings.max_hops, attribution=settings.attribution, at=FOUND_AT, scoring=settings.scoring
    )
