"""What mends a gap: the attribute and the code, in the words of the convention that lacks it."""

from weaklink_analysis.doctor.frameworks import FRAMEWORK_MENDS
from weaklink_analysis.doctor.mend import ANY, Mend

MEMORY_SPAN = Mend(
    "gen_ai.operation.name",
    ('span.set_attribute("gen_ai.operation.name", "search_memory")  # create_memory for a write',),
)
"""Makes a memory operation of a span that no convention knows."""

_RECORDS = (
    "records = [",
    '    {"id": found.id, "metadata": {"confidence": found.confidence, "created_by": found.agent}}',
    "    for found in results",
    "]",
    'span.set_attribute("gen_ai.memory.records", json.dumps(records))',
)


_BESIDE = Mend(
    "gen_ai.memory.records",
    (
        'with tracer.start_as_current_span("search_memory") as span:  # beside theirs, which cannot say it',
        '    span.set_attribute("gen_ai.operation.name", "search_memory")  # create_memory for a write',
        *(f"    {line}" for line in _RECORDS),
    ),
)


def _metadata(gap: str, value: str) -> Mend:
    return Mend(
        f'"{gap}" in the metadata of each record',
        (f'metadata["{gap}"] = {value}  # if this convention has metadata; else GenAI memory spans have it',),
    )


_RUN = Mend(
    "gen_ai.operation.name",
    (
        "with tracer.start_as_current_span(",
        '    "invoke_agent", attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent}',
        "):",
        "    ...  # the agent's work",
    ),
)
_SESSION = Mend(
    "session.id",
    ('span.set_attribute("session.id", session)  # of the agent run: all beneath it inherits it',),
)
_CONFIDENCE = Mend(
    "memory.confidence",
    ('span.set_attribute("memory.confidence", confidence)  # 0 to 1; or "confidence" in each record\'s metadata',),
)
_RECALL = Mend(
    "memledger.memory.id",
    (
        "ledger.search = functools.partial(type(ledger).search, ledger)  # after instrument(ledger): no search spans",
        "for found in (await ledger.search(query)).records:",
        "    async with memory_span(",
        '        "recall", memory_id=found.id, confidence=found.confidence, source_agent_id=found.created_by or "",',
        '        session_id=found.session_id or "",',
        "    ):",
        "        ...  # use it",
    ),
)


def _use(argument: str) -> tuple[str, ...]:
    return (f"async with memory_span(operation, memory_id=memory_id, {argument}):", "    ...  # the operation itself")


MENDS: dict[tuple[str, str, str], Mend] = FRAMEWORK_MENDS | {
    # Of users' own conventions: what is read of the metadata of any, or of any span.
    ("ids", ANY, ANY): _BESIDE,
    ("confidence", ANY, ANY): _metadata("confidence", "confidence"),
    ("valid_confidence", ANY, ANY): _metadata("confidence", "0.85"),
    ("agent", ANY, ANY): Mend("gen_ai.agent.name", ('span.set_attribute("gen_ai.agent.name", agent)',)),
    ("session", ANY, ANY): _SESSION,
    ("parents", ANY, ANY): Mend(
        "memory.link",
        (
            'link = {"memory.link": "derived_from", "memory.id": [found.id for found in results]}',
            "span.add_link(span.get_span_context(), link)",
        ),
    ),
    ("link_ids", ANY, ANY): Mend(
        "memory.id",
        ('span.add_link(written.get_span_context(), {"memory.link": "derived_from", "memory.id": memory_id})',),
    ),
    ("agent_run", ANY, ANY): _RUN,
    ("ids", "genai", "read"): Mend("gen_ai.memory.records", _RECORDS),
    ("ids", "genai", "write"): Mend(
        "gen_ai.memory.record.id", ('span.set_attribute("gen_ai.memory.record.id", memory_id)',)
    ),
    ("confidence", "genai", ANY): _CONFIDENCE,
    ("valid_confidence", "genai", ANY): _CONFIDENCE,
    ("agent", "genai", ANY): Mend("gen_ai.agent.name", ('span.set_attribute("gen_ai.agent.name", agent)',)),
    ("session", "genai", ANY): Mend(
        "gen_ai.conversation.id",
        ('span.set_attribute("gen_ai.conversation.id", session)  # of the agent run: all beneath it inherits it',),
    ),
    ("parents", "genai", ANY): Mend(
        "memory.derived_from", ('span.set_attribute("memory.derived_from", [found.id for found in results])',)
    ),
    ("ids", "memledger", "read"): _RECALL,
    ("ids", "memledger", ANY): Mend("memledger.memory.id", _use("confidence=confidence")),
    ("confidence", "memledger", "read"): _RECALL,
    ("confidence", "memledger", "write"): Mend(
        "memledger.memory.confidence", ("await ledger.add(text, confidence=confidence)",)
    ),
    ("confidence", "memledger", ANY): Mend("memledger.memory.confidence", _use("confidence=confidence")),
    ("valid_confidence", "memledger", "read"): _RECALL,
    ("valid_confidence", "memledger", "write"): Mend(
        "memledger.memory.confidence", ("await ledger.add(text, confidence=confidence)  # a number from 0 to 1",)
    ),
    ("valid_confidence", "memledger", ANY): Mend("memledger.memory.confidence", _use("confidence=confidence")),
    ("agent", "memledger", "read"): _RECALL,
    ("agent", "memledger", "write"): Mend(
        "memledger.memory.source_agent_id", ("await ledger.add(text, created_by=agent)",)
    ),
    ("agent", "memledger", ANY): Mend("memledger.memory.source_agent_id", _use("source_agent_id=agent")),
    ("session", "memledger", "write"): Mend(
        "memledger.memory.session_id", ("await ledger.add(text, session_id=session)",)
    ),
    ("parents", "memledger", ANY): Mend(
        "memledger.memory.parent_ids", ("await ledger.add(text, derived_from=[found.id for found in results])",)
    ),
}
"""By gap, convention and operation; `*` stands for any, and the closest entry counts."""


def mend(gap: str, convention: str, operation: str) -> Mend:
    """What mends a gap of an operation in a convention, known here or not."""
    keys = ((gap, c, o) for c in (convention, ANY) for o in (operation, ANY))
    return next(MENDS[key] for key in keys if key in MENDS)
