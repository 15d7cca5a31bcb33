"""What users query: views and table macros, one `.sql` file each, over the tables of schema `lake`."""

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

_ONE_MEMORY = "id, environment := NULL, store := NULL"
MACROS = {
    "lake.versions_of": _ONE_MEMORY,
    "lake.reached_from": "keys",
    "lake.ancestors_of": "keys",
    "lake.standing_on": "starts, low, high",
    "chain_of": _ONE_MEMORY,
    "impact_of": _ONE_MEMORY,
}
"""Their parameters, in the order in which they can be created; those of `lake` serve the others."""


def create_statements() -> list[str]:
    """One statement a view, then one a macro."""
    return [
        *(f"CREATE VIEW {name} AS {_text(name)}" for name in VIEWS),
        *(
            f"CREATE MACRO {name}({parameters}) AS TABLE {_text('macros/' + name.removeprefix('lake.'))}"
            for name, parameters in MACROS.items()
        ),
    ]


def _text(name: str) -> str:
    return constant_text(resources.files(__package__).joinpath(f"{name}.sql").read_text("utf-8"))
