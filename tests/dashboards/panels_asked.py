"""The panels of docker/grafana/dashboards, and what each asks of its data source."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from make import FOLDER

TEXTS = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.json"))}
PANELS = [(name, panel) for name, text in TEXTS.items() for panel in json.loads(text)["panels"]]

COLUMNS = {"environment": "environment", "service_name": "service"}
"""Columns by the variable whose values are theirs."""


def targets(source: dict[str, str]) -> list[Any]:
    """Each query of this data source beside its panel, as parameters of a test."""
    return [
        pytest.param(panel, target, id=f"{Path(name).stem} {panel['title']} {target['refId']}")
        for name, panel in PANELS
        for target in panel["targets"]
        if target["datasource"] == source
    ]


def asked(sql: str, chosen: Mapping[str, str]) -> str:
    """What DuckDB is asked: variables as the front end puts them, quoted; then the macro of the SDK."""
    for name, values in chosen.items():
        sql = sql.replace(f"${{{name}}}", values)
    until = datetime.now(UTC)
    low, high = (f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (until - timedelta(days=30), until))
    return re.sub(r"\$__timeFilter\(([\w.]+)\)", rf"\1 >= '{low}' AND \1 <= '{high}'", sql)
