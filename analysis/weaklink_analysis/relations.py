"""Relations on one DuckDB connection: temporary tables made by models, and Arrow tables lent to them."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from weaklink_analysis.models import Models
from weaklink_analysis.statements import parsed, run


class Relations:
    """A connection on which models run."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, models: Models) -> None:
        self._connection = connection
        self._models = models
        self._made: set[str] = set()

    def execute(self, text: str, parameters: dict[str, object] | None = None) -> duckdb.DuckDBPyConnection:
        """Run statements; the parameters are those of each."""
        return run(self._connection, text, parameters)

    def arrow(self, query: str, parameters: dict[str, object] | None = None) -> pa.Table:
        """The rows of a query."""
        (statement,) = parsed(query)
        return self._connection.sql(statement, params=parameters or {}).to_arrow_table()

    def count(self, relation: str) -> int:
        """How many rows it has."""
        ((count,),) = self.execute(f"SELECT count(*) FROM {relation}").fetchall()
        return int(count)

    def run(self, model: str) -> None:
        """Run the statements of a model that is not a query."""
        self.execute(self._models.text(model))

    def make(self, name: str, query: str | None = None, parameters: dict[str, object] | None = None) -> None:
        """Have a temporary table with the rows of a query; if none is said, of the model of that name."""
        self.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {query or self._models.text(name)}", parameters)
        self._made.add(name)

    def make_all(self, *names: str) -> None:
        """Have the temporary tables of these models, one after the other."""
        for name in names:
            self.make(name)

    def clear(self) -> None:
        """Let go of every table that was made; within a transaction DuckDB would keep their memory until its end."""
        for name in self._made:
            self.execute(f"DROP TABLE IF EXISTS {name}")
        self._made.clear()

    @contextmanager
    def lent(self, **tables: pa.Table) -> Iterator[None]:
        """Have Arrow tables as relations of these names, for a while."""
        for name, table in tables.items():
            self._connection.register(name, table)
        try:
            yield
        finally:
            for name in tables:
                self._connection.unregister(name)
