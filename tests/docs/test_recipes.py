"""Files for CI systems run as they stand, in an empty folder with what a checkout of this repository brings.

A step that installs is left out: weaklink and memledger are in the environment of these tests, where it would put them.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml

from docs.conftest import BIN
from docs.pages import ROOT

RECIPES = ROOT / "examples" / "ci"
MEND = " --confirmed"


@dataclass(frozen=True)
class Step:
    script: str
    always: bool = False


def github(told: Mapping[str, Any]) -> Sequence[Step]:
    """The steps of the only job that run a script."""
    (job,) = told["jobs"].values()
    return [Step(step["run"], "always()" in step.get("if", "")) for step in job["steps"] if "run" in step]


def gitlab(told: Mapping[str, Any]) -> Sequence[Step]:
    """The lines of the only job."""
    (job,) = told.values()
    return [Step(line) for line in job["script"]]


READERS = {"github-actions.yml": github, "gitlab-ci.yml": gitlab}


def run(recipe: str, folder: Path, drop: str = "") -> tuple[bool, str]:
    """Do as the CI system would: whether all steps passed, and what they printed."""
    (folder / "examples").symlink_to(ROOT / "examples")
    summary = {"GITHUB_STEP_SUMMARY": str(folder / "summary.md")} if recipe.startswith("github") else {}
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}"} | summary
    passed, printed = True, ""
    steps = READERS[recipe](yaml.safe_load((RECIPES / recipe).read_text("utf-8")))
    assert steps[0].script.startswith("pip install ")
    for step in steps[1:]:
        if passed or step.always:
            script = step.script.replace(drop, "") if drop else step.script
            done = subprocess.run(
                ["/bin/bash", "-e", "-c", script],
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode in {0, 1}, done.stderr
            passed, printed = passed and done.returncode == 0, printed + done.stdout
    return passed, printed


@pytest.mark.parametrize("recipe", READERS)
def test_a_recipe_passes_as_it_stands(recipe: str, tmp_path: Path) -> None:
    """Agents whose guess was confirmed pass."""
    passed, printed = run(recipe, tmp_path)
    assert passed, printed
    assert "gate passed: 2 of 2 decisions passed" in printed
    if recipe.startswith("gitlab"):
        assert ET.parse(tmp_path / "gate.xml").findall(".//failure") == []  # noqa: S314 - ours


@pytest.mark.skipif("WEAKLINK_RECIPES" not in os.environ, reason="WEAKLINK_RECIPES=1 runs them a second time, to fail")
@pytest.mark.parametrize("recipe", READERS)
def test_a_recipe_fails_on_the_cascade(recipe: str, tmp_path: Path) -> None:
    """The same agents without the confirmation fail, and the report names the memory at fault and its author."""
    passed, printed = run(recipe, tmp_path, drop=MEND)
    assert not passed
    if recipe.startswith("gitlab"):
        assert "memory at fault: triage-1, written by triage" in (tmp_path / "gate.xml").read_text("utf-8")
    else:
        assert printed.count("::error title=decision of ") == 2
        assert "**triage-1** by triage" in (tmp_path / "summary.md").read_text("utf-8")


def test_every_recipe_is_tested() -> None:
    """Each file of the folder is run above."""
    assert {path.name for path in RECIPES.iterdir()} == set(READERS)
