"""Runs the models on a DuckDB connection, in dependency order.

The engine turns newly arrived spans into operations, versions, derivations, chain numbers and
evaluations, and says which rows of the published tables changed. It recomputes what a batch can
affect and nothing else. It knows no files, no network and no clock: the connection, the times
and the look-up of stored spans are arguments, and transactions are the caller's.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import cached_property

import duckdb
import numpy as np
import pyarrow as pa

from weaklink_analysis import incoming
from weaklink_analysis.chains import chain_numbers
from weaklink_analysis.evaluation import EVALUATION_SCHEMA
from weaklink_analysis.identity import Duplicate, Sifted, StoredSpans, sift
from weaklink_analysis.models import Models
from weaklink_analysis.names import NameIndex
from weaklink_analysis.operations import Settings
from weaklink_analysis.published import BY_NAME
from weaklink_analysis.recognition import Recognised
from weaklink_analysis.relations import Relations

JUDGED_TRACES = 10_000
"""Traces that are judged at once: each takes some 10 KB of memory until the transaction ends."""

WAITED = "(last_arrival <= $quiet_since OR last_arrival > $unlikely)"
"""Which of the traces that wait are due: also those whose spans seem to arrive later, after a clock was set back."""

DUE = (("due_spans", "span_index"), ("due_marks", "marks"), ("known_decisions", "decisions"))
"""What is stored of the due traces. DuckDB finds the rows of few keys by one column much sooner than by two."""

NO_EXTRACTORS = "SELECT row_id, ordinal, name_key, model FROM operations LIMIT 0"
NO_READS = "SELECT row_id, ordinal, trace, earlier_reads FROM operations LIMIT 0"
UNDECLARED = "written WHERE confidence IS NULL"
SIGNALS = """
    operations AS o
    SEMI JOIN (FROM written WHERE confidence IS NULL) AS w ON o.row_id = w.row_id AND o.ordinal = w.ordinal
    WHERE o.signals IS NOT NULL
