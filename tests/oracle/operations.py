"""Which operations a span is, by conventions.md, and what it says of each."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oracle.spans import Spot
from oracle.values import as_text, cited, confidence, known, names, parsed

if TYPE_CHECKING:
    from oracle.versions import Version

AGENT = ("gen_ai.agent.id", "gen_ai.agent.name", "agent.name", "memory.agent.id", "memledger.memory.source_agent_id")
SESSION = ("memledger.memory.session_id", "session.id", "gen_ai.conversation.id")
MEMLEDGER = {"add": "write", "ingest": "write", "search": "read", "recall": "read"} | {
    verb: verb for verb in ("outcome", "lineage")
}
MEMLEDGER_NAMES = {
    "memledger.get": "get",
    "memledger.record_outcome": "outcome",
    "memledger.get_lineage": "lineage",
    "memledger.conflict_detected": "conflict",
    "memledger.promote": "other",
}
GENAI = {
    "create_memory": "write",
    "update_memory": "write",
    "upsert_memory": "write",
    "search_memory": "read",
    "delete_memory": "delete",
    "record_memory_outcome": "outcome",
    "create_memory_store": "other",
    "delete_memory_store": "other",
}


@dataclass(eq=False)
class Op:
    """A memory touched by a span: what the span says of it."""

    spot: Spot
    convention: str
    kind: str
    id: str | None
    ordinal: int = 0
    store: str = ""
    raw: str | None = None
    hedged: bool = False
    parents: Sequence[str] = ()
    author: str | None = None
    actor: str | None = None
    record_session: str | None = None
    memory_type: str | None = None
    namespace: str | None = None
    score: float | None = None
    rank: int | None = None
    success: bool | None = None
    counted: bool = False
    about: Mapping[str, object] = field(default_factory=dict)
    version: "Version | None" = None
    skewed: bool = False

    @property
    def operation(self) -> str:
        if self.kind == "get":
            return "lineage" if any(reads(spot) for spot in self.spot.up[1:]) else "read"
        return "other" if self.kind == "conflict" else self.kind

    @property
    def order(self) -> tuple[int, int, int, int]:
        return (self.spot.time, self.spot.s.trace, self.spot.s.span, self.ordinal)

    @property
    def confidence(self) -> float | None:
        return confidence(self.raw)

    @property
    def own_agent(self) -> str | None:
        return self.author or self.actor or self.spot.carried(AGENT)

    @property
    def agent(self) -> str | None:
        return self.author or self.actor or self.spot.inherited(AGENT)

    @property
    def session(self) -> str | None:
        return self.record_session or self.spot.inherited(SESSION)


def reads(spot: Spot) -> bool:
    return any(op.kind == "read" for op in recognised(spot))


def verb(spot: Spot) -> str:
    return spot.text.get("memledger.memory.operation") or spot.s.name.removeprefix("memledger.memory.")


def memledger(spot: Spot) -> Iterator[Op]:
    """At most one operation: memledger names one record on a span."""
    text = spot.text
    memory_span = any(key.startswith("memledger.memory.") for key in (spot.s.name, *text))
    kind = MEMLEDGER.get(verb(spot), "other") if memory_span else MEMLEDGER_NAMES.get(spot.s.name)
    if kind is None:
        return
    keys = ("memory.id", "memory_id", "existing_id", "promoted_id")
    found_none = kind == "read" and "memledger.memory.id" not in text and text.get("memledger.result_count") == "0"
    parents = parsed(text.get("memledger.memory.parent_ids"))
    yield Op(
        spot,
        "memledger",
        kind,
        next((text[f"memledger.{key}"] for key in keys if f"memledger.{key}" in text), None),
        raw=text.get("memledger.memory.confidence"),
        hedged=text.get("memledger.memory.hedged") == "true",
        parents=names(parents) if isinstance(parents, list) else [],
        author=known(text.get("memledger.memory.source_agent_id")),
        record_session=known(text.get("memledger.memory.session_id")),
        memory_type=text.get("memledger.memory.type", text.get("memory.type")),
        namespace=text.get("memledger.memory.namespace"),
        success=text["memledger.success"] == "true" if "memledger.success" in text else None,
        counted=memory_span and kind != "other" and not found_none,
    )


def genai(spot: Spot) -> Iterator[Op]:
    """An operation a record; one for a span that names none."""
    text = spot.text
    kind = GENAI.get(text.get("gen_ai.operation.name", ""))
    if kind is None:
        return
    listed = parsed(text.get("gen_ai.memory.records"))
    records = [record for record in listed if isinstance(record, dict)] if isinstance(listed, list) else []
    single = text.get("gen_ai.memory.record.id")
    none_found = listed == [] or text.get("gen_ai.memory.record.count") == "0"
    for ordinal, record in enumerate(records or [{}]):
        inner = record.get("metadata")
        metadata = parsed(inner) if isinstance(inner, str) else inner
        about = record | {k: v for k, v in (metadata if isinstance(metadata, dict) else {}).items() if v is not None}
        raw, hedged = about.get("confidence"), about.get("hedged")
        parents = about.get("derived_from")
        on_span = text.get("memory.derived_from")
        yield Op(
            spot,
            "genai",
            kind,
            record.get("id", single if len(records) <= 1 else None),
            ordinal,
            store=text.get("gen_ai.memory.store.id", ""),
            raw=text.get("memory.confidence") if raw is None else as_text(raw),
            hedged=(text.get("memory.hedged") if hedged is None else as_text(hedged)) == "true",
            parents=names(parents) if parents is not None else cited(on_span),
            author=next((who for who in authors(metadata, record) if who), None),
            actor=known(text.get("memory.agent.id")),
            record_session=next((s for s in sessions(metadata, record) if s), None),
            memory_type=text.get("memory.type") if about.get("type") is None else as_text(about["type"]),
            namespace=about.get("namespace"),
            score=record.get("score"),
            rank=ordinal + 1 if kind == "read" and records else None,
            success=text["memory.success"] == "true" if "memory.success" in text else None,
            counted=kind in {"write", "read"} and not (kind == "read" and not records and not single and none_found),
            about=about,
        )


def recognised(spot: Spot) -> list[Op]:
    """The operations of the most specific convention that knows the span."""
    found = list(memledger(spot)) or list(genai(spot))
    for op in found:
        if op.kind == "write":
            op.parents = [*op.parents, *(name for name in spot.linked("derived_from") if name not in op.parents)]
    return found


def sessions(*places: object) -> Iterator[str | None]:
    for place in places:
        if isinstance(place, dict):
            yield known(place.get("session_id"))


def authors(*places: object) -> Iterator[str | None]:
    for place in places:
        if isinstance(place, dict):
            yield from (known(place.get(key)) for key in ("created_by", "agent_id"))
