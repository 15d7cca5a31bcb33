"""A real memledger whose spans go where a test wants them."""

import sys
from pathlib import Path

from memledger import Memledger
from memledger.telemetry import instrument
from opentelemetry.trace import Tracer

from incident import DIMENSIONS, HashEmbedder


async def ledger_at(file: Path, tracer: Tracer) -> Memledger:
    """An empty ledger, instrumented."""
    config = {"path": str(file), "dimensions": DIMENSIONS}
    ledger = await Memledger.create(backend_name="sqlite", backend_config=config, embedding_dimensions=DIMENSIONS)
    ledger._embedder = HashEmbedder()
    instrument(ledger)
    traced_by(tracer)
    return ledger


def traced_by(tracer: Tracer) -> None:
    """Have memledger's spans made by this tracer: it takes its own from the global provider, once."""
    for module in ("instrument", "memory_spans"):
        sys.modules[f"memledger.telemetry.{module}"]._tracer = tracer  # type: ignore[attr-defined]
