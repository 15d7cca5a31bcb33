"""An installation without the tools of development: what pyproject.toml declares must be all that it needs."""

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from deploy.files import PROJECT, ROOT
from otlp import payload, write
from weaklink_processor.queue import framing

NAME = re.compile(r"[A-Za-z0-9._-]+")
SITE = Path(str(distribution("duckdb").locate_file("")))


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(requirements: list[str]) -> set[str]:
    """The distributions that these requirements bring, extras left out."""
    found: set[str] = set()
    waiting = list(requirements)
    while waiting:
        requirement = waiting.pop()
        match = NAME.match(requirement)
        if match is None or "extra ==" in requirement or canonical(match[0]) in found:
            continue
        try:
            waiting += distribution(match[0]).requires or []
        except PackageNotFoundError:  # for another platform or Python
            continue
        found.add(canonical(match[0]))
    return found


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder with what the declared dependencies installed here, and nothing of any other package."""
    folder = tmp_path / "site"
    folder.mkdir()
    for name in {*closure(PROJECT["project"]["dependencies"]), "weaklink"}:
        files = distribution(name).files or []
        for entry in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            target = folder / entry
            if not target.exists():  # a namespace package belongs to several
                target.symlink_to(SITE / entry)
    return folder


def test_nothing_undeclared_is_needed(bare: Path, tmp_path: Path) -> None:
    """Spans are analysed and a chain is shown with the declared dependencies alone."""
    story = [write(1, 1, "triage-1", 0.3), write(1, 2, "action-1", 0.95, at=1.0, parents=["triage-1"])]
    (tmp_path / "story.binpb").write_bytes(framing.join([payload(story)]))
    replay, chain = ["replay", str(tmp_path / "story.binpb")], ["chain", "action-1"]
    path = os.pathsep.join([str(bare), str(ROOT / "processor"), str(ROOT / "analysis")])
    for arguments in (replay, chain):
        # -S: no site-packages but ours
        command = [sys.executable, "-S", "-m", "weaklink_processor", *arguments, "--data-dir", str(tmp_path / "data")]
        done = subprocess.run(
            command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
    assert "weakest link: triage-1, effective confidence 0.30" in done.stdout
