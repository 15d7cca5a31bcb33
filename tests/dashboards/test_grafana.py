"""The dashboards of docker/grafana, and what provisions them.

No Grafana server could be had where this was written: npm's package of that name is a placeholder, Debian has none,
and Go's proxy does not give the module out. The JSON is held to the models of Grafana's own SDK instead, which are
made of its schema.
"""

import json
from importlib.resources import files

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards.conftest import ROOT
from dashboards.models import lost, unfit
from dashboards.panels_asked import PANELS, TEXTS
from golden import REGENERATE
from make import FOLDER, dashboards
from panels import DUCKDB, PROMETHEUS
from weaklink_analysis.cookbook import COOKBOOK, question, questions


def test_every_file_is_a_question() -> None:
    """The cookbook lists each of its files once, at least twenty; no two have one title."""
    listed = [name for names in COOKBOOK.values() for name in names]
    there = [file.name for file in files("weaklink_analysis.cookbook").iterdir() if file.name.endswith(".sql")]
    assert sorted(f"{name}.sql" for name in listed) == sorted(there)
    assert len({one.title for one in questions()}) == len(listed) >= 20


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
    """Grafana's models know every key, and each value has the type that they declare.

    Only queries for DuckDB are of no model, since their plugin is not one of Grafana's.
    """
    made = json.loads(TEXTS[name])
    read = Dashboard.from_json(made)
    assert lost(made, json.loads(JSONEncoder(sort_keys=True).encode(read))) == []
    assert unfit(read, Dashboard) == []


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
