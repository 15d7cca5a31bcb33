"""The documentation as a site: it builds without a warning, shows every page, and loads nothing from elsewhere."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from build_site import PAGES as PLACES
from build_site import QUIET, gather
from docs.pages import PAGES, ROOT
from reference import TO_SAY, pages
from tables import Table
from weaklink_analysis import ReliedOn, evaluate_decision
from weaklink_analysis.mai.attribution import ATTRIBUTION
from weaklink_analysis.mai.rubrics import STRUCTURAL
from weaklink_analysis.models import environment

PICTURES = sorted((ROOT / "docs" / "images").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"
LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}
KNOWN = {"canonical", "alternate"}  # links that a browser does not load


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(command, cwd=folder, env=os.environ | QUIET, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that a browser opens."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    gather(folder / ".site")
    done = build(folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in (done.stdout + done.stderr).lower()
    return folder / "site"


class Tags(HTMLParser):
    """The tags of a page with their attributes, and the text outside of scripts."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if not self.found or self.found[-1][0] not in ("script", "style"):
            self.text.append(data)


def html(site: Path) -> Iterator[Path]:
    return site.rglob("*.html")


def test_every_page_is_built_and_in_the_navigation(site: Path) -> None:
    """The navigation has each page of the site once, and each page is there."""

    def flat(entries: list[dict[str, Any]]) -> Iterator[str]:
        for entry in entries:
            for target in entry.values():
                yield from [target] if isinstance(target, str) else flat(target)

    listed = list(flat(yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]))
    assert sorted(listed) == sorted(set(PLACES.values()))
    assert [page for page in listed if not (site / page).with_suffix(".html").is_file()] == []


@pytest.mark.parametrize("link", ["nowhere.md", "index.md#nowhere"])
def test_a_dead_link_fails_the_build(link: str, tmp_path: Path) -> None:
    """A link to a page or to a heading that is not there ends the build with an error."""
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    plain = {"theme": "mkdocs", "plugins": [], "nav": [{"Title": "index.md"}]}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(settings | plain))
    (tmp_path / ".site").mkdir()
    (tmp_path / ".site" / "index.md").write_text(f"# Title\n\n[there]({link})\n")
    done = build(tmp_path)
    assert done.returncode != 0
    assert "nowhere" in done.stderr


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """No page names a script, style, font or picture of another host, and no style sheet does."""
    tags = [(page.name, tag, attributes) for page in html(site) for tag, attributes in Tags(page).found]
    loaded = [
        (page, tag, attributes[LOADS[tag]])
        for page, tag, attributes in tags
        if tag in LOADS and attributes.get(LOADS[tag]) and attributes.get("rel") not in KNOWN
    ]
    assert loaded
    assert [one for one in loaded if re.match(r"(https?:)?//", str(one[2]))] == []
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)\"']*", styles) == []


def test_pages_can_be_read_without_scripts(site: Path) -> None:
    """The text of a page, its tables and its navigation are in its HTML."""
    page = Tags(site / "concepts.html")
    text = " ".join("".join(page.text).split())
    assert "It is a minimum: never an average, never a product." in text
    assert "do not act on it until somebody has checked it" in text
    links = {attributes.get("href") for tag, attributes in page.found if tag == "a"}
    assert {"why-failed.html", "commands.html"} <= links


def test_no_markup_is_shown_as_text(site: Path) -> None:
    """What GitHub reads as a code block or a table is one on the site, too."""
    left = [page.name for page in html(site) if re.search(r"```|\|---", "".join(Tags(page).text))]
    assert left == []


def test_the_search_has_all_pages(site: Path) -> None:
    """The index of the search is a file of the site, with each page in it."""
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert found == {page.replace(".md", ".html") for page in PLACES.values()}


def test_the_front_page_answers_three_questions(site: Path) -> None:
    """It asks them in these words, and leads to where each is answered."""
    front = Tags(site / "index.html")
    text = " ".join("".join(front.text).split())
    for question in ("What is effective confidence?", "Why did this trace fail?", "How do I mend it?"):
        assert question in text
    links = {attributes.get("href") for tag, attributes in front.found if tag == "a"}
    assert {"concepts.html", "why-failed.html", "why-failed.html#mend-a-weak-chain"} <= links


