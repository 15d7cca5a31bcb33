"""What a convention declares: which spans it may know, and what of them its model reads."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Convention:
    """One way of naming memory operations on spans.

    A span is a candidate if its name is one of `names`, or it has an event of `events`, or the attributes say so:
    any of `reads`, but where there is `only`, one of these values in the first of them.
    """

    name: str
    names: tuple[str, ...] = ()
    """Span names; one that ends in `*` stands for all that begin so."""
    reads: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    """Attributes that the model reads too, but that make no span a candidate."""
    prefixes: tuple[str, ...] = ()
    """Of attributes with a number after it, as `retrieval.documents.`: rows of `indexed`."""
    events: tuple[str, ...] = ()
    event_reads: tuple[str, ...] = ()
    """Attributes of these events: columns of `events`."""
    link_reads: tuple[str, ...] = ()
    """Attributes of span links: columns of `links`."""
    own_sql: str | None = None
    """The model of a convention that a user made; None: the file of this name."""

    @property
    def sql(self) -> str:
        """The convention's model."""
        return _file(self.name) if self.own_sql is None else self.own_sql

    @property
    def attributes(self) -> tuple[str, ...]:
        """What `candidates` has a column of."""
        return tuple(dict.fromkeys((*self.reads, *self.also)))

    @property
    def triggers(self) -> tuple[str, ...]:
        """The attributes that are looked for on every span."""
        return self.reads[:1] if self.only else self.reads

    def relations(self) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
        """What the model may select from, each with its columns and their types."""
        yield "candidates", (*_CANDIDATE, *_texts(self.attributes))
        if self.prefixes:
            yield "indexed", _INDEXED
        if self.events:
            yield "events", (*_PLACED, ("name", "VARCHAR"), *_texts(self.event_reads))
        if self.link_reads:
            yield "links", (*_PLACED, *_texts(("trace_id", "span_id", *self.link_reads)))


_CANDIDATE = (("row_id", "BIGINT"), ("name", "VARCHAR"))
_PLACED = (("row_id", "BIGINT"), ("place", "INTEGER"))
_INDEXED = (
    *(("row_id", "BIGINT"), ("prefix", "VARCHAR"), ("number", "INTEGER")),
    *(("field", "VARCHAR"), ("value", "VARCHAR")),
)


def _texts(keys: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((key, "VARCHAR") for key in keys)


@cache
def _file(name: str) -> str:
    return resources.files(__package__).joinpath(f"{name}.sql").read_text("utf-8")
