import re
import tomllib
from dataclasses import fields

import pytest

from docs.conftest import Desk
from docs.pages import PAGES, ROOT
from weaklink_analysis.conventions import attributes_read
from weaklink_analysis.mai.rubrics import STRUCTURAL
from weaklink_analysis.views import VIEWS
from weaklink_processor.analyst.step import LAKE_KEYS
from weaklink_processor.commands.overview import Status
from weaklink_processor.metrics import INSTRUMENTS

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LIKE = {"memories": "memory_versions", "evaluation_history": "evaluations"}  # "with the columns of"
TYPES = {"TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE"}


def section(page: str, heading: str) -> str:
    (found,) = re.findall(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGES[page], re.MULTILINE | re.DOTALL)
    return str(found)


def rows(text: str) -> list[list[str]]:
    return [
        [cell.strip(" `") for cell in row.split("|")[1:-1]] for row in re.findall(r"^\| `.*\|$", text, re.MULTILINE)
    ]


def documented(view: str) -> dict[str, str]:
    inherited = documented(LIKE[view]) if view in LIKE else {}
    return inherited | {row[0]: TYPES.get(row[1], row[1]) for row in rows(section("docs/query.md", view))}


@pytest.mark.parametrize("view", VIEWS)
def test_every_column_is_documented(view: str, told: Desk) -> None:
    """docs/query.md has each column of each view with its type, in order, and no other column."""
    described = told.service.query(f"DESCRIBE {view}")
    actual = {str(row[0]): re.sub(r"^STRUCT\(.*\)\[\]$", "STRUCT[]", str(row[1])) for row in described}
    assert list(documented(view).items()) == list(actual.items())


def test_every_view_is_documented() -> None:
    """docs/query.md has a section for each view, and for nothing else but questions."""
    assert set(re.findall(r"^## (\S+)$", PAGES["docs/query.md"], re.MULTILINE)) == {"Questions", *VIEWS}


@pytest.mark.parametrize(
    ("heading", "declared"),
    [
        ("To run", PROJECT["project"]["dependencies"]),
        ("To develop", [one for one in PROJECT["dependency-groups"]["dev"] if isinstance(one, str)]),
        ("For the documentation's site", PROJECT["dependency-groups"]["docs"]),
    ],
)
def test_every_dependency_has_its_line(heading: str, declared: list[str]) -> None:
    """docs/dependencies.md has one line for each dependency of pyproject.toml, in its order, and for nothing else."""
    names = [re.split(r"[<>=!~\[ ;]", requirement)[0] for requirement in declared]
    assert [row[0] for row in rows(section("docs/dependencies.md", heading))] == names


def test_every_attribute_that_is_read_is_told() -> None:
    """docs/instrument.md or docs/conventions.md names each span attribute that a convention looks at."""
    told = PAGES["docs/instrument.md"] + PAGES["docs/conventions.md"]
    assert [key for key in attributes_read() if f"`{key}`" not in told] == []


def test_the_rubric_is_told() -> None:
    """docs/semantics.md has each check of the structural rubric with its weight."""
    table = rows(section("docs/semantics.md", "The structural evaluation"))
    assert {row[0]: float(row[2]) for row in table} == STRUCTURAL.weights


def test_rooms_are_told() -> None:
    """The developer guide lists every layer of the import contracts."""
    listing = section("docs/dev-guide.md", "Rooms")
    contracts = [one["layers"] for one in PROJECT["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    names = {name for layers in contracts for layer in layers for name in layer.split(" | ")} - {"__main__"}
    assert [name for name in names if not re.search(rf"\b{name}(?:/|\.py|\s)", listing)] == []


def test_files_of_the_change_map_exist() -> None:
    """Every path that the developer guide names is there."""
    table = section("docs/dev-guide.md", "To change something, touch these")
    sources = [ROOT, ROOT / "processor/weaklink_processor", ROOT / "analysis/weaklink_analysis"]
    paths = [
        path for path in re.findall(r"`([\w./-]+/?)`", table) if ("/" in path or "." in path) and "NAME" not in path
    ]
    assert paths
    roots = [*sources, sources[2] / "conventions"]
    assert [path for path in paths if not any((root / path).exists() for root in roots)] == []


def test_the_version_has_its_changes() -> None:
    """CHANGELOG.md has a section for the version of pyproject.toml."""
    assert f"## [{PROJECT['project']['version']}]" in PAGES["CHANGELOG.md"]


def test_files_of_the_data_folder_are_told(told: Desk) -> None:
    """docs/operations.md names each file that a service makes; the lake has the tables that it should."""
    table = section("docs/operations.md", "The data folder")
    names = {path.name for path in told.service.data_dir.iterdir()}
    assert [name for name in names if re.sub(r"(\.wal|-wal|-shm)$", "", name) not in table] == []
    assert {path.name for path in (told.service.data_dir / "lake").iterdir()} == set(LAKE_KEYS)


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", sorted(PAGES))
def test_links_resolve(page: str) -> None:
    """A link to a file of the repository finds it, and its heading."""
    for target in re.findall(r"\]\(([^)\s]+)\)", PAGES[page]):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text("utf-8"), re.MULTILINE)
            assert anchor in {slug(heading) for heading in headings}, target


def test_pages_are_reachable() -> None:
    """Every page of docs/ is linked from the README."""
    linked = set(re.findall(r"\]\((docs/[\w-]+\.md)", PAGES["README.md"]))
    assert {page for page in PAGES if page.startswith("docs/")} - {"docs/performance.md"} == linked - {
        "docs/performance.md"
    }


def test_every_metric_is_told() -> None:
    """docs/operations.md has a row for each instrument, in its order, with its kind, unit, labels and meaning."""
    told = rows(section("docs/operations.md", "Metrics"))
    expected = [
        [one.name, one.kind, one.unit, ", ".join(f"`{label}`" for label in one.labels).strip("`"), one.description]
        for one in INSTRUMENTS.values()
    ]
    assert [[*row[:4], f"{row[4]}."] for row in told] == expected


def test_every_key_of_the_status_is_told() -> None:
    """docs/commands.md has each key of the status's JSON in its order, and for nothing else."""
    told = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", section("docs/commands.md", "status"), re.MULTILINE)
    assert re.findall(r"\w+", " ".join(told)) == [field.name for field in fields(Status)]
