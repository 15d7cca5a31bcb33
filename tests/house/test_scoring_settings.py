from dataclasses import asdict
from pathlib import Path

import pytest

from weaklink_analysis.mai.attribution import ATTRIBUTION
from weaklink_analysis.operations import Settings
from weaklink_analysis.scoring import SCORING
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError
from weaklink_processor.sources import load_config
from weaklink_processor.wiring.analysing import analysis_settings

ELSEWHERE = ("name", "evaluation", "threshold", "assumed_confidence")
OWN = """
analysis:
  confidence: {repetition_weight: 0.3, sources: {Sensor Reading: 0.8, direct: 0.9}, extractors: {GPT-5: 0.95}}
  freshness: {half_lives: {Law: 3650}, floor: 0.2, stale_below: 0.4}
"""


def test_the_defaults_are_those_of_the_functions() -> None:
    """A service without settings derives confidences and judges as the scalar functions do without arguments."""
    assert analysis_settings(Config()) == Settings(scoring=SCORING, attribution=ATTRIBUTION)


def test_own_entries_go_beside_the_built_in_tables(tmp_path: Path) -> None:
    """An entry replaces the built-in one of its name, the others stay; names are read as those on spans are."""
    file = tmp_path / "own.yaml"
    file.write_text(OWN)
    scoring = analysis_settings(load_config(file, {}, {})).scoring
    assert scoring.sources == {**SCORING.sources, "sensor_reading": 0.8, "direct": 0.9}
    assert scoring.extractors == {**SCORING.extractors, "gpt-5": 0.95}
    assert scoring.half_lives == {**SCORING.half_lives, "law": 3650}
    assert (scoring.repetition_weight, scoring.freshness_floor, scoring.stale_below) == (0.3, 0.2, 0.4)


def test_every_number_of_the_attribution_rubric_is_a_setting() -> None:
    """What is not under analysis.attribution is the threshold and the assumed confidence, which count elsewhere too."""
    numbers = {"name": "own/1"} | {key: 0.45 for key in asdict(ATTRIBUTION) if key not in ELSEWHERE} | {"authors": 3}
    analysis = {"attribution": numbers, "threshold": 0.65, "assumed_confidence": 0.35}
    made = analysis_settings(Config.model_validate({"analysis": analysis}))
    assert asdict(made.attribution) == numbers | {
        "evaluation": ATTRIBUTION.evaluation,
        "threshold": 0.65,
        "assumed_confidence": 0.35,
    }
    assert (made.pass_threshold, made.assumed_confidence) == (0.65, 0.35)


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("WEAK_CHAIN", "0.3", "team-attribution/1, since weak_chain is not that of mai-attribution/1"),
        ("NAME", "mai-structural/1", "expected a name of its own, such as team-attribution/1"),
        ("NAME", " ", "expected a name of its own, such as team-attribution/1"),
        ("LOW", "0.7", "expected at least analysis.attribution.low, which is 0.7"),
        ("CORROBORATED", "1.5", "less than or equal to 1"),
        ("AUTHORS", "0", "greater than or equal to 1"),
    ],
)
def test_an_attribution_rubric_that_makes_no_sense_is_refused(key: str, text: str, said: str) -> None:
    """Each fault is told with the setting; other numbers need another name, by which their verdicts are told apart."""
    with pytest.raises(UsageError, match=r"analysis\.attribution|ANALYSIS__ATTRIBUTION") as refused:
        load_config(None, {f"WEAKLINK_ANALYSIS__ATTRIBUTION__{key}": text}, {})
    assert said in str(refused.value)
