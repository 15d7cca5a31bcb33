"""`weaklink sql` at a terminal."""

import os
import re
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

from lake_folder import LakeFolder
from shell import PROGRAM
from weaklink_service import PATIENCE

LONG = "SELECT count(*) FROM range(300000) AS a, range(400000) AS b WHERE (a.range * b.range) % 7 = 3"
PROMPT = "weaklink>"


class Terminal:
    """What a person sees and types."""

    def __init__(self, *arguments: str, state: Path) -> None:
        environment = {**os.environ, "XDG_STATE_HOME": str(state), "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.child = pexpect.spawn(
            sys.executable,
            [*PROGRAM[1:], "sql", *arguments],
            env=environment,
            dimensions=(60, 120),
            encoding="utf-8",
            timeout=PATIENCE,
        )

    def say(self, line: str, expected: str) -> None:
        """Type a line, and wait for what it makes appear."""
        self.child.send(f"{line}\r")
        self.child.expect(expected)

    def end(self) -> int | None:
        self.child.expect(pexpect.EOF)
        self.child.close()
        return self.child.exitstatus


@pytest.fixture
def folder(tmp_path: Path) -> LakeFolder:
    return LakeFolder(tmp_path / "data")


@pytest.fixture
def terminal(folder: LakeFolder, tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal("--data-dir", str(folder.path), "--param", "least=0.5", state=tmp_path / "state")
    terminal.child.expect(PROMPT)
    yield terminal
    terminal.child.close(force=True)


def test_statements_are_answered_on_what_is_newest(folder: LakeFolder, terminal: Terminal) -> None:
    """A statement ends with a semicolon, may have several lines, and sees what was published meanwhile."""
    terminal.say("SELECT count(*)", r"\.\.\.>")
    terminal.say("AS n FROM memories;", "│ +1 │")
    folder.publish("diagnosis-1", 0.85)
    terminal.say("SELECT count(*) AS n FROM memories;", "│ +2 │")
    terminal.say("SELECT memory_id FROM memories WHERE effective_confidence > $least;", "│ diagnosis-1 │")


def test_errors_never_end_it(terminal: Terminal) -> None:
    """A wrong statement, a forbidden one and a wrong command are told, and the next one is answered."""
    terminal.say("FROM memorys;", "hint: the nearest views and macros are memories")
    terminal.say("COPY memories TO 'x.csv';", "read-only")
    terminal.say(".descrbe memories", r"no command \.descrbe; perhaps \.describe")
    terminal.say(".format parquet", "expected one of table, markdown")
    terminal.say("SELECT 6 * 7 AS answer;", "│ +42 │")


def test_dot_commands_do_what_they_say(terminal: Terminal) -> None:
    """Views, their columns, forms, parameters, times, a watch, and the end."""
    terminal.say(".help", r"\.quit")
    terminal.say(".views", "memories")
    terminal.say(".describe memories", "effective_confidence *│ *DOUBLE")
    terminal.say(".format json", PROMPT)
    terminal.say(".param who=triage-1", PROMPT)
    terminal.say("SELECT $who AS who;", re.escape('{"who":"triage-1"}'))
    terminal.say(".timer on", PROMPT)
    terminal.say("SELECT 1 AS one;", r"\d\.\d\d\d s")
    terminal.say(".watch 0.1", "every 0.1 s; Ctrl-C ends it")
    terminal.child.sendintr()
    terminal.say(".quit", "")
    assert terminal.end() == 0


def test_ctrl_c_stops_a_query_and_ctrl_d_ends(terminal: Terminal) -> None:
    """A long query shows how far it is; stopped, it leaves the prompt, and what was typed there is left likewise."""
    terminal.say(f"{LONG};", r"\d+%.*Ctrl-C stops it")
    terminal.child.sendintr()
    terminal.child.expect("stopped")
    terminal.child.expect(PROMPT)
    terminal.child.send("SELECT nonsense")
    terminal.child.sendintr()
    terminal.say("SELECT 6 * 7 AS answer;", "│ +42 │")
    terminal.child.expect(PROMPT)
    terminal.child.sendeof()
    assert terminal.end() == 0


def test_names_are_completed(terminal: Terminal) -> None:
    """Tab completes columns, views and commands."""
    terminal.child.send("SELECT eff\t")
    terminal.child.expect("ective_confidence")
    terminal.child.send(" FROM memori\t")
    terminal.child.expect("es")
    terminal.say(";", "0.3 │")
    terminal.child.expect(PROMPT)
    terminal.child.send(".descr\t")
    terminal.child.expect("ibe")
    terminal.say(" memories", "effective_confidence *│ *DOUBLE")


def test_history_is_the_users_own(folder: LakeFolder, terminal: Terminal, tmp_path: Path) -> None:
    """What was typed is there the next time, in a file that nobody else reads."""
    terminal.say("SELECT 'remembered' AS word;", "│ remembered │")
    terminal.say(".quit", "")
    assert terminal.end() == 0
    file = tmp_path / "state" / "weaklink" / "sql_history"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    again = Terminal("--data-dir", str(folder.path), state=tmp_path / "state")
    again.child.expect(PROMPT)
    again.child.send("\x1b[A\x1b[A")  # .quit, and what was before it
    again.say("", "│ remembered │")
    again.child.close(force=True)


def test_a_statement_at_a_terminal_can_be_stopped(folder: LakeFolder, tmp_path: Path) -> None:
    """Ctrl-C ends one that was given as an argument, too, at once."""
    terminal = Terminal(LONG, "--data-dir", str(folder.path), state=tmp_path)
    terminal.child.expect(r"\d+%.*Ctrl-C stops it")
    terminal.child.sendintr()
    terminal.child.expect("Aborted!")
    assert terminal.end() == 130


def test_without_a_data_folder_there_is_no_prompt(tmp_path: Path) -> None:
    """What is missing is said at once."""
    terminal = Terminal("--data-dir", str(tmp_path / "none"), state=tmp_path)
    terminal.child.expect("make one with `weaklink serve`")
    assert terminal.end() == 2
