"""Which spans of a batch a convention may know, and what its model reads of these: the relations it selects from.

Only what makes a span a candidate is looked for on every span; all else is read of candidates alone.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from weaklink_analysis.batch import SpanBatch, pick_attributes
from weaklink_analysis.conventions.convention import Convention

Mask = npt.NDArray[np.bool_]


def candidates(convention: Convention, batch: SpanBatch, picked: pa.Table) -> npt.NDArray[np.int64]:
    """The rows of the convention's candidates. `picked` has a column of each of its triggers."""
    found = np.zeros(len(batch), dtype=np.bool_)
    if convention.names:
        found |= _named(batch.spans.column("name"), convention.names)
    if convention.only:
        found |= _mask(pc.is_in(picked.column(convention.reads[0]), pa.array(convention.only)))
    else:
        for column in map(picked.column, convention.reads):
            if column.null_count < len(column):
                found |= _mask(column.is_valid())
    if convention.events:
        rows, children = _children(batch.spans.column("events"))
        if len(children):
            found[rows[_named(children.column("name"), convention.events)]] = True
    return np.flatnonzero(found)


def relations(
    convention: Convention, batch: SpanBatch, picked: pa.Table, rows: npt.NDArray[np.int64]
) -> Mapping[str, pa.Table]:
    """What the convention's model selects from, of the candidates in these rows; by name as Convention.relations."""
    nested = (("attributes", True), ("events", convention.events), ("links", convention.link_reads))
    spans = batch.spans.select(["name", *(column for column, asked in nested if asked)]).take(rows)
    made = {"candidates": _table(rows, _attributes(convention, spans, picked.take(rows)), name=spans.column("name"))}
    if convention.prefixes:
        made["indexed"] = _indexed(spans.column("attributes"), rows, convention.prefixes)
    if convention.events:
        at, events = _children(spans.column("events"))
        chosen = np.flatnonzero(_named(events.column("name"), convention.events))
        made["events"] = _placed(rows[at], events, chosen, ("name",), convention.event_reads)
    if convention.link_reads:
        at, links = _children(spans.column("links"))
        made["links"] = _placed(rows[at], links, np.arange(len(links)), ("trace_id", "span_id"), convention.link_reads)
    return made


def memory_links(batch: SpanBatch) -> pa.Table | None:
    """The span links that say with `memory.link` what they mean: row_id, link and ids as text; None: there are none."""
    rows, links = _children(batch.spans.column("links"))
    if not len(links):
        return None
    said = pick_attributes(links.column("attributes"), ("memory.link", "memory.id"))
    chosen = np.flatnonzero(_mask(said.column("memory.link").is_valid()))
    if not len(chosen):
        return None
    places = {"row_id": pa.array(rows[chosen]), "place": pa.array(chosen)}
    return pa.table(places | {key: said.column(f"memory.{key}").take(chosen) for key in ("link", "id")})


def _attributes(convention: Convention, spans: pa.Table, picked: pa.Table) -> Mapping[str, pa.ChunkedArray]:
    unpicked = [key for key in convention.attributes if key not in picked.column_names]
    more = pick_attributes(spans.column("attributes"), unpicked) if unpicked else picked
    return {key: (more if key in unpicked else picked).column(key) for key in convention.attributes}


def _named(column: pa.ChunkedArray, names: Sequence[str]) -> Mask:
    found = _mask(pc.is_in(column, pa.array([name for name in names if not name.endswith("*")], pa.string())))
    for name in names:
        if name.endswith("*"):
            found = found | _mask(pc.starts_with(column, name[:-1]))
    return found


def _indexed(attributes: pa.ChunkedArray, rows: npt.NDArray[np.int64], prefixes: Sequence[str]) -> pa.Table:
    """A row an attribute `<prefix><number>` or `<prefix><number>.<field>`; of a repeated key the first counts."""
    longest_first = sorted(prefixes, key=len, reverse=True)
    pattern = (
        rf"(?s)^(?P<prefix>{'|'.join(map(re.escape, longest_first))})(?P<number>[0-9]{{1,6}})(?:\.(?P<field>.*))?$"
    )
    at, entries = _children(attributes)
    parts = pc.extract_regex(entries.column("key"), pattern)
    chosen = np.flatnonzero(_mask(parts.is_valid()))
    split = parts.take(chosen)
    found = {key: pc.struct_field(split, key) for key in ("prefix", "number", "field")}
    found["number"] = found["number"].cast(pa.int32())
    table = _table(rows[at][chosen], found | {"value": entries.column("value").take(chosen)})
    keys = ["row_id", "prefix", "number", "field"]
    return table.group_by(keys, use_threads=False).aggregate([("value", "first")]).rename_columns([*keys, "value"])


def _placed(
    row_ids: npt.NDArray[np.int64],
    children: pa.Table,
    chosen: npt.NDArray[np.int64],
    fields: Sequence[str],
    keys: Sequence[str],
) -> pa.Table:
    """Events or links in order, with some of their fields and a column an attribute."""
    taken = children.take(chosen)
    columns = {name: taken.column(name) for name in fields}
    if keys:
        picked = pick_attributes(taken.column("attributes"), keys)
        columns |= {key: picked.column(key) for key in keys}
    return _table(row_ids[chosen], columns, place=pa.array(chosen, pa.int32()))


def _children(column: pa.ChunkedArray) -> tuple[npt.NDArray[np.int64], pa.Table]:
    """The entries of a list or map column: the row each is in, and their fields as columns."""
    entries = _whole(column)
    ends = entries.offsets.to_numpy()
    rows = np.repeat(np.arange(len(entries)), np.diff(ends))
    if isinstance(entries, pa.MapArray):
        keys, items = (part[ends[0] : ends[-1]] for part in (entries.keys, entries.items))
        return rows, pa.table({"key": keys, "value": items})
    values = entries.values[ends[0] : ends[-1]]
    return rows, pa.table(dict(zip([field.name for field in values.type], values.flatten(), strict=True)))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _table(rows: npt.NDArray[np.int64], columns: Mapping[str, pa.ChunkedArray], **first: pa.Array) -> pa.Table:
    return pa.table({"row_id": pa.array(rows, pa.int64()), **first, **columns})


def _mask(column: pa.ChunkedArray) -> Mask:
    return np.asarray(column.to_numpy(), dtype=np.bool_)
