"""What the structural checks count, over memory operations as weaklink reads them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weaklink_analysis.mai.rubrics import MAX_HOPS, Rubric
from weaklink_analysis.mai.spans import Memory, Operation


@dataclass(frozen=True, slots=True)
class Measures:
    """Counts over some operations (or spans, see Rubric.counting)."""

    spans: int
    counted: int
    with_confidence: int
    judged: int
    """Those whose confidence is judged: reads and writes."""
    above: int
    """Of the judged: those that are confident."""
    with_agent: int
    deepest: int
    """Derivations on the longest chain, capped one above the limit."""
    low_unhedged: int


def measure_operations(found: Sequence[Sequence[Operation]], rubric: Rubric) -> Measures:
    """Count over the operations of some spans, one sequence a span."""
    all_found = [operation for of_span in found for operation in of_span]
    judged = [operation.confidence for operation in all_found if operation.kind in {"read", "write"}]
    return Measures(
        spans=sum(bool(of_span) for of_span in found),
        counted=len(all_found),
        with_confidence=sum(operation.confidence is not None for operation in all_found),
        judged=len(judged),
        above=sum((rubric.missing_confidence if c is None else c) >= rubric.confident for c in judged),
        with_agent=sum(operation.has_agent for operation in all_found),
        deepest=_deepest(all_found, max(MAX_HOPS, rubric.max_depth) + 1),
        low_unhedged=sum(_is_low_unhedged(operation, rubric) for operation in all_found),
    )


def _is_low_unhedged(operation: Operation, rubric: Rubric) -> bool:
    shown = operation.confidence
    return operation.kind == "read" and shown is not None and shown < rubric.low and not operation.hedged


def _deepest(found: Iterable[Operation], cap: int) -> int:
    """The longest chain among the memories that were written or read here, in derivations; a cycle reaches the cap."""
    parents = _parents(found)
    depths = dict.fromkeys(parents, 0)
    for _ in range(cap):
        longer = {memory: max((1 + depths[p] for p in known), default=0) for memory, known in parents.items()}
        if longer == depths:
            break
        depths = longer
    return max(depths.values(), default=0)


def _parents(found: Iterable[Operation]) -> dict[Memory, list[Memory]]:
    """Each memory's parents among the others. What a read shows counts only where no write of the memory is known."""
    named: dict[str, dict[Memory, set[Memory]]] = {"read": {}, "write": {}}
    for operation in found:
        if operation.memory and operation.kind in named:
            named[operation.kind].setdefault(operation.memory, set()).update(operation.parents)
    merged = named["read"] | named["write"]
    return {memory: [p for p in parents if p in merged and p != memory] for memory, parents in merged.items()}