"""
"""Writes without a confidence that say how they came to be. There are none where there are no UNDECLARED ones."""
NO_EVIDENCE = "SELECT row_id, ordinal, declared AS confidence, confidence_signals FROM versions LIMIT 0"

REVISED = "(FROM changed_evaluations WHERE revised)"
"""The keys of evaluations that got a new revision."""


class Engine:
    """The analysis on one connection, whose database holds the engine's tables and nothing else writes them."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, settings: Settings, judged_traces: int = JUDGED_TRACES
    ) -> None:
        """`judged_traces`: so many are judged at once, unless `evaluate` says otherwise."""
        self._settings = settings
        self._judged_traces = judged_traces
        self._models = Models(settings)
        self._db = Relations(connection, self._models)
        self._prepare()

    def start(self) -> None:
        """Begin a step: nothing has changed yet."""
        self._db.run("nothing_changed")

    def end(self) -> None:
        """End a step, once its transaction has: let go of what it worked with, and of what changed."""
        self._db.clear()

    def sift(self, batch: Recognised, first_row_id: int, stored: StoredSpans) -> Sifted:
        """Which spans of the batch are to be stored; row i gets row id `first_row_id + i`."""
        row_ids = pa.array(np.arange(first_row_id, first_row_id + len(batch)))
        keys = batch.keys.append_column("row_id", row_ids)
        keys = keys.append_column("end_ns", batch.spans.column("end_unix_nano"))
        with self._db.lent(incoming_keys=keys):
            rows = self._db.execute(self._models.text("duplicates")).fetchall()
        return sift([Duplicate(*row) for row in rows], batch.spans, first_row_id, stored)

    def admit(self, batch: Recognised, row_ids: pa.Array, arrived_at: pa.Array, superseded: Sequence[int]) -> None:
        """Take in spans that `sift` kept, which were received at these times, in place of superseded ones."""
        self._forget(superseded)
        spans = incoming.indexed(batch, row_ids)
        with self._db.lent(incoming=spans.append_column("arrived_at", arrived_at)):
            self._db.make("fresh", "FROM incoming")
        self._db.run("index_spans")
        with self._db.lent(
            incoming_operations=incoming.operations(batch, spans), incoming_marks=incoming.marks(batch, spans)
        ):
            self._db.make("asked_names")
            self._look_up_names("asked_names")
            self._add_names()
            self._db.run("merge_marks")
            self._db.run("merge_operations")
        self._db.make("named_operations")

    def absorb(self) -> None:
        """Update all that follows from the admitted spans."""
        self._inherit()
        self._find_extractors()
        if any(map(self._db.count, ("named_operations", "removed_operations", "inherited", "extracted"))):
            self._db.make_all("contents", "touched")
            self._rebuild_versions()
            self._rebuild_edges()
            self._rebuild_chains()
            self._resolve_operations()
            self._count_reads()
            self._collect_changes()
        self._await_quiet()

    def evaluate(self, now: datetime, quiet: timedelta, at_most: int | None = None) -> int:
        """Evaluate traces that are due; how many got a new revision.

        Of more than `at_most` such traces those that have waited longest; it is for the caller to come back.
        """
        due = f"SELECT trace FROM pending WHERE {WAITED} ORDER BY last_arrival LIMIT $at_most"
        self._db.make("due", due, _waited(now, quiet) | {"at_most": at_most or self._judged_traces})
        if not self._db.count("due"):
            return 0
        for made, stored in DUE:
            self._db.make(made, f"FROM {stored} SEMI JOIN due USING (trace)")
        self._db.make_all("targets", "due_operations")
        self._find_decisions()
        self._measure()
        self._db.make("judged_evaluations", parameters={"now": now})
        self._db.make(
            "changed_evaluations", "SELECT evaluation_key, revised FROM judged_evaluations WHERE revised OR NOT ceased"
        )
        self._db.make("removed_evaluations", "SELECT evaluation_key FROM judged_evaluations WHERE ceased")
        self._db.run("merge_evaluations")
        return self._db.count("changed_evaluations WHERE revised")

    def pending(self) -> int:
        """How many traces wait for their quiet period, or to be judged after it."""
        return self._db.count("pending")

    def due(self, now: datetime, quiet: timedelta) -> bool:
        """Whether any of them had no new span since `now - quiet`."""
        query = f"SELECT count(*) > 0 FROM (FROM pending WHERE {WAITED} LIMIT 1)"
        ((due,),) = self._db.execute(query, _waited(now, quiet)).fetchall()
        return bool(due)

    def has_changed(self, table: str) -> bool:
        """Whether a published table has `changes` or `removals`: to ask costs less than to look at none."""
        return any(self._db.count(f"{way}_{table}") for way in ("changed", "removed"))

    def changes(self, table: str) -> pa.Table:
        """The rows of a published table that are new or changed since the last `absorb` and `evaluate`.

        With a column more, `known`: whether there may have been a row of the same key before.
        """
        rows, new = self._models.text(table, changed=f"changed_{table}"), BY_NAME[table].new
        return self._db.arrow(f"SELECT *, coalesce(NOT ({new}), TRUE) AS known FROM ({rows})")

    def removals(self, table: str) -> pa.Table:
        """The keys of rows of a published table that ceased to be."""
        return self._db.arrow(f"SELECT {', '.join(BY_NAME[table].key)} FROM removed_{table}")

    def snapshot(self, table: str) -> pa.Table:
        """All rows of a published table."""
        return self._db.arrow(self._models.text(table))

    def revisions(self) -> pa.Table:
        """The evaluations that got a new revision in the last `evaluate`: rows of the evaluation history."""
        return self._db.arrow(self._models.text("evaluation_history", changed=REVISED))

    def revised(self, scopes: Collection[str]) -> pa.Table:
        """The revisions of the last `evaluate` that a backend is to hear of: rows of EVALUATION_SCHEMA.

        Of these scopes: decision, trace, session. Without a score only where an earlier one had one.
        """
        text = self._models.text("revised_evaluations", changed=REVISED)
        rows = self._db.arrow(text, {"scopes": list(scopes)})
        return rows.select(EVALUATION_SCHEMA.names).cast(EVALUATION_SCHEMA)

    def weakest(self, spans: pa.Table) -> pa.Table:
        """The numbers of the weakest memory that each of these spans touches, where one is resolved.

        `spans` has the columns trace and span of KEY_SCHEMA; the answer has them in hex, as trace_id and span_id.
        It reads committed state: on a cursor of its own, an engine may answer this beside the one that is at work.
        """
        with self._db.lent(asked=spans):
            return self._db.arrow(self._models.text("weakest_touched", changed="touching"))

    def forget_spans(self, first: int) -> None:
        """Forget what is kept of spans with row ids below `first` for later spans of their traces.

        Traces with memory operations or a decision stay whole, since a late span has them judged again.
        """
        self._db.make("idle_spans", parameters={"first": first})
        self._db.run("forget_idle")

    def resettle(self) -> None:
        """Compute every version, chain and resolution anew, and have every trace judged again: settings changed."""
        self._db.run("merge_policies")
        self._db.run("everything_touched")
        self._rebuild_versions()
        self._db.make("changed_versions", "SELECT *, TRUE AS known FROM versions")
        self._rebuild_edges()
        self.renew_chains()
        self._resolve_operations()
        self._count_reads()
        self._db.run("await_all")

    # -- the steps ------------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        self._db.run("state")
        self._db.run("chains")
        # Thresholds by namespace and by service, and the rubrics, are in the texts of the models.
        settings: dict[str, object] = {
            key: value for key, value in asdict(self._settings).items() if isinstance(value, int | float)
        }
        settings["clock_skew_ns"] = int(self._settings.clock_skew_seconds * 1_000_000_000)
        with self._db.lent(constants=pa.Table.from_pylist([settings])):
            self._db.execute("CREATE OR REPLACE TEMP TABLE settings AS FROM constants")
        self.start()

    def _look_up_names(self, asked: str) -> None:
        """Have as `known_names` those stored names whose hash one of the asked ones has, and some others."""
        (hashes,) = self._db.execute(f"SELECT hash FROM {asked}").fetchnumpy().values()
        with self._db.lent(found_names=pa.table({"name_key": self._names.find(hashes)})):
            self._db.make("known_names")

    def _add_names(self) -> None:
        self._db.make("new_names")
        for table in ("names", "known_names"):
            self._db.execute(f"INSERT INTO {table} BY NAME SELECT * EXCLUDE (hash) FROM new_names")
        self._index_names(self._names, "SELECT hash, name_key FROM new_names")

    @cached_property
    def _names(self) -> NameIndex:
        names = NameIndex()
        # Not kept: another release of DuckDB may hash otherwise.
        self._index_names(names, "SELECT hash(environment, memory_id), name_key FROM names")
        return names

    def _index_names(self, index: NameIndex, query: str) -> None:
        hashes, keys = self._db.execute(query).fetchnumpy().values()
        index.add(hashes, keys)

    def _forget(self, superseded: Sequence[int]) -> None:
        self._db.make(
            "superseded",
            "SELECT row_id, trace FROM span_index WHERE row_id IN (SELECT unnest($rows::BIGINT[]))",
            {"rows": list(superseded)},
        )
        self._db.make(
            "removed_operations",
            "SELECT row_id, ordinal, name_key, trace, span, time_ns, kind, content_key "
            "FROM operations SEMI JOIN superseded USING (row_id)",
        )
        if superseded:
            for table in ("operations", "marks", "citations", "span_index"):
                self._db.execute(f"DELETE FROM {table} WHERE row_id IN (SELECT row_id FROM superseded)")

    def _inherit(self) -> None:
        self._db.make("fresh_runs", "FROM marks SEMI JOIN fresh USING (trace) WHERE is_run")
        self._db.make("seekers")
        if self._db.count("seekers"):
            self._db.make_all("ancestors", "inherited")
            self._db.run("merge_inherited")
        else:
            self._db.make("inherited", "FROM seekers LIMIT 0")

    def _find_extractors(self) -> None:
        self._db.make("askers")
        if self._db.count("askers"):
            self._db.make("extracted")
            self._db.run("merge_extracted")
        else:
            self._db.make("extracted", NO_EXTRACTORS)

    def _rebuild_versions(self) -> None:
        self._db.make_all("history", "written")
        told = self._db.count(UNDECLARED) and self._db.count(SIGNALS)
        self._db.make("evidence", None if told else NO_EVIDENCE)
        self._db.make_all("known_versions", "candidate_versions")
        self._db.make_all("changed_versions", "new_versions", "removed_versions")
        self._db.run("merge_versions")

    def _rebuild_edges(self) -> None:
        self._db.make("parent_names")
        # A version is nearly always as new as its operation, and then `admit` has found the names.
        unknown = "ANTI JOIN known_names AS k ON p.environment = k.environment AND p.parent_id = k.memory_id"
        if self._db.count(f"parent_names AS p {unknown}"):
            self._look_up_names("parent_names")
        self._db.make("known_edges")
        self._db.make("refs", self._models.text("parent_references"))
        self._db.make_all("named_versions", "resolved", "changed_edges", "removed_edges")
        self._db.run("merge_edges")

    def _rebuild_chains(self) -> None:
        """Compute the chain numbers of every version that a change can reach: max_hops derivations below."""
        self._db.make("affected", self._models.text("first_affected"))
        self._db.make("frontier", self._models.text("first_frontier"))
        # A changed edge reaches one derivation less, as its parent is one above; but the length of chains one more.
        hops = self._settings.max_hops - (self._db.count(f"({self._models.text('newly_rooted')})") == 0)
        while hops and self._db.count("frontier"):
            self._db.make("frontier", self._models.text("next_affected"))
            self._db.execute("INSERT INTO affected FROM frontier")
            hops -= 1
        self._db.make("links", self._models.text("links", changed="affected"))
        self._db.make("known_chains")
        self._db.make("standing", "FROM known_chains ANTI JOIN affected USING (version_key)")
        with self._chains_computed(self._models.text("nodes", changed="affected"), "FROM links", "FROM standing"):
            self._db.make("changed_chains")
            self._db.run("merge_chains")

    def renew_chains(self) -> None:
        """Compute the chain numbers of every version anew."""
        self._db.execute("DROP TABLE chains")
        self._db.run("chains")
        with self._chains_computed(*map(self._models.text, ("nodes", "links")), "FROM chains"):
            self._db.execute(f"INSERT INTO chains BY NAME {self._models.text('computed_chains')}")

    @contextmanager
    def _chains_computed(self, *inputs: str) -> Iterator[None]:
        """Have the numbers of the affected as `computed`, but for `others`; of what these queries find."""
        nodes, links, standing = (self._db.arrow(query) for query in inputs)
        with self._db.lent(computed=chain_numbers(nodes, links, standing, self._settings.max_hops)):
            self._db.make("looping", "SELECT version_key FROM computed WHERE loops")
            # A walk costs much even if it starts nowhere.
            loops = self._db.count("looping")
            self._db.make("others", None if loops else "SELECT version_key, 0.0 AS others FROM looping")
            yield

    def _resolve_operations(self) -> None:
        self._db.make("refs", self._models.text("operation_references"))
        # Without references it does not matter which ones were resolved last.
        if self._db.count("refs"):
            self._db.make_all("named_versions", "resolved")
        self._db.make("changed_resolutions")
        self._db.run("merge_resolutions")

    def _count_reads(self) -> None:
        """Count how often a memory had been read, where its reads are not as they were."""
        self._db.make("reread")
        if self._db.count("reread"):
            self._db.make("changed_reads")
            self._db.run("merge_reads")
        else:
            self._db.make("changed_reads", NO_READS)

    def _collect_changes(self) -> None:
        self._db.make_all("changed_memory_versions", "changed_memory_operations", "changed_derivations")
        self._db.make("removed_memory_operations", "SELECT row_id, ordinal FROM removed_operations")
        self._db.make("removed_memory_versions", "SELECT version_key FROM removed_versions")
        self._db.make("removed_derivations", "SELECT child_key, parent_name_key FROM removed_edges")

    def _find_decisions(self) -> None:
        """Find the decisions of the due traces and what each relied on."""
        self._db.make("explicit", "FROM due_marks WHERE decision IS NOT NULL")
        self._db.make_all("places", "decided", "heirs")
        self._db.make("refs", self._models.text("sought"))
        self._db.make_all("named_versions", "resolved", "due_reads", "relied", "records")
        self._db.make_all("judged_decisions", "found_decisions", "changed_decisions", "removed_decisions")
        self._db.run("merge_decisions")

    def _measure(self) -> None:
        """Apply the rubrics to the decisions found, to the due traces, and to the sessions that these are part of."""
        self._db.make("decision_evaluations")
        if any(rubric.findings for rubric in self._settings.rubrics):
            self._db.run("due_published")
            self._db.make_all("due_findings", "finding_counts")
        self._db.make_all("measures", "due_sessions")
        self._db.run("merge_sessions")
        self._db.make("structural_evaluations")

    def _await_quiet(self) -> None:
        self._db.make_all("reparented", "awaiting")
        self._db.run("merge_pending")


def _waited(now: datetime, quiet: timedelta) -> dict[str, object]:
    return {"quiet_since": now - quiet, "unlikely": now + quiet}
