"""LoongSuite's mem0 instrumentation on a real mem0 1 (it refuses mem0 2), in its sync and its async form.

Input and output are on spans only where the user captures message content, as here until the last read.
"""

import asyncio
import os
from contextlib import suppress

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
os.environ |= {"OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental", CAPTURE: "SPAN_ONLY"}

from capture.local_mem0 import AsyncMemory, Memory, memories
from capture.recorder import Recorder
from mem0.exceptions import ValidationError as Mem0ValidationError
from opentelemetry.instrumentation.mem0 import Mem0Instrumentor

MESSAGE = [{"role": "user", "content": "The pool is full. 200 connections would do."}]


def work(memory: Memory) -> None:
    """A write of two, a read that finds both, one that finds none, one memory's life, a failure."""
    added = memory.add(MESSAGE, user_id="user-1", agent_id="triage", run_id="incident-7", metadata={"confidence": 0.3})
    memory_id = added["results"][0]["id"]
    memory.search("the pool", agent_id="triage", limit=5)
    memory.search("the pool", agent_id="nobody", limit=5)
    memory.get(memory_id)
    memory.update(memory_id, data="as it is said now")
    memory.get_all(agent_id="triage")
    memory.delete(memory_id)
    with suppress(Mem0ValidationError):
        memory.search("the pool")


async def work_async(memory: AsyncMemory) -> None:
    """A write and a read."""
    await memory.add(MESSAGE, agent_id="triage", run_id="incident-7")
    await memory.search("the pool", agent_id="triage", limit=5)


recorder = Recorder("mem0_loongsuite")
Mem0Instrumentor().instrument(tracer_provider=recorder.provider)
with memories() as (memory, async_memory):
    work(memory)
    asyncio.run(work_async(async_memory))
    os.environ[CAPTURE] = "NO_CONTENT"
    memory.search("the pool", agent_id="triage", limit=5)
recorder.write()
