"""The deployment files as tests read them."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
VARIABLE = re.compile(r"\$\{env:([A-Z_]+):-([^}]*)\}")

COLLECTOR: dict[str, Any] = yaml.safe_load((ROOT / "otel-config.yaml").read_text("utf-8"))
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text("utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def collector_variables() -> dict[str, str]:
    """Each variable of the Collector's configuration and its default."""
    return dict(VARIABLE.findall((ROOT / "otel-config.yaml").read_text("utf-8")))


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, continued lines joined."""
    text = (ROOT / "docker" / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, " ".join(rest.split())) for word, _, rest in (line.partition(" ") for line in lines)]


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    start = max(index for index, (word, _) in enumerate(found) if word == "FROM")
    return found[start:]


def image_environment() -> dict[str, str]:
    pairs = [pair for word, rest in last_stage() if word == "ENV" for pair in rest.split()]
    return dict(pair.split("=", 1) for pair in pairs)


def health_check() -> list[str]:
    (check,) = [rest for word, rest in last_stage() if word == "HEALTHCHECK"]
    command: list[str] = json.loads(check.partition("CMD ")[2])
    return command
