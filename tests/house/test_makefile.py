import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A checkout on a machine whose programs are those of its `bin`, and the system's own tools."""
    (tmp_path / "bin").mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("sh", "make", "mkdir", "touch", "cat", "chmod"):
        program = shutil.which(name)
        assert program is not None
        (tmp_path / "bin" / name).symlink_to(program)
    return tmp_path


def program(machine: Path, name: str, script: str) -> None:
    file = machine / "bin" / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def make(machine: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": str(machine / "bin"), "HOME": str(machine)}
    program = str(machine / "bin" / "make")
    return subprocess.run([program, *arguments], cwd=machine, env=env, capture_output=True, text=True, check=False)


# A stand-in for python3: it makes a virtual environment whose python notes what it is called with.
PYTHON = """
case "$1" in
  -c) exit {too_old} ;;
  --version) echo "Python 3.8.1" ;;
  -m) mkdir -p .venv/bin
      echo made by {name} >> log
      printf '#!/bin/sh\\necho "$@" >> log\\n' > .venv/bin/python
      printf '#!/bin/sh\\necho serving "$@"\\n' > .venv/bin/weaklink
      chmod +x .venv/bin/python .venv/bin/weaklink ;;
esac
"""


def test_an_old_python_is_told(machine: Path) -> None:
    """Without Python 3.11 or newer there is one clear message, and no environment."""
    program(machine, "python3", PYTHON.format(name="python3", too_old=1))
    done = make(machine, "serve")
    assert done.returncode == 2
    assert "weaklink needs Python 3.11 or newer; found: Python 3.8.1" in done.stderr
    assert not (machine / ".venv").exists()


def test_a_newer_python_beside_an_old_one_is_used(machine: Path) -> None:
    """Where plain python3 is too old, python3.12 is taken."""
    program(machine, "python3", PYTHON.format(name="python3", too_old=1))
    program(machine, "python3.12", PYTHON.format(name="python3.12", too_old=0))
    assert make(machine, "serve").returncode == 0
    assert "made by python3.12" in (machine / "log").read_text()


def test_only_a_change_installs_again(machine: Path) -> None:
    """The second run installs nothing; a changed pyproject.toml does, in the same environment."""
    program(machine, "python3", PYTHON.format(name="python3", too_old=0))
    assert make(machine, "serve", "ARGS=--grpc 127.0.0.1:0").stdout == "serving serve --grpc 127.0.0.1:0\n"
    first = (machine / "log").read_text()
    assert "install" in first
    make(machine, "serve")
    assert (machine / "log").read_text() == first
    later = (machine / ".venv/.installed").stat().st_mtime + 5
    os.utime(machine / "pyproject.toml", (later, later))
    make(machine, "serve")
    log = (machine / "log").read_text()
    assert log.count("install") == 2 * first.count("install")
    assert log.count("made by") == 1


def test_uv_is_used_where_it_is(machine: Path) -> None:
    """With uv on the path pip is not called."""
    program(machine, "python3", PYTHON.format(name="python3", too_old=0))
    program(machine, "uv", 'echo "uv $@" >> log; [ "$1" = venv ] && exec python3 -m venv; exit 0')
    assert make(machine, "serve").returncode == 0
    log = (machine / "log").read_text()
    assert "uv pip install" in log
    assert "-m pip" not in log
