"""The spans that AWS AgentCore itself delivers, by the attributes that its developer guide lists."""

from capture.recorder import Recorder
from opentelemetry.trace import SpanKind
from opentelemetry.util.types import AttributeValue

MEMORY = {"memory.id": "ops-Ab12Cd34Ef"}
SESSION = {"session.id": "incident-7", "actor.id": "diagnosis"}
FINE = {"throttled": False, "error": False, "fault": False}

recorder = Recorder("agentcore_service")
tracer = recorder.provider.get_tracer("bedrock-agentcore")


def operation(name: str, **attributes: AttributeValue) -> None:
    """A span of the service; `_` in a name stands for a dot."""
    named = {key.replace("_", "."): value for key, value in attributes.items()}
    with tracer.start_as_current_span(name, kind=SpanKind.SERVER, attributes=MEMORY | FINE | named):
        pass


operation("CreateEvent", event_id="0000001763740800000#abcd1234", **SESSION)
operation("CreateEvent", event_id="0000001763740801000#abcd1235", **SESSION)
operation("GetEvent", event_id="0000001763740800000#abcd1234", **SESSION)
operation("ListEvents", **SESSION)
operation("RetrieveMemoryRecords", namespace="/ops")
operation("ListMemoryRecords", namespace="/ops", throttled=True)
operation("DeleteEvent", event_id="0000001763740800000#abcd1234", **SESSION)
recorder.write()
