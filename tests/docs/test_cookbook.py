from docs.pages import PAGES, ROOT
from golden import REGENERATE
from weaklink_analysis.cookbook import COOKBOOK, question

PAGE = "docs/cookbook.md"


def section(name: str) -> str:
    one = question(name)
    return f"### {one.title}\n\n{one.text}\n\n`{name}.sql`\n\n```sql\n{one.sql}\n```\n"


def test_the_page_has_every_question() -> None:
    """docs/cookbook.md shows the files of the cookbook as they are, in its order, and nothing else below its head."""
    head = PAGES[PAGE].partition("## ")[0]
    parts = [part for title, names in COOKBOOK.items() for part in (f"## {title}\n", *map(section, names))]
    expected = head + "\n".join(parts)
    if REGENERATE:
        (ROOT / PAGE).write_text(expected, "utf-8")
    assert PAGES[PAGE] == expected
