"""Statements in, results as files out: each on the views as they are when it runs."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from weaklink_processor import wiring
from weaklink_processor.commands.interrupts import end_at_once
from weaklink_processor.commands.sql_attend import Stuck, attended
from weaklink_processor.commands.sql_forms import Sheet, write
from weaklink_processor.commands.sql_guard import lock, require_reading
from weaklink_processor.commands.sql_parameters import Parameter, bound
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError


@dataclass(slots=True)
class Session:
    """What the statements of one call share."""

    config: Config
    folder: Path
    """Of its own: results, and what a query has no memory for."""
    parameters: tuple[Parameter, ...] = ()
    form: str = "table"
    shared: bool = False
    """Whether the parameters are for several statements, of which each takes those that it names."""
    bar: bool = True
    """Whether long queries show how far they are, on a terminal."""

    @classmethod
    @contextmanager
    def opened(
        cls, config: Config, parameters: tuple[Parameter, ...], form: str, beside: Path | None = None
    ) -> "Iterator[Session]":
        """Yield a session whose folder is in the one of the file `beside`, and is deleted.

        Raises:
            UsageError: nothing can be written there.
        """
        try:
            folder = tempfile.TemporaryDirectory(prefix="weaklink-", dir=beside.parent if beside else None)
        except OSError as error:
            raise UsageError(f"--output: {str(beside)!r}: {error.strerror}") from error
        with folder as path:
            yield cls(config, Path(path).absolute(), parameters, form)

    @contextmanager
    def snapshot(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield the views as they are now, to read and nothing else.

        Raises:
            UsageError: there are none yet.
        """
        with wiring.open_catalogue(self.config) as catalogue:
            lock(catalogue, self.folder)
            yield catalogue

    @property
    def result(self) -> Path:
        """Where results are written, each in the place of the one before."""
        return self.folder / "result"

    def answer(self, text: str, sheet: Sheet, print_more: Callable[[], bool] = bool) -> Path:
        """Return the result of the one statement of this text, whole, in a file that the next result replaces.

        `print_more` is called now and then while it grows.

        Raises:
            UsageError: it cannot be run, and why.
            KeyboardInterrupt: the user stopped it.
        """
        with self.snapshot() as catalogue:
            statements = _statements(catalogue, text)
            if len(statements) != 1:
                raise UsageError(f"expected one SQL statement, got {len(statements)}")
            return self._result(catalogue, statements[0], sheet, print_more)

    def answers(self, text: str, sheet: Sheet) -> Iterator[Path]:
        """Yield the result of each statement of this text, as `answer` does."""
        with self.snapshot() as catalogue:
            for statement in _statements(catalogue, text):
                yield self._result(catalogue, statement, sheet)

    def _result(
        self,
        catalogue: duckdb.DuckDBPyConnection,
        statement: duckdb.Statement,
        sheet: Sheet,
        print_more: Callable[[], bool] = bool,
    ) -> Path:
        file = self.result
        values = self._values(catalogue, statement)
        text = bare(statement.query)

        def run() -> None:
            require_reading(catalogue, statement, values)
            relation = catalogue.sql(text, params=values) if values else catalogue.sql(text)
            write(catalogue, relation, self.form, file, sheet)

        try:
            attended(catalogue, run, bar=self.bar, print_more=print_more)
        except Stuck as stuck:
            shutil.rmtree(self.folder, ignore_errors=True)
            end_at_once(stuck.__cause__)
        except duckdb.Error as error:
            raise _told(catalogue, statement.query, error) from error
        return file

    def _values(self, catalogue: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> dict[str, Any]:
        values = bound(catalogue, self.parameters)
        unused = values.keys() - statement.named_parameters
        if unused and not self.shared:
            raise UsageError(f"--param {min(unused)}: the statement has no ${min(unused)}")
        return {name: value for name, value in values.items() if name not in unused}


def bare(text: str) -> str:
    """Return a statement without the semicolon that ends it, and what comes after."""
    data = text.encode()
    starts = [start for start, kind in duckdb.tokenize(text) if kind != duckdb.token_type.comment]
    ended = starts and data[starts[-1] : starts[-1] + 1] == b";"
    return data[: starts[-1]].decode() if ended else text


def _statements(catalogue: duckdb.DuckDBPyConnection, text: str) -> list[duckdb.Statement]:
    try:
        return catalogue.extract_statements(text)
    except duckdb.Error as error:
        raise _told(catalogue, text, error) from error


def _told(catalogue: duckdb.DuckDBPyConnection, text: str, error: duckdb.Error) -> UsageError:
    from weaklink_processor.commands.sql_hints import explained

    return UsageError(explained(catalogue, text, error))
