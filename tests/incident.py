"""The seed's incident, told by the real memledger: a guess at 0.30, a diagnosis at 0.85, an action at 0.95."""

import hashlib
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from memledger import Memledger
from memledger.telemetry import instrument
from memledger.telemetry.memory_spans import memory_span
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Tracer

DIMENSIONS = 32

STEPS = (
    ("triage", "the connection pool may be exhausted", 0.30, True),
    ("diagnosis", "raise max_connections to 200", 0.85, False),
    ("action", "applied max_connections=200 in production", 0.95, False),
)
"""Agent, what it writes, how sure it declares itself to be, whether it hedges."""


class HashEmbedder:
    """Equal texts, equal vectors; nothing is downloaded."""

    dimensions = DIMENSIONS

    async def embed_single(self, text: str) -> list[float]:
        """Numbers between -1 and 1."""
        return [byte / 127.5 - 1 for byte in hashlib.sha256(text.encode()).digest()]


async def tell(provider: TracerProvider, folder: Path, *, one_trace: bool) -> dict[str, str]:
    """Let three agents work on one ledger, in one trace or each in its own; agent -> id of the memory it wrote."""
    ledger = await Memledger.create(
        backend_name="sqlite",
        backend_config={"path": str(folder / "ledger.db"), "dimensions": DIMENSIONS},
        embedding_dimensions=DIMENSIONS,
    )
    ledger._embedder = HashEmbedder()
    tracer = provider.get_tracer("incident")
    # memledger takes its tracer from the global provider, once; a test has a provider of its own.
    for module in ("instrument", "memory_spans"):
        sys.modules[f"memledger.telemetry.{module}"]._tracer = tracer  # type: ignore[attr-defined]
    instrument(ledger)
    try:
        with tracer.start_as_current_span("incident") if one_trace else nullcontext():
            return await _work(ledger, tracer)
    finally:
        await ledger.close()


async def _work(ledger: Memledger, tracer: Tracer) -> dict[str, str]:
    written: dict[str, str] = {}
    for before, (agent, content, confidence, hedged) in zip((None, *STEPS), STEPS, strict=False):
        with _run(tracer, agent):
            if before:
                await ledger.search(content, namespace="/ops", agent_id=agent)
                await _recall(written[before[0]], *before)
            written[agent] = await ledger.add(
                content,
                namespace="/ops",
                confidence=confidence,
                hedged=hedged,
                created_by=agent,
                agent_id=agent,
                session_id="incident-7",
                derived_from=list(written.values())[-1:],
            )
    return written


async def _recall(memory_id: str, author: str, _content: str, confidence: float, hedged: bool) -> None:  # noqa: FBT001
    """Say on a span which memory is read: a search's own span names none."""
    async with memory_span(
        "recall",
        memory_id=memory_id,
        confidence=confidence,
        source_agent_id=author,
        session_id="incident-7",
        namespace="/ops",
        extra_attrs={"hedged": hedged},
    ):
        pass


def _run(tracer: Tracer, agent: str) -> AbstractContextManager[object]:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": agent}
    return tracer.start_as_current_span(f"invoke_agent {agent}", attributes=attributes)
