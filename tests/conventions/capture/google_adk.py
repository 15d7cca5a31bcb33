"""Google ADK: an agent whose model calls load_memory, with ADK's own in-memory services and a model that is scripted.

Usage: python -m capture.google_adk, and the same with ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN=1 for the schema of ADK 1.
"""

import asyncio
import os
from collections.abc import AsyncGenerator

from capture.recorder import Recorder
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.events import Event
from google.adk.memory import InMemoryMemoryService
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import load_memory
from google.genai.types import Content, FunctionCall, Part

APP = "ops"
USER = "user-1"
LEGACY = os.environ.get("ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN") == "1"


class ScriptedModel(BaseLlm):
    """Looks into memory for each user message, then answers."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - as the base class has it
    ) -> AsyncGenerator[LlmResponse, None]:
        """One response a call."""
        del stream
        last = llm_request.contents[-1].parts[0]
        if last.function_response:
            answer = Part(text="done")
        else:
            answer = Part(function_call=FunctionCall(name="load_memory", args={"query": last.text}))
        yield LlmResponse(content=Content(role="model", parts=[answer]))


async def work() -> None:
    """A read that finds two memories, one that finds none, one without the content captured."""
    memory = InMemoryMemoryService()
    facts = {"mem-1": "the pool may be exhausted", "mem-2": "raise the pool to 200"}
    events = [
        Event(id=memory_id, author="diagnosis", content=Content(role="model", parts=[Part(text=fact)]))
        for memory_id, fact in facts.items()
    ]
    await memory.add_events_to_memory(app_name=APP, user_id=USER, events=events, session_id="incident-6")
    sessions = InMemorySessionService()
    await sessions.create_session(app_name=APP, user_id=USER, session_id="incident-7")
    agent = LlmAgent(name="action", model=ScriptedModel(model="scripted"), tools=[load_memory])
    runner = Runner(app_name=APP, agent=agent, session_service=sessions, memory_service=memory)
    for query in ("pool", "weather"):
        message = Content(role="user", parts=[Part(text=query)])
        async for _ in runner.run_async(user_id=USER, session_id="incident-7", new_message=message):
            pass
    os.environ |= {CAPTURE: "NO_CONTENT", "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS": "false"}
    message = Content(role="user", parts=[Part(text="pool")])
    async for _ in runner.run_async(user_id=USER, session_id="incident-7", new_message=message, run_config=RunConfig()):
        pass


CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
os.environ[CAPTURE] = "SPAN_ONLY"
recorder = Recorder("google_adk_schema1" if LEGACY else "google_adk")
asyncio.run(work())
recorder.write()
