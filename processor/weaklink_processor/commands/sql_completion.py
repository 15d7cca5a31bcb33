"""Completion of what stands at the prompt: views, columns, macros, keywords, functions, dot commands."""

import re
from collections.abc import Iterator
from functools import cached_property

import duckdb
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from weaklink_processor.commands.sql_dots import COLUMNS, DOTS, RELATIONS
from weaklink_processor.commands.sql_forms import BINARY, FORMS
from weaklink_processor.commands.sql_session import Session
from weaklink_processor.errors import WeaklinkError

_WORD = re.compile(r"\w*$")
_KEYWORDS = "SELECT upper(keyword_name) FROM duckdb_keywords() WHERE keyword_category <> 'unreserved' ORDER BY ALL"
_FUNCTIONS = (
    r"SELECT DISTINCT function_name || '(' FROM duckdb_functions() WHERE function_name ~ '^[a-z]\w*$' ORDER BY 1"
)
Offer = tuple[str, str]
"""A word, and what it is."""


class NameCompleter(Completer):
    """Looks words up in the catalogue when they are first wanted."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:  # noqa: ARG002
        """Offer what begins with the word before the cursor; columns of the views in the statement come first."""
        line = document.current_line_before_cursor
        if document.text.startswith("."):
            yield from self._dots(line)
            return
        begun = _WORD.search(line)
        word = begun[0] if begun else ""
        seen: set[str] = set()
        for text, meaning in self._offers(document.text):
            if text.lower().startswith(word.lower()) and text not in seen and word:
                seen.add(text)
                yield Completion(text, -len(word), display_meta=meaning)

    def _dots(self, line: str) -> Iterator[Completion]:
        name, space, argument = line.partition(" ")
        arguments = {
            ".format": ["table", *(form for form in FORMS if form not in BINARY)],
            ".timer": ["on", "off"],
            ".describe": [name for name, _ in self._relations],
        }
        offered = arguments.get(name, []) if space else [*DOTS]
        begun = argument if space else name
        for text in offered:
            if text.startswith(begun):
                yield Completion(text, -len(begun), display_meta=DOTS[text].text if text in DOTS else "")

    def _offers(self, statement: str) -> Iterator[Offer]:
        named = set(re.findall(r"\w+", statement))
        for view, column, meaning in self._columns:
            if view in named:
                yield column, meaning
        yield from self._relations
        yield from ((column, f"{view}: {meaning}") for view, column, meaning in self._columns)
        yield from self._others

    @cached_property
    def _relations(self) -> list[Offer]:
        return [(name, comment or "") for name, _, comment in self._rows(RELATIONS)]

    @cached_property
    def _columns(self) -> list[tuple[str, str, str]]:
        return [(view, column, comment or kind) for view, column, kind, comment in self._rows(COLUMNS)]

    @cached_property
    def _others(self) -> list[Offer]:
        keywords, functions = self._rows(_KEYWORDS), self._rows(_FUNCTIONS)
        return [*((word, "keyword") for (word,) in keywords), *((word, "function") for (word,) in functions)]

    def _rows(self, query: str) -> list[tuple[str, ...]]:
        try:
            with self._session.snapshot() as catalogue:
                return catalogue.execute(query).fetchall()
        except (WeaklinkError, duckdb.Error):
            return []
