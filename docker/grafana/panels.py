"""Panels that ask DuckDB or Prometheus, and dashboards of them, as Grafana has them in JSON."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weaklink_analysis.cookbook import question

DUCKDB = {"type": "motherduck-duckdb-datasource", "uid": "weaklink"}
PROMETHEUS = {"type": "prometheus", "uid": "weaklink-metrics"}

PERIOD = re.compile(r"((?:\w+\.)?)(\w+) BETWEEN now\(\) - INTERVAL \d+ DAY AND now\(\)")
STEP = re.compile(r"INTERVAL '\d+ hours'")
CHOSEN = r" AND \1environment IN (${environment}) AND \1service_name IN (${service})"
STEPS = ("1 hour", "6 hours", "24 hours")
VARIABLES = {
    "environment": "SELECT DISTINCT environment FROM decisions ORDER BY ALL",
    "service": "SELECT DISTINCT service_name FROM decisions WHERE environment IN (${environment}) ORDER BY ALL",
}
WIDTH = 24
"""Of a dashboard, in Grafana's columns."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Panel:
    """A question of the cookbook, as a panel."""

    name: str
    kind: str = "table"
    width: int = 12
    height: int = 9
    unit: str = "short"
    units: Mapping[str, str] = field(default_factory=dict)
    """Of some columns."""
    stacked: bool = False
    own_period: bool = False
    """The question means its own period, whatever the dashboard shows."""
    transformations: Sequence[Json] = ()

    def sql(self) -> str:
        """Return the question, asked of the period, the environments and the services that are chosen."""
        period = r"\g<0>" if self.own_period else r"$__timeFilter(\1\2)"
        return STEP.sub("INTERVAL ${step}", PERIOD.sub(period + CHOSEN, question(self.name).sql))

    def made(self) -> Json:
        """Return the panel's JSON."""
        about = question(self.name)
        target = {
            "refId": "A",
            "datasource": DUCKDB,
            "rawSql": self.sql(),
            "format": "time_series" if self.kind == "timeseries" else "table",
            "rawQuery": True,
            "editorMode": "code",
        }
        made = _panel(self, about.title, about.text, DUCKDB, [target])
        made["fieldConfig"]["overrides"] = [
            {"matcher": {"id": "byName", "options": column}, "properties": [{"id": "unit", "value": unit}]}
            for column, unit in self.units.items()
        ]
        return made | ({"transformations": list(self.transformations)} if self.transformations else {})


@dataclass(frozen=True, slots=True)
class Metric:
    """Figures of the running service, as a panel."""

    title: str
    text: str
    expressions: Mapping[str, str]
    """PromQL by how its series are called."""
    unit: str = "short"
    kind: str = "timeseries"
    width: int = 12
    height: int = 8
    stacked: bool = False

    def made(self) -> Json:
        """Return the panel's JSON."""
        targets = [
            {"refId": chr(ord("A") + at), "datasource": PROMETHEUS, "expr": expression, "legendFormat": legend}
            for at, (legend, expression) in enumerate(self.expressions.items())
        ]
        return _panel(self, self.title, self.text, PROMETHEUS, targets)


def dashboard(name: str, title: str, panels: Sequence[Panel | Metric]) -> Json:
    """Return a dashboard's JSON; its variables and its period are those of its panels' data source."""
    from_duckdb = any(isinstance(panel, Panel) for panel in panels)
    return {
        "uid": f"weaklink-{name}",
        "title": title,
        "tags": ["weaklink"],
        "timezone": "utc",
        "editable": True,
        "graphTooltip": 1,
        "schemaVersion": 41,
        "refresh": "1m" if from_duckdb else "10s",
        "time": {"from": "now-7d" if from_duckdb else "now-1h", "to": "now"},
        "links": [_link()],
        "templating": {"list": _variables() if from_duckdb else []},
        "panels": list(_laid_out(panels)),
    }


def _laid_out(panels: Iterable[Panel | Metric]) -> Iterable[Json]:
    """From left to right, then down."""
    x = y = row = 0
    for number, panel in enumerate(panels, 1):
        if x + panel.width > WIDTH:
            x, y, row = 0, y + row, 0
        place = {"x": x, "y": y, "w": panel.width, "h": panel.height}
        yield {"id": number, "gridPos": place} | panel.made()
        x, row = x + panel.width, max(row, panel.height)


def _panel(panel: Panel | Metric, title: str, text: str, source: Json, targets: list[Json]) -> Json:
    stacking = {"stacking": {"mode": "normal", "group": "A"}, "fillOpacity": 30} if panel.stacked else {}
    return {
        "type": panel.kind,
        "title": title,
        "description": text,
        "datasource": source,
        "targets": targets,
        "fieldConfig": {"defaults": {"unit": panel.unit, "custom": stacking}, "overrides": []},
        "options": {},
    }


def _link() -> Json:
    """To the other dashboards."""
    return {
        "type": "dashboards",
        "title": "weaklink",
        "tags": ["weaklink"],
        "asDropdown": False,
        "icon": "external link",
        "includeVars": False,
        "keepTime": True,
        "targetBlank": False,
        "tooltip": "",
        "url": "",
    }


def _variables() -> list[Json]:
    asked = [
        {
            "type": "query",
            "name": name,
            "datasource": DUCKDB,
            "query": sql,
            "refresh": 2,
            "multi": True,
            "includeAll": True,
            "current": {"text": ["All"], "value": ["$__all"]},
        }
        for name, sql in VARIABLES.items()
    ]
    chosen = STEPS[1]
    options = [{"text": step, "value": step, "selected": step == chosen} for step in STEPS]
    step = {"type": "custom", "name": "step", "query": ", ".join(STEPS), "options": options}
    return [*asked, step | {"current": {"text": chosen, "value": chosen}}]
