from pathlib import Path

from weaklink_analysis.scoring import SCORING
from weaklink_processor.config import Config
from weaklink_processor.sources import load_config
from weaklink_processor.wiring.analysing import analysis_settings

OWN = """
analysis:
  confidence: {repetition_weight: 0.3, sources: {Sensor Reading: 0.8, direct: 0.9}, extractors: {GPT-5: 0.95}}
  freshness: {half_lives: {Law: 3650}, floor: 0.2, stale_below: 0.4}
"""


def test_the_defaults_are_those_of_the_functions() -> None:
    """A service without settings derives confidences as the scalar functions do without arguments."""
    assert analysis_settings(Config()).scoring == SCORING


def test_own_entries_go_beside_the_built_in_tables(tmp_path: Path) -> None:
    """An entry replaces the built-in one of its name, the others stay; names are read as those on spans are."""
    file = tmp_path / "own.yaml"
    file.write_text(OWN)
    scoring = analysis_settings(load_config(file, {}, {})).scoring
    assert scoring.sources == {**SCORING.sources, "sensor_reading": 0.8, "direct": 0.9}
    assert scoring.extractors == {**SCORING.extractors, "gpt-5": 0.95}
    assert scoring.half_lives == {**SCORING.half_lives, "law": 3650}
    assert (scoring.repetition_weight, scoring.freshness_floor, scoring.stale_below) == (0.3, 0.2, 0.4)
