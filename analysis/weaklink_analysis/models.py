"""The SQL models: one file a table, rendered with Jinja as dbt does, run by DuckDB.

A model file is one SELECT. Macros, loops over hops, the rubrics' checks and limits and the configured thresholds are
all the templating there is; values of spans never enter a text: they come from relations or as parameters.
"""

from dataclasses import dataclass

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from weaklink_analysis.operations import Settings


def environment(*folders: str) -> Environment:
    """What renders the files of these folders of this package; of one name, that of the first folder."""
    made = Environment(
        loader=ChoiceLoader([PackageLoader(__package__, folder) for folder in folders]),
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701 - SQL, not HTML; nothing of a span is ever rendered
        keep_trailing_newline=False,
    )
    made.filters["literal"] = lambda text: "'" + text.replace("'", "''") + "'"
    made.filters["like"] = _like
    made.filters["column"] = lambda name: '"' + name.replace('"', '""') + '"'
    made.filters["double"] = lambda number: f"CAST('{number!r}' AS DOUBLE)"
    return made


def _like(pattern: str) -> str:
    """A pattern with `*` for any text and `?` for one character, as LIKE has it with a backslash for escape."""
    return pattern.translate({ord("*"): "%", ord("?"): "_", **{ord(char): f"\\{char}" for char in "%_\\"}})


_ENVIRONMENT = environment("sql", "views")
_MACROS = ("time", "above", "effective", "policy", "refused", "flag", "rounded", "session_target")
_WEAKEST_IN = (("versions", "version_key"), ("names", "-name_key"))
"""Where memory ids of weakest ancestors are: versions, and unresolved parents where these count."""


_DUE = {
    "operations": "due_memory_operations",
    "versions": "due_memory_versions",
    "known": "main.versions",
    "derivations": "due_derivations",
    "links": "known_links",
    "endless": "(FROM main.chains CROSS JOIN settings WHERE chain_depth > max_hops)",
    "decisions": "due_decisions",
}
"""What findings of due traces are looked for in."""


def _weighed(settings: Settings) -> tuple[str, ...]:
    """The findings that some rubric weighs."""
    return tuple(dict.fromkeys(code for rubric in settings.rubrics for code in rubric.findings))


@dataclass(frozen=True, slots=True)
class Limits:
    """One of the two thresholds, wherever it is configured: the first that applies counts."""

    namespaces: tuple[tuple[str, float], ...]
    """By prefix, which ends in '/'; the longest first."""
    services: tuple[tuple[str, float], ...]
    otherwise: float

    @classmethod
    def of(cls, settings: Settings, which: int) -> "Limits":
        """The min (0) or the flag threshold (1)."""
        longest_first = sorted(settings.namespaces.items(), key=lambda item: len(item[0]), reverse=True)
        return cls(
            tuple((f"{prefix.rstrip('/')}/", v) for prefix, pair in longest_first if (v := pair[which]) is not None),
            tuple((service, v) for service, pair in settings.services.items() if (v := pair[which]) is not None),
            (settings.min_threshold, settings.flag_threshold)[which],
        )


def plain_model(name: str, **variables: object) -> str:
    """The text of a model that depends on these variables and on no settings."""
    return _ENVIRONMENT.get_template(f"{name}.sql").render(variables)


class Models:
    """The texts of the models for these settings."""

    def __init__(self, settings: Settings) -> None:
        self._variables: dict[str, object] = {
            "max_hops": settings.max_hops,
            "hops": tuple(range(1, settings.max_hops + 1)),
            "stand_in": settings.unresolved_confidence,
            "weakest_in": _WEAKEST_IN[: 1 if settings.unresolved_confidence is None else 2],
            "thresholds": {"min": Limits.of(settings, 0), "flag": Limits.of(settings, 1)},
            "attribution": settings.attribution,
            "scoring": settings.scoring,
            "extractors": sorted(settings.scoring.extractors.items(), key=lambda item: (-len(item[0]), item[0])),
            "rubrics": settings.rubrics,
            "weighed": _weighed(settings),
            "at": _DUE,
            "counts_spans": any(rubric.counting == "spans" for rubric in settings.rubrics),
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
