"""The forms of a result. Each writes a relation to a file; in every one but a table all values are exact."""

import io
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import duckdb

from weaklink_processor.commands.sql_finite import finite
from weaklink_processor.commands.sql_flow import Flow
from weaklink_processor.errors import UsageError

ROWS = 100
"""Of a table, where nobody says how many."""
BINARY = ("parquet", "arrow")
"""Forms that are nothing to look at."""
_UNBOUNDED = 10_000  # columns of text, where no terminal sets a limit
_NARROWEST = 80  # columns of text, less than which DuckDB draws no table into
_CHUNK = 10_000
_PLAN = ["explain_key", "explain_value"]
_MARKUP = re.compile(r"[\\|`*<\[&]|(?<![^\W_])_|_(?![^\W_])")
"""What Markdown would take for its own."""
_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\)")


@dataclass(frozen=True, slots=True)
class Sheet:
    """What there is room for."""

    columns: int = _UNBOUNDED
    """Of text, in a table."""
    rows: int | None = None
    """At most; None: as many as the form shows by itself."""

    @classmethod
    def of_stdout(cls, rows: int | None) -> "Sheet":
        """Return one as wide as the terminal; without a limit where there is none."""
        return cls(shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNBOUNDED, rows)


def write(
    catalogue: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation, form: str, file: Path, sheet: Sheet
) -> None:
    """Write a relation of this connection to a file that is made anew."""
    if form == "table":
        file.write_text(_plan(relation) if relation.columns == _PLAN else _table(relation, sheet), "utf-8")
    else:
        FORMS[form](catalogue, relation if sheet.rows is None else relation.limit(sheet.rows), file)


def _table(relation: duckdb.DuckDBPyRelation, sheet: Sheet) -> str:
    with redirect_stdout(io.StringIO()) as text:
        relation.show(max_width=max(sheet.columns, _NARROWEST), max_rows=sheet.rows or ROWS)
    return "".join(f"{line[: sheet.columns]}\n" for line in text.getvalue().split("\n")[:-1])


def _plan(relation: duckdb.DuckDBPyRelation) -> str:
    """What EXPLAIN tells is a drawing."""
    return "".join(f"{text.rstrip()}\n" for _, text in relation.fetchall())


def _copied(options: str) -> Callable[[duckdb.DuckDBPyConnection, duckdb.DuckDBPyRelation, Path], None]:
    def copy(catalogue: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation, file: Path) -> None:
        catalogue.register("result", relation)
        source = finite(catalogue.table("result")) if "json" in options else "FROM result"
        catalogue.execute(f"COPY ({source}) TO $file ({options})", {"file": str(file)})

    return copy


def _markdown(catalogue: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation, file: Path) -> None:
    catalogue.register("result", relation)
    texts = catalogue.execute("SELECT COLUMNS(*)::VARCHAR FROM result")
    with file.open("w", encoding="utf-8") as lines:
        lines.write(_row(map(_escaped, relation.columns)))
        lines.write(_row("--:" if _NUMBER.fullmatch(str(kind)) else "---" for kind in relation.types))
        while rows := texts.fetchmany(_CHUNK):
            lines.writelines(_row("NULL" if text is None else _escaped(text) for text in row) for row in rows)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _escaped(text: str) -> str:
    from weaklink_processor.commands.chain_tree import printable

    return "<br>".join(printable(_MARKUP.sub(r"\\\g<0>", line)) for line in text.splitlines() or [""])


def _arrow(_: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation, file: Path) -> None:
    import pyarrow as pa

    batches = relation.to_arrow_reader()
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, batches.schema) as stream:
        for batch in batches:
            stream.write_batch(batch)


FORMS: Mapping[str, Callable[[duckdb.DuckDBPyConnection, duckdb.DuckDBPyRelation, Path], None]] = {
    "markdown": _markdown,
    "json": _copied("FORMAT json, ARRAY true"),
    "jsonl": _copied("FORMAT json"),
    "csv": _copied("FORMAT csv, HEADER true"),
    "parquet": _copied("FORMAT parquet"),
    "arrow": _arrow,
}
"""Beside a table."""


def deliver(file: Path, output: Path | None) -> None:
    """Move a result to where it is wanted; None: stdout.

    Raises:
        UsageError: it cannot be there, as where a folder is.
    """
    if output:
        try:
            file.replace(output)
        except OSError as error:
            raise UsageError(f"--output: {str(output)!r}: {error.strerror}") from error
        return
    Flow(file).end()
