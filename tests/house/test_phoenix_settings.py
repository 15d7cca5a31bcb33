"""Settings of a destination that takes annotations."""

from pathlib import Path

import pytest

from weaklink_processor.config import Config
from weaklink_processor.endpoint import parse_endpoint
from weaklink_processor.errors import UsageError
from weaklink_processor.sources import load_config
from weaklink_processor.wiring.sending import bring_spans


def loaded(tmp_path: Path, text: str) -> Config:
    file = tmp_path / "weaklink.yaml"
    file.write_text(text)
    return load_config(file, {}, {})


@pytest.mark.parametrize("setting", ["compression: gzip", "spans: true", "evaluations: false", "enrich: true"])
def test_what_makes_no_sense_is_a_fault(tmp_path: Path, setting: str) -> None:
    """It is named, for forward itself and for a destination, and so is what is expected."""
    key, _, _ = setting.partition(":")
    own = f"{{protocol: phoenix, endpoint: 'phoenix:6006', {setting}}}"
    with pytest.raises(UsageError, match=rf"forward\.{key}: .*: expected .* with protocol: phoenix"):
        loaded(tmp_path, f"forward: {own}")
    with pytest.raises(UsageError, match=rf"forward\.destinations\.p\.{key}: .*: expected .* with protocol: phoenix"):
        loaded(tmp_path, f"forward: {{destinations: {{p: {own}}}}}")


@pytest.mark.parametrize("setting", ["compression: none", "spans: false", "evaluations: true", "sessions: true"])
def test_what_makes_sense_is_taken(tmp_path: Path, setting: str) -> None:
    """Nothing is a fault that says what holds anyhow; spans are not sent."""
    config = loaded(tmp_path, f"forward: {{protocol: phoenix, endpoint: 'phoenix:6006', {setting}}}")
    assert not config.forward.takes_spans


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("localhost:6006", "http://localhost:6006"),
        ("https://phoenix.example.org/phoenix/", "https://phoenix.example.org/phoenix"),
    ],
)
def test_the_endpoint_is_that_of_phoenix(text: str, url: str) -> None:
    """Maybe with a path, beneath which its routes are."""
    assert parse_endpoint(text, "phoenix").url == url


@pytest.mark.parametrize("text", ["localhost", "http://localhost:6006/v1/traces", "http://a:6006/?x=1"])
def test_other_endpoints_are_faults(text: str) -> None:
    """Among them the one that takes spans."""
    with pytest.raises(ValueError, match="expected HOST:PORT, http://HOST or https://HOST of Phoenix"):
        parse_endpoint(text, "phoenix")


def test_annotations_follow_the_spans_to_the_same_host(tmp_path: Path) -> None:
    """Whatever the port and the name of this machine; a destination elsewhere, or without spans, is not waited for."""
    config = loaded(
        tmp_path,
        """
        forward:
          endpoint: http://localhost:4317
          destinations:
            p: {protocol: phoenix, endpoint: "http://127.0.0.1:6006"}
            elsewhere: {endpoint: "collector:4317"}
            verdicts: {endpoint: "localhost:14317", spans: false}
            far: {protocol: phoenix, endpoint: "https://phoenix.example.org"}
        """,
    )
    everywhere = config.forward.all
    assert bring_spans(everywhere["p"], everywhere) == ["forward:http://localhost:4317"]
    assert bring_spans(everywhere["far"], everywhere) == []
    assert bring_spans(everywhere["elsewhere"], everywhere) == []
