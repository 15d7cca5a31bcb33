"""Every table that a set of spans makes, row by row."""

from collections.abc import Callable, Iterator, Sequence

from oracle.found import findings
from oracle.judged import evaluations
from oracle.operations import AGENT, SESSION, Op
from oracle.spans import Spot
from oracle.values import Row, moment
from oracle.versions import Decision, Version
from oracle.world import Oracle, Rules
from otlp import S


def version_row(o: Oracle, v: Version) -> Row:
    chain = o.chain(v)
    return (
        dict(zip(("environment", "store", "memory_id"), v.memory, strict=True))
        | v.op.spot.ids
        | {
            "service_name": v.op.spot.s.service,
            "version": v.number,
            "written_at": moment(v.time),
            "origin": v.origin,
            "agent_id": v.agent,
            "session_id": v.session,
            "memory_type": v.op.memory_type,
            "namespace": v.op.namespace,
            "declared_confidence": v.declared,
            "confidence_source": v.source,
            "confidence_signals": v.signals,
            "hedged": v.op.hedged,
            "parent_ids": list(v.op.parents),
            "chain_min_confidence": chain.lowest,
            "effective_confidence": chain.effective,
            "confidence_flag": o.flag(v.op, v),
            "chain_depth": chain.depth,
            "chain_truncated": chain.truncated,
            "weakest_id": chain.weakest_id,
            "unresolved_parents": len(v.unresolved),
            "chain_complete": chain.complete,
        }
    )


def memory_row(o: Oracle, versions: Sequence[Version]) -> Row:
    """The newest version of a memory, how good it is and how it was used."""
    newest = versions[-1]
    used = [op for op in o.ops if op.version in versions]
    reads = sum(op.operation == "read" for op in used)
    conflicts = sum(op.kind == "conflict" for op in used)
    s, f = (sum(op.operation == "outcome" and op.success is said for op in used) for said in (True, False))
    quality = 60 * o.effective(newest) + 25 * (s + 1) / (s + f + 2) + 1.5 * min(reads, 10) - 10 * conflicts
    return version_row(o, newest) | {
        "quality_score": max(0, min(100, round(quality - (5 if newest.op.hedged else 0)))),
        "read_count": reads,
        "success_count": s,
        "failure_count": f,
        "first_written_at": moment(versions[0].time),
    }


def operation_row(o: Oracle, op: Op) -> Row:
    return (
        op.spot.ids
        | op.spot.place
        | {
            "ordinal": op.ordinal,
            "start_time": moment(op.spot.start),
            "end_time": moment(op.spot.end),
            "operation": op.operation,
            "store": op.store,
            "memory_id": op.id,
            "memory_type": op.memory_type,
            "namespace": op.namespace,
            "agent_id": op.agent,
            "session_id": op.session,
            "declared_confidence": op.confidence,
            "hedged": op.hedged,
            "parent_ids": list(op.parents),
            "score": op.score,
            "rank": op.rank,
            "success": op.success,
            "conflict": op.kind == "conflict",
            "convention": op.convention,
            "resolved_store": op.version.memory[1] if op.version else None,
            "resolved_version": op.version.number if op.version else None,
            "effective_confidence": o.effective(op.version) if op.version else None,
            "confidence_flag": o.flag(op, op.version),
            "agent_run_span_id": next((f"{s.s.span:016x}" for s in op.spot.up if s.runs), None),
            "min_threshold": o.policy(op)[0],
            "flag_threshold": o.policy(op)[1],
            "age_days": o.age(op),
            "freshness": o.freshness(op),
            "earlier_reads": o.earlier_reads(op),
        }
    )


def derivation_rows(v: Version) -> Iterator[Row]:
    for id_, (parent, _) in v.edges.items():
        yield {
            "environment": v.memory[0],
            "store": v.memory[1],
            "child_id": v.memory[2],
            "child_version": v.number,
            "parent_id": id_,
            "parent_store": parent.memory[1] if parent else None,
            "parent_version": parent.number if parent else None,
            "child_confidence": v.declared,
            "parent_confidence": parent.declared if parent else None,
        }


def decision_row(o: Oracle, d: Decision) -> Row:
    return (
        d.spot.ids
        | d.spot.place
        | {
            "start_time": moment(d.spot.start),
            "agent_id": d.spot.inherited(AGENT),
            "session_id": d.spot.inherited(SESSION),
            "kind": d.kind,
            "decision_memory_id": d.memory.memory[2] if d.memory else None,
            "memory_ids": [memory[2] for memory, _ in d.relied],
            "min_effective_confidence": min((o.effective(v) for _, v in d.relied), default=None),
            "relied_on": [
                {
                    "memory_id": memory[2],
                    "store": memory[1],
                    "environment": memory[0],
                    "version": v.number if v else None,
                }
                for memory, v in d.relied
            ],
        }
    )


def gating_rows(o: Oracle) -> Iterator[Row]:
    spans: dict[Spot, list[Op]] = {}
    for op in o.ops:
        if op.operation == "read":
            spans.setdefault(op.spot, []).append(op)
    for spot, ops in spans.items():
        flags = [o.flag(op, op.version) for op in ops]
        low, high = o.policy(ops[0])
        counts = {"passed": flags.count("PASS"), "flagged": flags.count("FLAG"), "filtered": flags.count("FILTER")}
        records = [
            {"id": op.id, "effective_confidence": o.effective(op.version) if op.version else None, "flag": flag}
            for op, flag in zip(ops, flags, strict=True)
            if op.id is not None
        ]
        yield spot.ids | counts | {"min_threshold": low, "flag_threshold": high, "records": records}


def tables(
    spans: Sequence[S], rules: Rules | None = None, fingerprint: Callable[[S], str] = repr
) -> dict[str, list[Row]]:
    """Every table that these spans make.

    fingerprint: what decides between spans of one trace id and span id that end at one moment; the smallest counts.
    """
    o = Oracle(spans, rules or Rules(), fingerprint)
    judged = list(evaluations(o))
    check_columns = ("check_name", "passed", "weight", "detail")
    about = (
        "name", "scope", "trace_id", "span_id", "session_id", "rubric", "annotator_kind", "environment", "service_name",
    )  # fmt: skip
    return {
        "memory_operations": [operation_row(o, op) for op in o.ops],
        "memory_versions": [version_row(o, v) for v in o.all_versions],
        "memories": [memory_row(o, versions) for versions in o.versions.values()],
        "derivations": [row for v in o.all_versions for row in derivation_rows(v)],
        "decisions": [decision_row(o, d) for d in o.decisions],
        "evaluations": [row for row, _ in judged],
        "evaluation_checks": [
            {column: row[column] for column in about} | dict(zip(check_columns, check, strict=True))
            for row, checks in judged
            for check in checks
        ],
        "confidence_gating": list(gating_rows(o)),
        "findings": findings(o),
    }
