"""Which spans count: of several with one (trace_id, span_id), the latest end, then the smallest SHA-256 of its content.

Content is every stored field of the span. Almost always there is nothing to decide; so the
comparison in Python runs only over spans that do occur more than once.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

StoredSpans = Callable[[Sequence[int]], dict[int, str]]
"""Row ids of stored spans -> their fingerprints."""


@dataclass(frozen=True, slots=True)
class Sifted:
    """What of a batch is to be stored."""

    kept: npt.NDArray[np.bool_]
    superseded: list[int]
    """Row ids of stored spans that a kept one replaces."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An incoming span whose ids occur more than once; stored_* are None if only the batch holds them."""

    row_id: int
    trace: object
    span: int
    end_ns: int
    stored_row_id: int | None
    stored_end_ns: int | None


def fingerprint(span: dict[str, object]) -> str:
    """SHA-256 of a span's content, as a SPAN_SCHEMA row in Python values."""
    return hashlib.sha256(json.dumps(span, sort_keys=True, default=str).encode()).hexdigest()


def sift(duplicates: Sequence[Duplicate], spans: pa.Table, first_row_id: int, stored: StoredSpans) -> Sifted:
    """Decide which rows of a batch count; row i of `spans` has row id `first_row_id + i`."""
    kept = np.ones(len(spans), dtype=np.bool_)
    superseded: list[int] = []
    rivals: dict[tuple[object, int], list[Duplicate]] = {}
    for duplicate in duplicates:
        rivals.setdefault((duplicate.trace, duplicate.span), []).append(duplicate)
    stored_prints = stored([row for d in duplicates if (row := _tied_row(d)) is not None])

    def rank(end_ns: int, print_: str) -> tuple[int, str]:
        return (-end_ns, print_)

    for group in rivals.values():
        offsets = [d.row_id - first_row_id for d in group]
        kept[offsets] = False
        prints = [fingerprint(span) for span in spans.take(offsets).to_pylist()]
        best = min(range(len(group)), key=lambda i: rank(group[i].end_ns, prints[i]))
        rival = group[best]
        if rival.stored_row_id is None or rival.stored_end_ns is None:
            kept[offsets[best]] = True
            continue
        # Where the ends differ, the stored span's content does not matter.
        standing = rank(rival.stored_end_ns, stored_prints.get(rival.stored_row_id, ""))
        if rank(rival.end_ns, prints[best]) < standing:
            kept[offsets[best]] = True
            superseded.append(rival.stored_row_id)
    return Sifted(kept, superseded)


def _tied_row(duplicate: Duplicate) -> int | None:
    return duplicate.stored_row_id if duplicate.end_ns == duplicate.stored_end_ns else None
