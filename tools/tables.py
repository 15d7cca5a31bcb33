"""Tables in Markdown pages: each is found by its heading and its first line, and made again from rows.

The code says which rows there are and how each begins; what is said in words is written by hand, and stays.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Rows = dict[str, list[str]]
"""The rows that the page has, by their first cell."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page, and what makes its rows."""

    page: str
    header: str
    rows: Callable[[Rows], Iterable[list[str]]]
    """Cells of each row, given the rows that the page has."""
    heading: str | None = None
    """Of the section that it is in; None: the first table of the page with this header."""

    def made_in(self, text: str) -> str:
        """The page's text with this table as the code has it. Raises LookupError if the page has no such table."""
        found = re.compile(rf"^{re.escape(self.header)}\n(?P<ruler>\|.*\n)(?P<rows>(?:\|.*\n)*)", re.MULTILINE).search(
            text, self._section(text)
        )
        if found is None:
            raise LookupError(f"{self.page}: no table {self.header} below {self.heading or 'the title'}")
        old = {row[0]: row for row in map(_cells, found["rows"].splitlines())}
        lines = [f"| {' | '.join(cells)} |\n" for cells in self.rows(old)]
        return text[: found.start("rows")] + "".join(lines) + text[found.end("rows") :]

    def _section(self, text: str) -> int:
        if self.heading is None:
            return 0
        found = re.search(rf"^## {re.escape(self.heading)}$", text, re.MULTILINE)
        if found is None:
            raise LookupError(f"{self.page}: no section {self.heading}")
        return found.end()


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
