"""memledger's instrument() and memory_span() on a ledger in SQLite, with an embedder that hashes."""

import asyncio
import hashlib
import tempfile
from contextlib import suppress

from capture.recorder import Recorder
from memledger import Memledger
from memledger.telemetry import instrument
from memledger.telemetry.memory_spans import memory_span

DIMENSIONS = 32


class HashEmbedder:
    """Equal texts, equal vectors; nothing is downloaded."""

    dimensions = DIMENSIONS

    async def embed_single(self, text: str) -> list[float]:
        """Numbers between -1 and 1."""
        return [byte / 127.5 - 1 for byte in hashlib.sha256(text.encode()).digest()]


async def work(ledger: Memledger) -> None:
    """Two writes, reads that find both and none, a recall, an outcome, a confidence of 1.5, a failure."""
    guess = await ledger.add(
        "the connection pool may be exhausted",
        namespace="/ops",
        agent_id="ops",
        confidence=0.3,
        hedged=True,
        created_by="triage",
        session_id="incident-7",
    )
    fix = await ledger.add(
        "raise max_connections to 200",
        namespace="/ops",
        agent_id="ops",
        confidence=0.85,
        created_by="diagnosis",
        session_id="incident-7",
        derived_from=[guess],
    )
    await ledger.search("connections", namespace="/ops", agent_id="ops")
    await ledger.search("connections", namespace="/empty")
    async with memory_span(
        "recall", memory_id=guess, confidence=0.3, source_agent_id="triage", session_id="incident-7",
        namespace="/ops", extra_attrs={"hedged": True},
    ):  # fmt: skip
        pass
    await ledger.get(fix)
    await ledger.get_lineage(fix)
    await ledger.record_outcome(fix, success=True)
    await ledger.add("surer than sure", namespace="/ops", confidence=1.5, created_by="action")
    with suppress(TypeError):
        await ledger.search("connections", unknown_filter=True)


async def main() -> None:
    """Run it on a ledger of its own."""
    recorder = Recorder("memledger")
    with tempfile.TemporaryDirectory() as folder:
        ledger = await Memledger.create(
            backend_name="sqlite",
            backend_config={"path": f"{folder}/ledger.db", "dimensions": DIMENSIONS},
            embedding_dimensions=DIMENSIONS,
        )
        ledger._embedder = HashEmbedder()
        instrument(ledger)
        await work(ledger)
        await ledger.close()
    recorder.write()


asyncio.run(main())
