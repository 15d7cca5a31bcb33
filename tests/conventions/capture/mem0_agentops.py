"""AgentOps's mem0 instrumentation on a real mem0, in its sync and its async form.

AgentOps 0.4.21 raises AttributeError into the agent where `add` is called with `infer`, so it is not here.
"""

import asyncio
from contextlib import suppress

from agentops.instrumentation.providers.mem0.instrumentor import Mem0Instrumentor
from capture.local_mem0 import AsyncMemory, Memory, memories
from capture.recorder import Recorder

MESSAGE = [{"role": "user", "content": "The pool is full. 200 connections would do."}]


def work(memory: Memory) -> None:
    """A write of two, a read that finds both, one that finds none, one memory's life, a failure."""
    added = memory.add(MESSAGE, user_id="user-1", agent_id="triage", run_id="incident-7", metadata={"confidence": 0.3})
    memory_id = added["results"][0]["id"]
    memory.search("the pool", filters={"agent_id": "triage"})
    memory.search("the pool", filters={"agent_id": "nobody"})
    memory.get(memory_id)
    memory.update(memory_id, data="as it is said now")
    memory.get_all(filters={"agent_id": "triage"})
    memory.history(memory_id)
    memory.delete(memory_id)
    with suppress(ValueError):
        memory.search("the pool", user_id="user-1")


async def work_async(memory: AsyncMemory) -> None:
    """A write and a read."""
    await memory.add(MESSAGE, agent_id="triage", run_id="incident-7")
    await memory.search("the pool", filters={"agent_id": "triage"})


recorder = Recorder("mem0_agentops")
Mem0Instrumentor().instrument(tracer_provider=recorder.provider)
with memories() as (memory, async_memory):
    work(memory)
    asyncio.run(work_async(async_memory))
recorder.write()
