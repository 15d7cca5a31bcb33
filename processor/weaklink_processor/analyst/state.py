"""The analyst's durable state beside the engine's tables: what is applied, which parts count, what is to be sent."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Self

import duckdb
import numpy as np
import pyarrow as pa

from weaklink_analysis.mai.attribution import Attribution
from weaklink_analysis.mai.rubrics import Rubric, RubricError
from weaklink_analysis.operations import Settings
from weaklink_analysis.scoring import Scoring
from weaklink_processor.analyst.schema import SCHEMA_VERSION, check_version
from weaklink_processor.lake.parts import Part

CHECKPOINT_SIZE = "256MB"
"""What is in the log is in memory, too. Smaller checkpoints cost CPU: at 16 MB twice that of all the rest."""

ROW_GROUP_SIZE = 16384
"""Rows that DuckDB keeps together, and skips together where no key sought can be: a step seeks few, mostly near.

With its own 122,880 the look-ups of a step cost two to three times as much when millions of versions are stored.
"""

BLOCK_MEMORY = "128MB"
"""Memory for blocks that DuckDB keeps instead of giving it back to the system after every statement."""

THREADS = 1
"""A step's relations are smaller than what DuckDB gives a thread; a second one only costs.

Decoding, Parquet and the receiver need the other core.
"""


@dataclass(slots=True)
class Applied:
    """How far the analyst is."""

    queue_id: str
    offset: int = 0
    next_row_id: int = 0
    seq: int = 0


class State:
    """`DATA_DIR/state.duckdb`, which only one analyst opens."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open or make the file; BrokenStore if another version wrote it."""
        connection = duckdb.connect(
            config={"wal_autocheckpoint": CHECKPOINT_SIZE, "threads": THREADS, "block_allocator_memory": BLOCK_MEMORY},
        )
        connection.execute(f"ATTACH $path AS state (ROW_GROUP_SIZE {ROW_GROUP_SIZE})", {"path": str(path)})
        connection.execute("USE state")
        path.chmod(0o600)
        # Strings of spans are data: nothing a query names may be a file or an extension.
        connection.execute("SET enable_external_access = false; SET preserve_insertion_order = false")
        state = cls(connection)
        with state.transaction():
            connection.execute(resources.files(__package__).joinpath("state.sql").read_text("utf-8"))
            check_version(connection, path)
            connection.execute("UPDATE meta SET schema_version = $1 WHERE schema_version < $1", [SCHEMA_VERSION])
        return state

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of one's own, for use on another thread."""
        cursor = self.connection.cursor()
        cursor.execute("USE state")
        return cursor

    def close(self) -> None:
        """Checkpoint and close; twice is fine."""
        self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.connection.begin()
        try:
            yield
        except BaseException:
            self.connection.rollback()
            raise
        self.connection.commit()

    # -- progress -------------------------------------------------------------------------------------------------

    def applied(self, queue_id: str) -> Applied:
        """How far the analyst is in this queue; another queue than last time is read from its beginning."""
        rows = self.connection.execute("SELECT queue_id, queue_offset, next_row_id, seq FROM applied").fetchall()
        if not rows:
            return Applied(queue_id)
        known = Applied(*rows[0])
        return known if known.queue_id == queue_id else Applied(queue_id, 0, known.next_row_id, known.seq)

    def store_applied(self, applied: Applied) -> None:
        """Remember how far the analyst is."""
        self.connection.execute("DELETE FROM applied")
        row = [applied.queue_id, applied.offset, applied.next_row_id, applied.seq]
        self.connection.execute("INSERT INTO applied VALUES (?, ?, ?, ?)", row)

    def changed_settings(self, settings: Settings) -> list[str]:
        """The names of the settings that the stored numbers were made without: of all, if there are none yet."""
        stored, own = json.loads(self._settings_text() or "{}"), json.loads(_text(settings))
        return [
            name
            for name in sorted((stored.keys() | own.keys()) - {"quiet_seconds"})  # on which no number depends
            if (name in stored, stored.get(name)) != (name in own, own.get(name))
        ]

    def stored_settings(self) -> Settings | None:
        """The settings that the stored numbers were made with; None: another version made them, or nobody yet."""
        text = self._settings_text()
        return _settings(text) if text else None

    def store_settings(self, settings: Settings) -> None:
        """Remember the settings that the stored numbers are made with."""
        self.connection.execute("DELETE FROM meta")
        self.connection.execute("INSERT INTO meta VALUES (?, ?)", [SCHEMA_VERSION, _text(settings)])

    def _settings_text(self) -> str | None:
        rows = self.connection.execute("SELECT settings FROM meta").fetchall()
        return str(rows[0][0]) if rows else None

    # -- parts ----------------------------------------------------------------------------------------------------

    def parts(self, table: str | None = None) -> list[Part]:
        """The parts that count, oldest first."""
        rows = self.connection.execute(
            "SELECT table_name, path, seq, row_count, bytes, base FROM parts "
            "WHERE superseded_at IS NULL AND table_name = coalesce(?, table_name) ORDER BY seq, path",
            [table],
        ).fetchall()
        return [Part(*row) for row in rows]

    def files(self) -> set[str]:
        """The paths of all parts that count, or whose grace time runs."""
        return {path for (path,) in self.connection.execute("SELECT path FROM parts").fetchall()}

    def add_parts(self, parts: Iterable[Part]) -> None:
        """Let parts count."""
        for p in parts:
            row = [p.table, p.path, p.seq, p.rows, p.bytes, p.base]
            self.connection.execute("INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, NULL)", row)

    def supersede(self, parts: Iterable[Part], now: datetime) -> None:
        """Let parts count no more; their files stay for readers that still list them."""
        for part in parts:
            self.connection.execute("UPDATE parts SET superseded_at = ? WHERE path = ?", [now, part.path])

    def renew_grace(self, listed: Iterable[str], now: datetime) -> None:
        """Let the grace time of superseded parts begin now: only now do readers stop to find these listed."""
        for path in listed:
            self.connection.execute(
                "UPDATE parts SET superseded_at = ? WHERE superseded_at IS NOT NULL AND path = ?", [now, path]
            )

    def expire(self, now: datetime, grace: timedelta) -> list[str]:
        """Forget parts whose grace time is over; their paths, to be deleted after the commit."""
        # Of those superseded before a clock was set back it begins now.
        self.connection.execute("UPDATE parts SET superseded_at = $now WHERE superseded_at > $now", {"now": now})
        expired = "DELETE FROM parts WHERE superseded_at < ? RETURNING path"
        rows = self.connection.execute(expired, [now - grace]).fetchall()
        return [path for (path,) in rows]

    # -- own spans ------------------------------------------------------------------------------------------------

    def returned(self, keys: pa.Table) -> list[int]:
        """Which rows of a KEY_SCHEMA table are EVALUATOR spans that were issued here."""
        self.connection.register("keys", keys.append_column("position", pa.array(np.arange(len(keys)))))
        rows = self.connection.execute(
            "SELECT k.position FROM keys AS k SEMI JOIN issued AS i ON k.trace = i.trace AND k.span = i.span"
        ).fetchall()
        self.connection.unregister("keys")
        return [position for (position,) in rows]

    def store_returned(self, offset: int, trace: bytes, span: int) -> None:
        """Remember that a queue row holds an own span."""
        self.connection.execute("INSERT INTO returned VALUES (?, CAST(? AS UUID), ?)", [offset, trace.hex(), span])

    def issue(self, spans: pa.Table) -> None:
        """Put EVALUATOR spans into the outbox, rows of ISSUED_SCHEMA, and remember their ids."""
        made_at = [datetime.now(UTC).timestamp()]
        self.connection.register("issuing", spans)
        self.connection.execute(
            "INSERT INTO issued (trace, span, made_at) SELECT CAST(hex(trace_id) AS UUID), span_id, ? FROM issuing",
            made_at,
        )
        self.connection.execute(
            "INSERT INTO outbox (span, service_name, environment, scope, size, made_at) "
            "SELECT span, service_name, environment, scope, octet_length(span), ? FROM issuing",
            made_at,
        )
        self.connection.unregister("issuing")

    def forget_issued(self, before: datetime) -> None:
        """Forget the ids of EVALUATOR spans that were made before then, and before any that waits to be sent."""
        self.connection.execute(
            "DELETE FROM issued WHERE made_at < least($before, (SELECT min(made_at) FROM outbox))",
            {"before": before.timestamp()},
        )

    def last_issued(self) -> int:
        """The number of the last one that was ever put into the outbox, 0 if none was."""
        ((last,),) = self.connection.execute(
            "SELECT coalesce(max(last_value), 0) FROM duckdb_sequences() "
            "WHERE database_name = 'state' AND sequence_name = 'outbox_seqs'"
        ).fetchall()
        return int(last)

    def prune(self, sent_seq: int, forwarded_offset: int) -> None:
        """Forget what every destination has."""
        self.connection.execute("DELETE FROM outbox WHERE seq <= ?", [sent_seq])
        self.connection.execute("DELETE FROM returned WHERE queue_offset <= ?", [forwarded_offset])


def scratch() -> duckdb.DuckDBPyConnection:
    """A database in memory that keeps nothing."""
    return duckdb.connect(config={"threads": THREADS, "enable_external_access": False})


def _text(settings: Settings) -> str:
    return json.dumps(asdict(settings), sort_keys=True)


def _settings(text: str) -> Settings | None:
    stored = json.loads(text)
    try:
        thresholds = {of: {name: tuple(pair) for name, pair in stored[of].items()} for of in ("namespaces", "services")}
        rubrics = tuple(Rubric(**rubric) for rubric in stored["rubrics"])
        numbers = {"attribution": Attribution(**stored["attribution"]), "scoring": Scoring(**stored["scoring"])}
        made = Settings(**stored | thresholds | numbers | {"rubrics": rubrics})
    except (KeyError, TypeError, RubricError):
        return None
    return made if _text(made) == text else None
