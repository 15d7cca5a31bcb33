"""The SQL models: one file a table, rendered with Jinja as dbt does, run by DuckDB.

A model file is one SELECT. `{{ macros }}` and loops over hops are all the templating there is;
values never enter a text: they come from relations or as parameters.
"""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined

_ENVIRONMENT = Environment(
    loader=PackageLoader(__package__, "sql"),
    undefined=StrictUndefined,
    autoescape=False,  # noqa: S701 - SQL, not HTML; nothing of a span is ever rendered
    keep_trailing_newline=False,
)
_MACROS = ("time", "above", "effective", "flag")


@cache
def model(name: str, *, max_hops: int, changed: str | None = None) -> str:
    """The text of `sql/<name>.sql`.

    `changed` names a relation of keys to restrict a published table to; None renders all of it.
    """
    variables = {"max_hops": max_hops, "hops": tuple(range(1, max_hops + 1)), "changed": changed}
    macros = _ENVIRONMENT.get_template("macros.jinja").make_module(variables)
    functions = {macro: getattr(macros, macro) for macro in _MACROS}
    return _ENVIRONMENT.get_template(f"{name}.sql").render(**variables, **functions)
