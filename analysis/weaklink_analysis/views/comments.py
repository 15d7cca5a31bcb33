"""What views, columns and macros are, in words: `comments.toml`, for the catalogue and for the documentation."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files

from weaklink_analysis.views import MACROS

_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


@dataclass(frozen=True, slots=True)
class Description:
    """A view or a macro in words, in Markdown with links relative to docs/."""

    text: str
    columns: Mapping[str, str]
    """All of them, in no order that counts."""
    like: str | None = None
    """The view whose columns it has beside its own."""


def descriptions() -> dict[str, Description]:
    """Return each view and macro that users query, by name."""
    found = tomllib.loads(files("weaklink_analysis.views").joinpath("comments.toml").read_text("utf-8"))
    described: dict[str, Description] = {}
    for name, entry in found.items():
        like = entry.get("like")
        inherited = described[like].columns if like else {}
        described[name] = Description(entry["text"], {**inherited, **entry.get("columns", {})}, like)
    return described


def plain(text: str) -> str:
    """Return a text without the marks of Markdown."""
    return _LINK.sub(r"\1", text).replace("`", "")


def comment_statements() -> Iterator[str]:
    """One statement a comment, on what `create_statements` has made. A macro's columns are in its own comment."""
    for name, description in descriptions().items():
        if name in MACROS:
            columns = "; ".join(f"{column}: {text}" for column, text in description.columns.items())
            yield _comment(f"MACRO TABLE {name}", f"{description.text} Columns: {columns}.")
            continue
        yield _comment(f"VIEW {name}", description.text)
        for column, text in description.columns.items():
            yield _comment(f'COLUMN {name}."{column}"', text)


def _comment(subject: str, text: str) -> str:
    quoted = plain(text).replace("'", "''")
    return f"COMMENT ON {subject} IS '{quoted}'"
