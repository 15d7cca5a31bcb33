"""Three agents share a real memledger. The first guesses, and the last acts on the guess at confidence 0.95.

    python examples/cascade.py FILE [--confirmed]

Their spans go to FILE, which `weaklink gate FILE` reads. With --confirmed somebody looks into the guess, and writes it
again at 0.9, before anybody builds on it. It takes `pip install weaklink memledger aiosqlite sqlite-vec`.
"""

import asyncio
import hashlib
import io
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from google.protobuf.proto import serialize_length_prefixed
from memledger import Memledger
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from weaklink_analysis import emit

DIMENSIONS = 32
GUESS = "maybe the connection pool is exhausted"
FIX = "raise max_connections to 200"


class FileExporter(SpanExporter):
    """Writes OTLP to a file: each request, its length before it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Append spans to the file."""
        request = io.BytesIO()
        serialize_length_prefixed(encode_spans(spans), request)
        self._file.write(request.getvalue())
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """End the file."""
        self._file.close()


class HashEmbedder:
    """Equal texts, equal vectors: no model has to be downloaded."""

    dimensions = DIMENSIONS

    async def embed_single(self, text: str) -> list[float]:
        """Return numbers between -1 and 1."""
        return [byte / 127.5 - 1 for byte in hashlib.sha256(text.encode()).digest()]


async def work(ledger: Memledger, *, confirmed: bool) -> None:
    """Let each agent read what the one before it wrote, and write its own conclusion."""
    with emit.agent_run("triage", session="incident-7"):
        await ledger.add(GUESS, record_id="triage-1", confidence=0.30, hedged=True, created_by="triage")
    if confirmed:
        with emit.agent_run("monitoring", session="incident-7"):
            await ledger.add(GUESS, record_id="triage-1", confidence=0.90, created_by="monitoring")
    with emit.agent_run("diagnosis", session="incident-7"):
        found = await ledger.search(GUESS, top_k=1)
        parents = [record.id for record in found.records]
        await ledger.add(FIX, record_id="diagnosis-1", confidence=0.85, created_by="diagnosis", derived_from=parents)
    with emit.agent_run("action", session="incident-7"):
        found = await ledger.search(FIX, top_k=1)
        parents = [record.id for record in found.records]
        await ledger.add("done", record_id="action-1", confidence=0.95, created_by="action", derived_from=parents)


async def main(file: Path, *, confirmed: bool) -> None:
    """Tell the story in one trace."""
    provider = TracerProvider(resource=Resource.create({"service.name": "incident-bot"}))
    provider.add_span_processor(BatchSpanProcessor(FileExporter(file)))
    trace.set_tracer_provider(provider)
    with tempfile.TemporaryDirectory() as folder:
        backend = {"path": f"{folder}/ledger.db", "dimensions": DIMENSIONS}
        ledger = await Memledger.create(backend_name="sqlite", backend_config=backend, embedding_dimensions=DIMENSIONS)
        ledger._embedder = HashEmbedder()  # noqa: SLF001
        with trace.get_tracer("examples.cascade").start_as_current_span("handle incident"):
            await work(emit.wrap_memledger(ledger), confirmed=confirmed)
        await ledger.close()
    provider.shutdown()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), confirmed="--confirmed" in sys.argv))
