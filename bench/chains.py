"""What chain numbers cost: all of them anew, those of a batch into millions stored, and memledger's walk beside it.

    python bench/chains.py [--stored 10000000] [--threads 1] [--folder F]

The engine's tables are filled with made-up versions; what is timed is the engine's own code on a DuckDB file, until it
is committed. CPU is that of this process.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
from memledger.backends.sqlite import SQLiteBackend
from memledger.memledger import Memledger
from memledger.models import MemledgerConfig, MemoryRecord
from memledger.provenance.chain import build_chain

from machine import MILLION, machine
from weaklink_analysis.engine import Engine
from weaklink_analysis.operations import Settings
from weaklink_analysis.recognition import Recognised
from weaklink_processor.analyst.state import ROW_GROUP_SIZE, State

PARENTS_AMONG = 1000
"""A version derives from some of the last so many."""

USUAL, MANY = 4, 7
"""A version has any number of parents below it: 1.5 or 3 on average."""

WALKED, WALKS = 3_000, 500
"""Records that memledger keeps, and how many of them have their chain walked."""

RUNS = 3
STEPS = 10
"""Each reads parts of the file that none before it did, the later ones less."""

MADE = """
    SELECT
        i, i AS memory, (1790000000000000000 + i * 1000000)::UBIGINT AS moment, {parents} AS parents
    FROM range({first}, {last} + 1) AS r(i)
"""
MARK = "0 AS \"at\", false AS is_run, '' AS decision, '' AS store, [''] AS relied_on, '' AS model"
"""Nothing runs an agent here; what the columns of marks are."""
PARENTS = """
    list_distinct(list_filter(
        list_transform(range((hash(i) % {most})::BIGINT), lambda j: i - 1 - (hash(i * 10 + j) % {among})::BIGINT),
        lambda p: p > 0
    ))
"""
LATE = """
    SELECT
        {last} + k AS i, memory, (1790000000000000500 + memory * 1000000)::UBIGINT AS moment,
        [greatest(memory - 500, 1)] AS parents
    FROM (SELECT k, 1 + (hash(k + {last}) % {stored})::BIGINT AS memory FROM range(1, {late} + 1) AS r(k))
