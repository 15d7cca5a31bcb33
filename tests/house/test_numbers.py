"""Settings that are numbers, sizes and durations, and what is none."""

import json
from pathlib import Path

import pytest

from weaklink_processor.errors import UsageError
from weaklink_processor.sources import load_config, settings

BOOLEAN = {
    "analysis.service_namespace",
    "forward.evaluations",
    "forward.enrich",
    "forward.sessions",
    "forward.spans",
    "forward.tls.insecure",
}
INSIDE = {
    "ANALYSIS__CONFIDENCE__SOURCES": {"direct": True},
    "ANALYSIS__CONFIDENCE__EXTRACTORS": {"gpt": False},
    "ANALYSIS__CONFIDENCE__TYPES": {"event": True},
    "ANALYSIS__FRESHNESS__HALF_LIVES": {"event": True},
    "ANALYSIS__NAMESPACES": {"/a": {"min_threshold": False}},
    "ANALYSIS__SERVICES": {"a": {"flag_threshold": True}},
    "ANALYSIS__RUBRICS": [{"name": "own", "weights": {"cycle": True}}],
    "FORWARD__DESTINATIONS": {"a": {"endpoint": "a:1", "timeout": True}},
}


def fault(file: Path, key: str, value: str) -> str:
    file.write_text(f"{key}: {value}")
    try:
        load_config(file, {}, {})
    except UsageError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("word", ["true", "no"])
def test_a_boolean_is_no_number(tmp_path: Path, word: str) -> None:
    """`yes` is not 1 and `no` not 0: it is refused for every setting but those that are yes or no."""
    file = tmp_path / "weaklink.yaml"
    taken = {key for key in settings() if not fault(file, key, word)}
    assert taken == BOOLEAN
    assert "lake.max_bytes: True: expected a number, which yes, no," in fault(file, "lake.max_bytes", "yes")


@pytest.mark.parametrize(("name", "value"), INSIDE.items())
def test_inside_a_mapping_neither(name: str, value: object) -> None:
    """Numbers of mappings and lists are held to the same."""
    with pytest.raises(UsageError, match="number"):
        load_config(None, {f"WEAKLINK_{name}": json.dumps(value)}, {})


@pytest.mark.parametrize("value", ["1w", "30 days", "soon", "1 minute", "5 s"])
@pytest.mark.parametrize("key", ["lake.retention", "forward.timeout", "analysis.clock_skew"])
def test_what_is_no_duration_is_told_what_is_one(tmp_path: Path, key: str, value: str) -> None:
    """The message has the units that there are."""
    expected = f"{key}: {value!r}: expected seconds, or a duration as 500ms, 90s, 15m, 12h or 30d"
    assert fault(tmp_path / "weaklink.yaml", key, value).endswith(expected)
