"""docs/query.md and the comments in weaklink.duckdb say the same of each column: what comments.toml says.

WEAKLINK_REGENERATE=1 writes the meanings in the tables of the page anew.
"""

import re
from collections.abc import Iterator

from docs.conftest import Desk
from docs.pages import PAGES, ROOT
from golden import REGENERATE
from weaklink_analysis.views import MACROS, VIEWS
from weaklink_analysis.views.comments import descriptions, plain

PAGE = "docs/query.md"
SUBJECT = re.compile(r"^(?:## (\w+)$|`(\w+)`: )")
ROW = re.compile(r"^\| `(\w+)` \| ([^|]+) \| ")
DESCRIBED = descriptions()


def lines_of_subjects(page: str) -> Iterator[tuple[str, str]]:
    """Each line with the view or macro whose part of the page it is in; '' outside of these."""
    subject = ""
    for line in page.splitlines():
        if line.startswith("## ") or SUBJECT.match(line):
            found = SUBJECT.match(line)
            subject = next(filter(None, found.groups())) if found else ""
        yield subject, line


def rewritten(page: str) -> str:
    """The page with the meaning of each column as comments.toml has it."""

    def line(subject: str, text: str) -> str:
        row = ROW.match(text)
        if row is None or subject not in DESCRIBED:
            return text
        return f"| `{row[1]}` | {row[2]} | {DESCRIBED[subject].columns[row[1]]} |"

    return "".join(f"{line(*one)}\n" for one in lines_of_subjects(page))


def test_the_page_has_the_same_meanings() -> None:
    """Each row of a view's or a macro's table means what comments.toml says, and so does the text above it."""
    if REGENERATE:
        (ROOT / PAGE).write_text(rewritten(PAGES[PAGE]), "utf-8")
    page = (ROOT / PAGE).read_text("utf-8")
    assert rewritten(page) == page
    for name, description in DESCRIBED.items():
        own = " ".join(text for subject, text in lines_of_subjects(page) if subject == name)
        assert description.text[1:] in " ".join(own.split())


def test_everything_has_its_comment(told: Desk) -> None:
    """Who opens weaklink.duckdb finds a comment on each view, each of its columns, and each macro."""
    assert set(DESCRIBED) == {*VIEWS, *(name for name in MACROS if "." not in name)}
    views = told.service.query(
        "SELECT view_name, comment FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal ORDER BY view_name"
    )
    assert views == [(name, plain(DESCRIBED[name].text)) for name in sorted(VIEWS)]
    columns = told.service.query(
        "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE schema_name = 'main' AND NOT internal"
    )
    expected = {(view, column): plain(text) for view in VIEWS for column, text in DESCRIBED[view].columns.items()}
    assert {(view, column): comment for view, column, comment in columns} == expected
    macros = told.service.query(
        "SELECT function_name, comment FROM duckdb_functions() WHERE schema_name = 'main' AND NOT internal"
    )
    for name, comment in macros:
        assert plain(DESCRIBED[str(name)].text) in str(comment)
        assert all(f"{column}: " in str(comment) for column in DESCRIBED[str(name)].columns)
