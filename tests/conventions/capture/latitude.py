"""What Latitude's own memory helper emits, with content captured and, for the last read, without."""

import asyncio
import os
from contextlib import suppress

from capture.recorder import Recorder
from latitude_telemetry import Latitude, create_memory_telemetry
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

FACTS = [
    {"id": "mem-1", "content": "the connection pool may be exhausted", "metadata": {"confidence": 0.3}},
    {
        "id": "mem-2",
        "content": "raise max_connections to 200",
        "metadata": {"confidence": 0.85, "derived_from": ["mem-1"], "created_by": "diagnosis"},
    },
]


def fail() -> None:
    """A store that is away."""
    raise ConnectionError("the store is away")


async def find() -> list[dict[str, object]]:
    """Both facts."""
    return [fact | {"score": 0.9 - place / 10} for place, fact in enumerate(FACTS)]


async def work(latitude: Latitude) -> None:
    """Two writes, a read that finds both, one that finds none, one without content, a delete, a failure."""
    memory = create_memory_telemetry(
        latitude,
        store_id="ops",
        context={"session_id": "incident-7", "user_id": "user-1", "metadata": {"agent": "diagnosis"}},
        capture_content=True,
    )
    memory.create_store()
    memory.create(record_id="mem-1", records=FACTS[:1])
    memory.upsert(records=FACTS)
    await memory.search(query="pool", execute=find, records_from_result=lambda found: found)
    memory.search(query="weather", execute=list, records_from_result=lambda found: found)
    memory.search(query="weather", records=[])
    memory.search(query="pool", records=FACTS, capture_content=False)
    memory.delete(record_id="mem-1")
    with suppress(ConnectionError):
        memory.update(record_id="mem-2", execute=fail)


os.environ["LATITUDE_TELEMETRY_URL"] = "http://localhost:9"
recorder = Recorder("latitude")
client = Latitude(api_key="none", project="none", tracer_provider=recorder.provider, exporter=InMemorySpanExporter())
asyncio.run(work(client))
recorder.write()
