"""OpenLLMetry's Chroma instrumentation on a Chroma in memory, with vectors given: no model is downloaded."""

from contextlib import suppress

import chromadb
from capture.recorder import Recorder
from chromadb.errors import InvalidArgumentError
from opentelemetry.instrumentation.chromadb import ChromaInstrumentor


def work() -> None:
    """A write of two, an upsert, a read that finds two, one that finds none, a delete, a failure."""
    memories = chromadb.EphemeralClient().create_collection("memories", embedding_function=None)
    memories.add(
        ids=["mem-1", "mem-2"],
        embeddings=[[1.0, 0.0], [0.9, 0.1]],
        documents=["the connection pool may be exhausted", "raise max_connections to 200"],
        metadatas=[
            {"confidence": 0.3, "created_by": "triage", "session_id": "incident-7"},
            {"confidence": 0.85, "created_by": "diagnosis", "derived_from": "mem-1"},
        ],
    )
    memories.upsert(ids=["mem-2"], embeddings=[[0.8, 0.2]], documents=["raise max_connections to 300"])
    memories.query(query_embeddings=[[1.0, 0.0]], n_results=2)
    memories.query(query_embeddings=[[1.0, 0.0]], n_results=2, where={"created_by": "nobody"})
    memories.get(ids=["mem-1"])
    memories.delete(ids=["mem-1"])
    with suppress(InvalidArgumentError):
        memories.query(query_embeddings=[[1.0, 0.0, 0.0]], n_results=2)


recorder = Recorder("openllmetry_chroma")
ChromaInstrumentor().instrument(tracer_provider=recorder.provider)
work()
recorder.write()
