"""The queries of this room."""

from typing import Any

import duckdb

from weaklink_analysis.models import environment

_TEXTS = environment("gate", "sql")


def text(name: str, **variables: object) -> str:
    """The text of `gate/<name>.sql`."""
    return _TEXTS.get_template(f"{name}.sql").render(variables, max_hops=None)


def rows(
    catalogue: duckdb.DuckDBPyConnection,
    name: str,
    parameters: dict[str, object] | None = None,
    **variables: object,
) -> list[dict[str, Any]]:
    """The rows of a query by the names of its columns."""
    found = catalogue.execute(text(name, **variables), parameters or {})
    columns = [column for column, *_ in found.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
