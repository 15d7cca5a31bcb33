"""OpenLLMetry's Milvus instrumentation on Milvus Lite, a file."""

from contextlib import suppress
from tempfile import TemporaryDirectory

from capture.recorder import Recorder
from opentelemetry.instrumentation.milvus import MilvusInstrumentor
from pymilvus import MilvusClient
from pymilvus.exceptions import MilvusException

MEMORIES = [
    {"id": "mem-1", "vector": [1.0, 0.0], "text": "the connection pool may be exhausted", "confidence": 0.3},
    {"id": "mem-2", "vector": [0.9, 0.1], "text": "raise max_connections to 200", "confidence": 0.85},
]


def work(client: MilvusClient) -> None:
    """A write of two, a search that finds both, one that finds none, a query by expression, a delete, a failure."""
    client.create_collection("memories", dimension=2, id_type="string", max_length=64, metric_type="L2")
    client.insert("memories", MEMORIES)
    fields = ["text", "confidence"]
    client.search("memories", data=[[1.0, 0.0]], limit=2, output_fields=fields)
    client.search("memories", data=[[1.0, 0.0]], limit=2, filter='text == "nothing"', output_fields=fields)
    client.query("memories", filter="confidence > 0.5", output_fields=["id", *fields])
    client.upsert("memories", MEMORIES[:1])
    client.delete("memories", ids=["mem-1"])
    with suppress(MilvusException):
        client.search("nowhere", data=[[1.0, 0.0]], limit=2)


recorder = Recorder("openllmetry_milvus")
MilvusInstrumentor().instrument(tracer_provider=recorder.provider)
with TemporaryDirectory() as folder:
    work(MilvusClient(f"{folder}/milvus.db"))
recorder.write()
