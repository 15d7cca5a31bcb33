"""The SQL models: one file a table, rendered with Jinja as dbt does, run by DuckDB.

A model file is one SELECT. Macros, loops over hops and the rubric's checks and limits are all the templating there is;
values of spans never enter a text: they come from relations or as parameters.
"""

from jinja2 import Environment, PackageLoader, StrictUndefined

from weaklink_analysis.mai.rubrics import Rubric

_ENVIRONMENT = Environment(
    loader=PackageLoader(__package__, "sql"),
    undefined=StrictUndefined,
    autoescape=False,  # noqa: S701 - SQL, not HTML; nothing of a span is ever rendered
    keep_trailing_newline=False,
)
_ENVIRONMENT.filters["literal"] = lambda text: "'" + text.replace("'", "''") + "'"
_MACROS = ("time", "above", "effective", "flag")


def constant_model(name: str) -> str:
    """The text of a model without any templating."""
    return _ENVIRONMENT.get_template(f"{name}.sql").render()


class Models:
    """The texts of the models for one number of hops and one rubric."""

    def __init__(self, *, max_hops: int, rubric: Rubric) -> None:
        self._variables: dict[str, object] = {
            "max_hops": max_hops,
            "hops": tuple(range(1, max_hops + 1)),
            "rubric": rubric,
        }
        macros = _ENVIRONMENT.get_template("macros.jinja").make_module(self._variables)
        self._variables |= {macro: getattr(macros, macro) for macro in _MACROS}
        self._texts: dict[tuple[str, str | None], str] = {}

    def text(self, name: str, changed: str | None = None) -> str:
        """The text of `sql/<name>.sql`.

        `changed` names a relation of keys to restrict a published table to; None renders all of it.
        """
        if (name, changed) not in self._texts:
            template = _ENVIRONMENT.get_template(f"{name}.sql")
            self._texts[name, changed] = template.render(self._variables, changed=changed)
        return self._texts[name, changed]
