"""AWS AgentCore's MemoryClient under ADOT's botocore instrumentation, on answers that botocore's Stubber gives."""

import os
from datetime import UTC, datetime

os.environ |= {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-west-2"}

from amazon.opentelemetry.distro.patches._instrumentation_patch import apply_instrumentation_patches
from bedrock_agentcore.memory import MemoryClient
from botocore.stub import ANY, Stubber
from capture.recorder import Recorder
from opentelemetry.instrumentation.botocore import BotocoreInstrumentor

MEMORY = "ops-Ab12Cd34Ef"
NOW = datetime(2026, 11, 21, tzinfo=UTC)
EVENT = {
    "memoryId": MEMORY,
    "actorId": "user-1",
    "sessionId": "incident-7",
    "eventId": "0000001763740800000#abcd1234",
    "eventTimestamp": NOW,
    "payload": [{"conversational": {"content": {"text": "the pool is full"}, "role": "USER"}}],
}
RECORDS = [
    {
        "memoryRecordId": f"mem-{number:036}",
        "content": {"text": text},
        "memoryStrategyId": "semantic-1",
        "namespaces": ["/ops"],
        "createdAt": NOW,
        "score": score,
    }
    for number, text, score in ((1, "the connection pool may be exhausted", 0.9), (2, "raise it to 200", 0.8))
]


def work(client: MemoryClient, stubber: Stubber) -> None:
    """A write, a read that finds two records, one that finds none, a write of a record itself, a failure."""
    stubber.add_response("create_event", {"event": EVENT})
    client.create_event(MEMORY, "user-1", "incident-7", messages=[("the pool is full", "USER")], event_timestamp=NOW)
    for found in (RECORDS, []):
        stubber.add_response("retrieve_memory_records", {"memoryRecordSummaries": found})
        client.retrieve_memories(MEMORY, namespace="/ops", query="pool")
    created = {"successfulRecords": [{"memoryRecordId": f"mem-{3:036}", "status": "SUCCEEDED"}], "failedRecords": []}
    stubber.add_response("batch_create_memory_records", created, {"memoryId": MEMORY, "records": ANY})
    client.gmdp_client.batch_create_memory_records(
        memoryId=MEMORY,
        records=[{"requestIdentifier": "1", "namespaces": ["/ops"], "content": {"text": "as it is"}, "timestamp": NOW}],
    )
    stubber.add_client_error("retrieve_memory_records", "ResourceNotFoundException", "no such memory", 404)
    client.retrieve_memories("gone-Ab12Cd34Ef", namespace="/ops", query="pool")


recorder = Recorder("agentcore")
apply_instrumentation_patches()
BotocoreInstrumentor().instrument(tracer_provider=recorder.provider)
client = MemoryClient(region_name="us-west-2")
with Stubber(client.gmdp_client) as stubber:
    work(client, stubber)
recorder.write()
