"""The dashboards of docker/grafana, and what provisions them.

No Grafana could be had where this was written: the JSON is held to the models of Grafana's own SDK instead, and
queries are made of panels as the plugin and Grafana's front end make them.
"""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from cookbook import opened
from dashboards.conftest import ROOT, Served
from golden import REGENERATE
from make import FOLDER, dashboards
from panels import DUCKDB, PROMETHEUS, VARIABLES
from scrape import scrape
from weaklink_analysis.cookbook import COOKBOOK, question

TEXTS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.json"))}
PANELS = [(name, panel) for name, text in TEXTS.items() for panel in json.loads(text)["panels"]]


def targets(source: dict[str, str]) -> list[Any]:
    """Each query of this data source beside its panel."""
    return [
        pytest.param(panel, target, id=f"{name} {panel['title']} {target['refId']}")
        for name, panel in PANELS
        for target in panel["targets"]
        if target["datasource"] == source
    ]


KNOWN_TYPES = {"BIGINT", "INTEGER", "DOUBLE", "VARCHAR", "BOOLEAN", "TIMESTAMP WITH TIME ZONE"}
"""What the plugin turns into values of Grafana's."""
METRIC = re.compile(r"\b(?:otelcol|weaklink)_\w+")
GROUPED = re.compile(r"by \(([\w, ]+)\)")


def asked(sql: str, month: Served, step: str = "6 hours") -> str:
    """What DuckDB is asked: variables as the front end puts them, quoted; then the macro of the SDK."""
    with opened(month.path) as connection:
        every = {name: connection.execute(f"SELECT DISTINCT {name} FROM decisions").fetchall() for name in COLUMNS}
    values = {name: ",".join(f"'{value}'" for (value,) in every[column]) for column, name in COLUMNS.items()}
    for name, value in {**values, "step": f"'{step}'"}.items():
        sql = sql.replace(f"${{{name}}}", value)
    until = datetime.now(UTC)
    low, high = (f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (until - timedelta(days=30), until))
    return re.sub(r"\$__timeFilter\(([\w.]+)\)", rf"\1 >= '{low}' AND \1 <= '{high}'", sql)


COLUMNS = {"environment": "environment", "service_name": "service"}


def test_dashboards_are_made_of_the_cookbook() -> None:
    """The files are what docker/grafana/make.py writes."""
    if REGENERATE:
        for name, text in dashboards().items():
            (FOLDER / name).write_text(text, "utf-8")
    assert dict(dashboards()) == TEXTS


def test_every_question_has_a_panel() -> None:
    """And no panel is there twice."""
    titles = [panel["title"] for _, panel in PANELS]
    assert len(titles) == len(set(titles))
    assert {question(name).title for names in COOKBOOK.values() for name in names} <= set(titles)


@pytest.mark.parametrize("name", TEXTS)
def test_dashboards_are_of_grafanas_schema(name: str) -> None:
    """Read into the SDK's models and written again nothing is lost, so there is no key that Grafana does not know."""
    made = json.loads(TEXTS[name])
    read = Dashboard.from_json(made)
    written = json.loads(JSONEncoder(sort_keys=True).encode(read))
    assert lost(made, written) == []


def lost(made: Any, written: Any, path: str = "") -> list[str]:
    """Where what was made differs from what was read of it; what the models add is their default."""
    match made:
        case dict():
            there = written if isinstance(written, dict) else {}
            return [key for name in made for key in lost(made[name], there.get(name), f"{path}.{name}")]
        case list() if isinstance(written, list) and len(written) == len(made):
            return [
                key for at, pair in enumerate(zip(made, written, strict=True)) for key in lost(*pair, f"{path}[{at}]")
            ]
    return [] if made == written else [path]


@pytest.mark.parametrize("name", TEXTS)
def test_panels_lie_beside_each_other(name: str) -> None:
    """Within the width of a dashboard no two panels overlap, and each has an id of its own."""
    panels = [panel for dashboard, panel in PANELS if dashboard == name]
    taken = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(taken) == len(set(taken))
    assert max(x for x, _ in taken) < 24
    assert len({panel["id"] for panel in panels}) == len(panels)