def test_pictures_on_pages_say_what_they_show(site: Path) -> None:
    """Each picture has a text in its place."""
    pictures = [attributes for page in html(site) for tag, attributes in Tags(page).found if tag == "img"]
    assert pictures
    assert [attributes for attributes in pictures if not attributes.get("alt")] == []


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_pictures_have_a_title(picture: Path) -> None:
    """Each picture names itself and tells what it shows, for those who hear it; each number in it is told."""
    drawing = ET.fromstring(picture.read_text("utf-8"))  # noqa: S314  our own
    assert drawing.get("role") == "img"
    told = {one: drawing.find(f"{SVG}{one}") for one in ("title", "desc")}
    labels = {element.get("id") for element in told.values() if element is not None and element.text}
    assert labels == set(str(drawing.get("aria-labelledby")).split())
    shown = {
        text for element in drawing.iter(f"{SVG}text") for text in re.findall(r"\d\.\d\d", "".join(element.itertext()))
    }
    assert shown
    assert shown <= set(re.findall(r"\d\.\d\d", str(told["desc"].text if told["desc"] is not None else "")))


def test_scores_in_the_cascade_are_computed() -> None:
    """The two decisions of the picture have the scores that these memories give."""
    guess = ReliedOn(declared=0.85, effective=0.30, author="diagnosis", has_session=True)
    runbook = ReliedOn(declared=0.90, effective=0.30, author="scribe", has_session=True)
    metrics = ReliedOn(declared=0.92, effective=0.92, author="monitor", has_session=True)
    decisions = [([guess], 0.30), ([runbook, metrics], None)]
    scores = [
        evaluate_decision(relied_on, own, effective=effective)
        for relied_on, own in decisions
        for effective in (False, True)
    ]
    picture = ET.parse(ROOT / "docs/images/cascade.svg").getroot()  # noqa: S314  our own
    texts = ["".join(element.itertext()) for element in picture.iter(f"{SVG}text")]
    shown = re.findall(r"(?:score|effective) (\d\.\d\d)", " ".join(texts))
    assert sorted(shown) == sorted(f"{result.score:.2f}" for result in scores if result)


def test_every_check_has_its_cause_and_mend() -> None:
    """docs/why-failed.md has a section for each check of the structural rubric and each criterion of attribution."""
    module = (
        environment("views", "sql")
        .get_template("attribution_criteria.jinja")
        .make_module({"attribution": ATTRIBUTION, "max_hops": 5})
    )
    checks = {*STRUCTURAL.weights, *module.attribution_criteria}  # type: ignore[attr-defined]  # the template sets it
    page = PAGES["docs/why-failed.md"]
    assert checks - set(re.findall(r"^### (\w+)$", page, re.MULTILINE)) == set()
    assert checks - set(re.findall(r"^\| \[`(\w+)`\]\(#\1\) ", page, re.MULTILINE)) == set()


def test_tables_are_as_the_code_has_them() -> None:
    """`make docs` would change no page, and everything that the code knows is explained."""
    made = {path.name: text for path, text in pages().items()}
    assert {name for name, text in made.items() if text != PAGES[f"docs/{name}"]} == set(), "run make docs"
    rows = chain.from_iterable(text.splitlines() for text in made.values())
    assert [row for row in rows if re.search(rf"\| {re.escape(TO_SAY)} \|", row)] == []


def test_rows_follow_the_code_and_words_stay() -> None:
    """A row that the page lacks is added, one that the code lacks goes, and what is said of the others stays."""
    page = "## One\n\n| a | b |\n|---|---|\n{}\n## Two\n\n| a | b |\n|---|---|\n| y | stays |\n"
    table = Table("p.md", "| a | b |", lambda old: [old.get(name, [name, TO_SAY]) for name in ("new", "x")], "One")
    made = table.made_in(page.format("| x | said |\n| gone | old |\n"))
    assert made == page.format(f"| new | {TO_SAY} |\n| x | said |\n")
