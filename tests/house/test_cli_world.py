"""What the world does to the command line: files that may not be read, bytes that are no text, Ctrl-C."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from shell import PROGRAM, printed, started
from sql_call import refusal
from weaklink_processor import wiring
from weaklink_processor.cli import main
from weaklink_processor.config import Config

READERS = (
    ["status"],
    ["doctor"],
    ["gate"],
    ["chain", "triage-1"],
    ["impact", "triage-1"],
    ["sql", "SELECT 1"],
    ["compact"],
)


def _queue(data_dir: Path) -> None:
    with wiring.open_queue(Config(data_dir=data_dir)):
        pass


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_a_folder_that_may_not_be_read_is_named(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    """One line with the path, and exit code 2: 1 would be a gate that is failed."""
    there = Path.exists

    def forbid(path: Path) -> bool:
        if path.is_relative_to(data_dir):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return there(path)

    _queue(data_dir)
    monkeypatch.setattr(Path, "exists", forbid)
    done = CliRunner().invoke(main, [*command, "--data-dir", str(data_dir)])
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"Error: {data_dir}")
    assert line.endswith(": Permission denied")


def test_a_full_disk_is_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody says which file there is no room for, one line says that there is none, with exit code 2."""

    def full(*_args: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("weaklink_processor.commands.replay.take", full)
    done = CliRunner().invoke(main, ["gate", str(tmp_path / "some.binpb")])
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", "Error: No space left on device\n")


def test_a_queue_that_may_not_be_written_is_looked_into(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is made beside it; where its log is there, somebody is at work and has made what it takes."""
    _queue(data_dir)
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or not stat.S_ISDIR(path.stat().st_mode))
    before = sorted(path.name for path in data_dir.iterdir())
    with wiring.look_into_queue(Config(data_dir=data_dir)) as queue:
        assert queue.stats().rows == 0
        assert sorted(path.name for path in data_dir.iterdir()) == before


@pytest.mark.parametrize("name", ["x [a]", "a[/b]", "[bold]b", "\u20ac[", "long" * 50])
def test_a_folder_is_called_what_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Markup in its name is no markup of ours, and a path is on one line, to be copied."""
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / name).mkdir(parents=True)
    _queue(tmp_path / name)
    assert printed("status", "--data-dir", name, cwd=tmp_path).splitlines()[0] == str(tmp_path / name)


def test_a_result_takes_no_folders_place(data_dir: Path, tmp_path: Path) -> None:
    """The folder is named."""
    (tmp_path / "folder").mkdir()
    said = refusal(data_dir, "FROM memories", "--format", "csv", "--output", str(tmp_path / "folder"))
    assert said == f"Error: --output: '{tmp_path}/folder': Is a directory\n"


@pytest.mark.parametrize(
    "arguments",
    [["sql", "SELECT '\udcff'"], ["chain", "\udcff"], ["gate", "--service", "\udcff"], ["sql", "--param", "a=\udcff"]],
)
def test_arguments_are_text(data_dir: Path, arguments: list[str]) -> None:
    """One that is not UTF-8 is shown as its bytes."""
    done = CliRunner().invoke(main, [*arguments, "--data-dir", str(data_dir)])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.endswith(f"{os.fsencode(arguments[-1])!r}: expected an argument in UTF-8\n")


@pytest.mark.parametrize("arguments", [["sql", "-"], ["sql"]])
@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_standard_input_is_text(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], locale: str
) -> None:
    """Statements that are not UTF-8 are refused, whatever the locale has Python do with such bytes."""
    monkeypatch.setenv("LC_ALL", locale)
    done = subprocess.run(
        [*PROGRAM, *arguments, "--data-dir", data_dir], input=b"SELECT '\xff'", capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"'utf-8' codec can't decode byte 0xff" in done.stderr
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_a_terminal_has_no_letter_for_is_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    """Standard output may be of any encoding, and no command fails of it."""
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    monkeypatch.setenv("COLUMNS", "300")
    (tmp_path / "\u20ac").mkdir()
    _queue(tmp_path / "\u20ac")
    done = started("status", "--data-dir", "\u20ac", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.splitlines()[0].strip() == f"{tmp_path}/\\u20ac".encode()


INTERRUPTED = """
import signal, sys
from unittest.mock import patch
from weaklink_processor.cli import main

def interrupted(*_):
    try:
        signal.raise_signal(signal.SIGINT)
    except BaseException as error:
        if {lost}:
            raise ValueError from error
        raise

with patch({place!r}, interrupted):
    main()
"""
PLACES = {
    "importlib.import_module": True,  # pydantic's compiled part makes an error of its own of it
    "weaklink_processor.commands.options.load_config": False,
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("command", "code"), [("gate", 130), ("doctor", 130), ("serve", 0)])
def test_ctrl_c_is_no_verdict(tmp_path: Path, place: str, command: str, code: int) -> None:
    """It ends a command with 130, as shells have it, and not with 1; a service that begins with 0, as one that runs."""
    program = INTERRUPTED.format(place=place, lost=PLACES[place])
    done = subprocess.run([sys.executable, "-c", program, command], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr in {b"", b"Aborted!\n"}


LOADING = """
import signal, sys

class Interrupting:
    def find_spec(self, name, *_):
        if name == "click":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from weaklink_processor.__main__ import main
main()
"""


@pytest.mark.parametrize(("command", "code"), [("gate", 130), ("serve", 0)])
def test_ctrl_c_while_it_is_loaded_is_no_traceback(tmp_path: Path, command: str, code: int) -> None:
    """It ends as it does later, in silence."""
    done = subprocess.run([sys.executable, "-c", LOADING, command], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


@pytest.mark.parametrize("command", ["gate", "doctor"])
def test_an_age_that_is_none_is_a_line(tmp_path: Path, command: str) -> None:
    """Behind the message nothing tells of what is left in memory."""
    done = started(command, "--since", "yesterday", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(b"Error: Invalid value for '--since': 'yesterday': expected ")