@pytest.mark.parametrize(("panel", "target"), targets(DUCKDB))
def test_panels_have_answers(panel: dict[str, Any], target: dict[str, Any], month: Served) -> None:
    """Each query has rows, of types that the plugin knows; a series over time is in the order of time."""
    with opened(month.path) as connection:
        answer = connection.execute(asked(target["rawSql"], month))
        columns = {str(column[0]): str(column[1]) for column in answer.description or ()}
        found = answer.fetchall()
    assert found
    assert set(columns.values()) <= KNOWN_TYPES
    shown = {override["matcher"]["options"] for override in panel["fieldConfig"]["overrides"]}
    assert panel["type"] != "table" or shown & set(columns) or not shown
    if target["format"] == "time_series":
        times = [row[list(columns).index("time")] for row in found]
        assert times == sorted(times)


@pytest.mark.parametrize("sql", VARIABLES.values(), ids=list(VARIABLES))
def test_variables_have_values(sql: str, month: Served) -> None:
    """What one may choose of is found."""
    with opened(month.path) as connection:
        assert connection.execute(asked(sql, month)).fetchall()


@pytest.mark.parametrize(("panel", "target"), targets(PROMETHEUS))
def test_metrics_are_exposed(panel: dict[str, Any], target: dict[str, Any], month: Served) -> None:
    """Each metric of an expression is one that the running service shows, with the labels that it is grouped by."""
    samples = {(sample.name.removesuffix("_total")): set(sample.labels) for sample in scrape(month.metrics).samples}
    names = METRIC.findall(target["expr"])
    assert names
    assert [name for name in names if name not in samples] == []
    grouped = {label for labels in GROUPED.findall(target["expr"]) for label in labels.split(", ")}
    assert all(grouped <= samples[name] for name in names)
    assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= grouped, panel["title"]


def test_data_sources_are_those_of_the_panels() -> None:
    """What is provisioned has the types and uids that panels name, and opens the views read-only."""
    provisioned = yaml.safe_load((ROOT / "docker/grafana/provisioning/datasources/weaklink.yaml").read_text("utf-8"))
    sources = {source["uid"]: source for source in provisioned["datasources"]}
    assert [{"type": source["type"], "uid": uid} for uid, source in sources.items()] == [DUCKDB, PROMETHEUS]
    assert sources["weaklink"]["jsonData"]["readOnly"] is True


def test_the_containers_fit() -> None:
    """Grafana sees the data where weaklink has it, and dashboards where it looks for them; Prometheus scrapes."""
    services = yaml.safe_load((ROOT / "docker/compose.yaml").read_text("utf-8"))["services"]
    mounts = dict(mount.split(":")[:2] for mount in services["grafana"]["volumes"])
    sources = yaml.safe_load((ROOT / "docker/grafana/provisioning/datasources/weaklink.yaml").read_text("utf-8"))
    folders = yaml.safe_load((ROOT / "docker/grafana/provisioning/dashboards/weaklink.yaml").read_text("utf-8"))
    assert sources["datasources"][0]["jsonData"]["path"] == f"{mounts['weaklink-data']}/weaklink.duckdb"
    assert folders["providers"][0]["options"]["path"] == mounts["./grafana/dashboards"]
    scraped = yaml.safe_load((ROOT / "docker/grafana/prometheus.yaml").read_text("utf-8"))["scrape_configs"]
    port = services["weaklink"]["environment"]["WEAKLINK_TELEMETRY__METRICS__PROMETHEUS__ENDPOINT"].rpartition(":")[2]
    assert scraped[0]["static_configs"][0]["targets"] == [f"weaklink:{port}"]
    assert services["grafana"]["user"] == "10001:10001"  # the image's, whose data folder it is
