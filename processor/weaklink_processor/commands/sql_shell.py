"""Statements that come bit by bit: from a person at a terminal, or from standard input."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter

import click

from weaklink_processor.commands.sql_forms import Sheet, deliver
from weaklink_processor.commands.sql_session import Session, bare
from weaklink_processor.errors import UsageError


@dataclass(slots=True)
class Shell:
    """What statements and dot commands change of one another's work."""

    session: Session
    max_rows: int | None = None
    timer: bool = False
    latest: str | None = None
    """The last statements that had an answer."""
    ended: bool = False

    def take(self, text: str) -> None:
        """Obey a dot command, or answer statements.

        Raises:
            UsageError: it cannot be done, and why.
        """
        if text.startswith("."):
            from weaklink_processor.commands.sql_dots import obey

            obey(self, text)
            return
        began = perf_counter()
        for file in self.session.answers(text, Sheet.of_stdout(self.max_rows)):
            deliver(file, None)
        self.latest = text
        if self.timer:
            click.echo(f"{perf_counter() - began:.3f} s")


def run(session: Session, max_rows: int | None) -> None:
    """Take what comes until it ends; from standard input, until something cannot be done.

    Raises:
        UsageError: nothing came, or it cannot be done.
    """
    session.shared = True
    shell = Shell(session, max_rows)
    if sys.stdin.isatty() and sys.stdout.isatty():
        from weaklink_processor.commands.sql_repl import converse

        converse(shell)
        return
    nothing = True
    for text in chunks(_lines(sys.stdin)):
        nothing = False
        shell.take(text)
        if shell.ended:
            return
    if nothing:
        raise UsageError("expected an SQL statement: as an argument, with --file, or on standard input")


def _lines(stream: Iterable[str]) -> Iterator[str]:
    try:
        yield from stream
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input: {error}") from error


def chunks(lines: Iterable[str]) -> Iterator[str]:
    """Yield each dot command, and each run of lines up to one that ends a statement."""
    pending = ""
    for line in lines:
        if not pending.strip() and line.startswith("."):
            yield line.strip()
            continue
        pending += line
        if ";" in line and is_complete(pending):
            yield pending
            pending = ""
    if pending.strip():
        yield pending


def is_complete(text: str) -> bool:
    """Return whether a statement ends here: its last word is a semicolon, and not one in a text or a comment."""
    return bare(text) != text
