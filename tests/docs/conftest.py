import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from docs.pages import ROOT
from weaklink_service import Service, wait_until

BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Desk:
    """A folder that looks like the repository to a reader who follows a page, with a service of its own at work."""

    folder: Path
    service: Service

    def run(self, *command: str) -> str:
        """What a command prints to standard output; it must succeed."""
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment(), capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def environment(self) -> dict[str, str]:
        sources = os.pathsep.join(filter(None, (str(ROOT / "tests"), os.environ.get("PYTHONPATH"))))
        own = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{self.service.grpc}", "PYTHONPATH": sources}
        return os.environ | own | {"PATH": f"{BIN}:{os.environ['PATH']}"}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Nothing has been sent yet."""
    with Service(tmp_path / "weaklink-data") as service:
        yield _desk(tmp_path, service)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The example has been run, and its trace is evaluated."""
    folder = tmp_path_factory.mktemp("told")
    with Service(folder / "weaklink-data") as service:
        desk = _desk(folder, service)
        desk.run(".venv/bin/python", "examples/agent.py")
        wait_until(lambda: service.count("evaluations"), "the example's evaluation")
        yield desk


def _desk(folder: Path, service: Service) -> Desk:
    (folder / ".venv").symlink_to(BIN.parent)
    for name in ("examples", "tests"):
        (folder / name).symlink_to(ROOT / name)
    return Desk(folder, service)
