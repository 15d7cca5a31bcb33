"""Memory spans by the OpenTelemetry GenAI conventions: `records` as a JSON string, and as a structured value."""

import json

from capture.recorder import Recorder
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.util.types import AttributeValue

GUESS = {
    "id": "mem-1",
    "content": "the connection pool may be exhausted",
    "metadata": {"confidence": 0.3, "hedged": True, "created_by": "triage"},
}
FIX = {
    "id": "mem-2",
    "content": {"setting": "max_connections", "value": 200},
    "metadata": {"confidence": 0.85, "derived_from": ["mem-1"], "created_by": "diagnosis"},
}
FOUND = [FIX | {"score": 0.9}, GUESS | {"score": 0.4}]

recorder = Recorder("genai_memory")
tracer = recorder.provider.get_tracer("gen_ai.memory")


def memory(operation: str, *, error: str = "", **attributes: AttributeValue) -> None:
    """A span of the operation; `_` in a name stands for a dot."""
    named = {f"gen_ai.memory.{name.replace('_', '.')}": value for name, value in attributes.items()}
    common = {"gen_ai.operation.name": operation, "gen_ai.provider.name": "acme.memory"}
    with tracer.start_as_current_span(operation, kind=SpanKind.CLIENT, attributes=common | named) as span:
        if error:
            span.set_attribute("error.type", error)
            span.set_status(Status(StatusCode.ERROR))


agent = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "diagnosis",
    "gen_ai.agent.id": "agent-2",
    "gen_ai.conversation.id": "incident-7",
}
with tracer.start_as_current_span("invoke_agent diagnosis", attributes=agent):
    memory("create_memory_store", store_id="ops")
    memory("create_memory", store_id="ops", record_id="mem-1", record_count=1, records=json.dumps([GUESS]))
    memory("upsert_memory", store_id="ops", record_count=1, records=[FIX])
    memory("search_memory", store_id="ops", query_text="pool", record_count=2, records=json.dumps(FOUND))
    memory("search_memory", store_id="ops", query_text="pool", record_count=2, records=FOUND)
    memory("search_memory", store_id="ops", query_text="weather", record_count=0, records="[]")
    memory("search_memory", store_id="ops", record_count=2)
    memory("delete_memory", store_id="ops", record_id="mem-1")
    memory("delete_memory", store_id="ops")
    memory("update_memory", store_id="ops", record_id="mem-2", error="ConnectionError")
recorder.write()