"""
"""Changes of stored memories, each at the time when it was first written."""

OPERATION = """
    SELECT
        i, moment, format('{:032x}', i // 4)::UUID AS trace, (i % 4 + 1)::UBIGINT AS span, 0::UBIGINT AS parent,
        0 AS ordinal, 'write' AS kind, 'write' AS operation, 'production' AS environment, 'bench' AS service_name,
        '' AS store, format('memory-{:016x}', hash(memory)) AS memory_id, 'semantic' AS memory_type,
        '/ops' AS namespace, 'a' AS record_agent, 'a' AS own_agent, 's' AS record_session, 's' AS own_session,
        (hash(i * 7) % 1000 / 1000)::VARCHAR AS raw_confidence, (hash(i * 7) % 1000 / 1000)::DOUBLE AS confidence,
        FALSE AS hedged, list_transform(parents, lambda p: format('memory-{:016x}', hash(p))) AS parent_ids,
        NULL::DOUBLE AS score, NULL::INTEGER AS rank, NULL::BOOLEAN AS success, TRUE AS counted, FALSE AS failed,
        'memledger' AS convention, NULL::VARCHAR AS raw_min_threshold, NULL::VARCHAR AS raw_flag_threshold,
        NULL::STRUCT(
            sources VARCHAR[], observations BIGINT, confirmed BOOLEAN, grounding VARCHAR, extractor VARCHAR,
            logprobs DOUBLE[]
        ) AS signals, NULL::VARCHAR AS content
    FROM made
"""


OF_SPANS = "i, moment, trace, span, parent, environment, service_name"


class Stored:
    """A state file of the analyst with versions in it, one a memory, whose chains are still to be computed."""

    def __init__(self, path: Path, versions: int, most_parents: int, threads: int) -> None:
        with duckdb.connect() as maker:
            maker.execute(f"ATTACH '{path}' AS made_up (ROW_GROUP_SIZE {ROW_GROUP_SIZE})")
            maker.execute("USE made_up")
            for sequence in ("name_keys", "version_keys"):
                maker.execute(f"CREATE SEQUENCE {sequence} START {versions + 1}")
            maker.execute("SET preserve_insertion_order = false")
            Engine(maker, Settings())
            parents = PARENTS.format(most=most_parents, among=PARENTS_AMONG)
            maker.execute(f"CREATE TEMP TABLE made AS {MADE.format(first=1, last=versions, parents=parents)}")
            self._fill(maker)
        self.database = State.open(path).connection
        self.database.execute(f"SET threads = {threads}")
        self.engine = Engine(self.database, Settings())

    @staticmethod
    def _fill(maker: duckdb.DuckDBPyConnection) -> None:
        """What the engine would have made of these operations, but for the chains."""
        maker.execute(f"""
            INSERT INTO operations BY NAME
            SELECT
                * EXCLUDE (i, moment, content), i AS row_id, i AS name_key, i AS version_key,
                moment AS start_ns, moment AS end_ns, moment AS time_ns,
                'a' AS agent_id, 's' AS session_id, 0.4 AS min_threshold, 0.6 AS flag_threshold
            FROM ({OPERATION})
        """)
        maker.execute("""
            INSERT INTO versions BY NAME
            SELECT
                version_key, row_id, ordinal, name_key, environment, store, store AS named_store, memory_id,
                1 AS version, time_ns, trace, span, 'written' AS origin, agent_id, session_id, memory_type, namespace,
                confidence AS declared, 'declared' AS confidence_source, hedged, parent_ids, min_threshold,
                flag_threshold
            FROM operations
        """)
        maker.execute("""
            INSERT INTO span_index BY NAME
            SELECT trace, span, parent, start_ns, end_ns, row_id, agent_id, session_id, service_name, environment
            FROM operations
        """)
        maker.execute("""
            INSERT INTO names SELECT name_key, environment, memory_id FROM versions
        """)
        maker.execute("""
            INSERT INTO edges SELECT i, p, p, FALSE FROM (SELECT i, unnest(parents) AS p FROM made)
        """)

    def absorb(self, new: int, late: int, when: str = "") -> None:
        """Take in a batch of new versions and late changes, as the analyst does, and commit."""
        batch, first = self._batch(new, late)
        with measured(f"{new:,} new versions and {late} late changes{when}"):
            self.database.begin()
            self.engine.start()
            sifted = self.engine.sift(batch, first, lambda _: {})
            row_ids = pa.array(range(first, first + len(batch)), pa.int64())
            self.engine.admit(batch, row_ids, pa.repeat(datetime.now(UTC), len(batch)), sifted.superseded)
            self.engine.absorb()
            self.database.commit()

    def renew(self) -> None:
        """Compute all chains anew, and commit."""
        self.database.begin()
        self.engine.renew_chains()
        self.database.commit()

    def _batch(self, new: int, late: int) -> tuple[Recognised, int]:
        ((last,),) = self.database.execute("SELECT max(row_id) FROM operations").fetchall()
        with duckdb.connect() as maker:
            parents = PARENTS.format(most=USUAL, among=PARENTS_AMONG)
            made = MADE.format(first=last + 1, last=last + new, parents=parents)
            changes = LATE.format(last=last + new, stored=last, late=late)
            maker.execute(f"CREATE TABLE made AS {made} UNION ALL {changes} ORDER BY i")
            maker.execute(f"CREATE TABLE operations AS {OPERATION}")
            select = {
                "spans": (
                    "moment AS start_unix_nano, moment AS end_unix_nano, service_name, environment",
                    "ORDER BY i",
                ),
                "keys": ("trace, span, parent", "ORDER BY i"),
                "context": ("'AGENT' AS span_kind, 'a' AS agent_id, 's' AS session_id", "ORDER BY i"),
                "operations": (f'i - {last + 1} AS "at", * EXCLUDE ({OF_SPANS})', "ORDER BY i"),
                "marks": (MARK, "WHERE false"),
            }
            tables = {
                name: maker.sql(f"SELECT {columns} FROM operations {ending}").to_arrow_table()
                for name, (columns, ending) in select.items()
            }
        return Recognised(**tables), last + 1


@contextmanager
def measured(what: str) -> Iterator[None]:
    """Print what this takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    print(f"{what:60} {time.perf_counter() - wall:8.3f} s {time.process_time() - cpu:8.3f} CPU-s", flush=True)


def seconds(run: Callable[[], None]) -> float:
    """How long this takes."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def renewed(folder: Path, versions: int, most_parents: int, threads: int) -> tuple[Stored, float]:
    """A file with so many versions, and the seconds that all their chains take, at best."""
    stored = Stored(Path(tempfile.mkdtemp(dir=folder)) / "state.duckdb", versions, most_parents, threads)
    times = []
    for _ in range(RUNS):
        with measured(f"all chains of {versions:,} versions, {(most_parents - 1) / 2:g} parents each"):
            times.append(seconds(stored.renew))
    return stored, min(times)


async def walked(folder: Path) -> float:
    """Seconds that memledger takes to walk one record's chain, on its SQLite backend."""
    backend = SQLiteBackend()
    await backend.initialize({"path": str(folder / "memledger.db")})
    with duckdb.connect() as maker:
        parents = PARENTS.format(most=USUAL, among=PARENTS_AMONG)
        made = maker.execute(MADE.format(first=1, last=WALKED, parents=parents)).fetchall()
    records = [
        MemoryRecord(id=str(i), content="", confidence=i % 1000 / 1000, derived_from=[str(p) for p in parents])
        for i, _, _, parents in made
    ]
    await backend.add(records)
    ledger = Memledger(backend, None, MemledgerConfig())
    began = time.perf_counter()
    for record in records[-WALKS:]:
        await build_chain(ledger, record.id)
    taken = (time.perf_counter() - began) / WALKS
    await backend.close()
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stored", type=int, default=10 * MILLION, help="versions, for the incremental times")
    parser.add_argument("--threads", type=int, default=1, help="of DuckDB; the service has 1")
    parser.add_argument("--folder", type=Path, help="where the files are made; default: the system's temporary folder")
    chosen = parser.parse_args()
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    with tempfile.TemporaryDirectory(prefix="weaklink-chains-", dir=chosen.folder) as name:
        folder = Path(name)
        best = {}
        for most_parents in (USUAL, MANY):
            stored, best[most_parents] = renewed(folder, MILLION, most_parents, chosen.threads)
            stored.database.close()
        ours, theirs = best[USUAL], asyncio.run(walked(folder)) * MILLION
        print(f"{ours:.2f} us a version, {theirs:,.0f} us a walk of memledger's: {theirs / ours:,.0f} times as long")
        stored, _ = renewed(folder, chosen.stored, USUAL, chosen.threads)
        stored.absorb(1, 0, ", the first after a start")
        for new, late in ((10_000, 100), (1_000, 10)):
            for _ in range(STEPS):
                stored.absorb(new, late)
        stored.database.close()


if __name__ == "__main__":
    main()
