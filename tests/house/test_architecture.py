import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLANTED = {
    "processor/weaklink_processor/errors.py": "import weaklink_processor.config",
    "processor/weaklink_processor/config/values.py": "import weaklink_processor.receive",
    "processor/weaklink_processor/queue/store.py": "import weaklink_processor.lake",
    "processor/weaklink_processor/supervise/lock.py": "import weaklink_processor.wiring",
    "processor/weaklink_processor/wiring/sending.py": "import weaklink_processor.commands.sql",
    "processor/weaklink_processor/commands/sql.py": "import weaklink_processor.cli",
    "processor/weaklink_processor/testing/mai.py": "import weaklink_processor.commands.gate",
    "analysis/weaklink_analysis/spans.py": "import weaklink_processor.errors",
    "analysis/weaklink_analysis/operations.py": "import threading",
    "analysis/weaklink_analysis/identity.py": "import weaklink_analysis.emit",
    "analysis/weaklink_analysis/gate/judging.py": "import weaklink_analysis.doctor",
    "analysis/weaklink_analysis/mai/measures.py": "import weaklink_analysis.operations",
    "analysis/weaklink_analysis/emit/known.py": "import weaklink_analysis.names",
    "analysis/weaklink_analysis/emit/records.py": "import pyarrow",
    "processor/weaklink_processor/attic.py": "",  # rooms that have no place in the contracts
    "analysis/weaklink_analysis/cellar.py": "",
}


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    sources = f"{root / 'processor'}:{root / 'analysis'}"
    script = (
        "import sys; sys.path[:0] = sys.argv.pop(1).split(':');"
        "from importlinter.cli import lint_imports_command; lint_imports_command()"
    )
    assert program.exists()
    command = [sys.executable, "-c", script, sources, "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("processor", "analysis"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_imports_run_downward() -> None:
    """The contracts of pyproject.toml hold."""
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout
    assert "5 kept, 0 broken" in done.stdout


@pytest.mark.parametrize(("file", "line"), PLANTED.items())
def test_a_planted_import_is_found(copy: Path, file: str, line: str) -> None:
    """One import that runs upward, sideways or out of the analysis fails the build, and is named."""
    with (copy / file).open("a") as source:
        source.write(f"\n{line}\n")
    done = lint(copy)
    assert done.returncode == 1, done.stdout
    assert line.removeprefix("import ") in done.stdout
    assert file.removesuffix(".py").rpartition("/")[2] in done.stdout
