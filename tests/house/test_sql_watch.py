"""A statement that runs again and again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pexpect
import pytest

from lake_folder import LakeFolder
from shell import PROGRAM
from sql_call import refusal
from weaklink_service import PATIENCE

COUNT = "SELECT count(*) AS n FROM memories"


def test_a_pipe_gets_one_result_after_the_other(tmp_path: Path) -> None:
    """Each is of what is published then; Ctrl-C is the end, and no failure."""
    folder = LakeFolder(tmp_path / "data")
    command = [*PROGRAM, "sql", COUNT, "--data-dir", str(folder.path), "--format", "jsonl", "--watch", "0.05"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == '{"n":1}\n'
        folder.publish("diagnosis-1", 0.85)
        while (line := process.stdout.readline()) == '{"n":1}\n':
            pass
        assert line == '{"n":2}\n'
        process.send_signal(signal.SIGINT)
        assert set(process.stdout.read().splitlines()) <= {'{"n":2}'}
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_a_terminal_is_drawn_anew(tmp_path: Path) -> None:
    """The table takes the place of the one before, is no higher than the screen, and says when it was."""
    folder = LakeFolder(tmp_path / "data")
    command = [
        *PROGRAM[1:],
        "sql",
        f"{COUNT}, range(100) GROUP BY range",
        "--data-dir",
        str(folder.path),
        "--watch",
        "0.1",
    ]
    child = pexpect.spawn(sys.executable, command, dimensions=(20, 80), encoding="utf-8", timeout=PATIENCE)
    child.expect("100 rows")
    child.expect("UTC, every 0.1 s; Ctrl-C ends it")
    child.expect("\x1b\\[1A")  # a line up, over what is there
    folder.publish("diagnosis-1", 0.85)
    child.expect("│ +2 │")
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0


def test_a_file_is_kept_new(tmp_path: Path) -> None:
    """With --output each result replaces the one before, whole; SIGTERM leaves that and nothing else."""
    folder = LakeFolder(tmp_path / "data")
    file = tmp_path / "count.csv"
    command = [*PROGRAM, "sql", COUNT, "--data-dir", str(folder.path), "--format", "csv", "--watch", "0.05"]
    scratch = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([*command, "--output", str(file)], env=scratch) as process:
        while not file.exists():
            assert process.poll() is None
        folder.publish("diagnosis-1", 0.85)
        while file.read_text() == "n\n1\n":
            assert process.poll() is None
        assert file.read_text() == "n\n2\n"
        process.terminate()
    assert process.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["count.csv", "data"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["SELECT 1", "--watch", "0"], "--watch"),
        (["--watch", "1"], "--watch: expected with it a STATEMENT"),
        (["--output", "x.csv", "--format", "csv"], "--output: expected with it a STATEMENT"),
        (["FROM nowhere", "--watch", "1"], "nowhere"),
    ],
)
def test_what_cannot_be_watched_is_refused(tmp_path: Path, arguments: list[str], expected: str) -> None:
    """A wrong statement ends it at once."""
    assert expected in refusal(LakeFolder(tmp_path / "data").path, *arguments)
