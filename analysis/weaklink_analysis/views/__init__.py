"""What users query: views and table macros, one `.sql` file each, over the tables of schema `lake`."""

from importlib import resources

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

_UNTIL_PUBLISHED = """
    CREATE VIEW IF NOT EXISTS lake.decisions AS
    SELECT
        '' AS trace_id, '' AS span_id, now() AS start_time, '' AS environment, '' AS agent_id,
        {'memory_id': '', 'store': '', 'environment': '', 'version': 0} AS memory,
        [{'memory_id': '', 'store': '', 'environment': '', 'version': 0}] AS records
    WHERE false
"""
"""Nothing, until the lake has a table of decisions."""


def create_statements() -> list[str]:
    """One statement a view, then one a macro."""
    views = [f"CREATE VIEW {name} AS {_text(name)}" for name in VIEWS]
    return [
        *views,
        _UNTIL_PUBLISHED,
        *(
            f"CREATE MACRO {name}({parameters}) AS TABLE {_text('macros/' + name.removeprefix('lake.'))}"
            for name, parameters in MACROS.items()
        ),
    ]


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(f"{name}.sql").read_text("utf-8")
