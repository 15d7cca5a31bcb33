"""OpenInference's LlamaIndex instrumentation on a retriever of LlamaIndex's own base class, over two fixed nodes."""

import asyncio
from contextlib import suppress

from capture.recorder import Recorder
from llama_index.core import QueryBundle
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from openinference.instrumentation import using_attributes
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

NODES = (
    NodeWithScore(
        score=0.9,
        node=TextNode(
            id_="mem-1",
            text="the connection pool may be exhausted",
            metadata={"confidence": 0.3, "created_by": "triage"},
        ),
    ),
    NodeWithScore(
        score=0.8,
        node=TextNode(
            id_="mem-2",
            text="raise max_connections of the pool to 200",
            metadata={"confidence": 0.85, "created_by": "diagnosis", "derived_from": ["mem-1"]},
        ),
    ),
)


class MemoryRetriever(BaseRetriever):
    """Finds the nodes that have the query's word."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if query_bundle.query_str == "fail":
            raise ConnectionError("the store is away")
        return [node for node in NODES if query_bundle.query_str in node.text]


async def work() -> None:
    """A read that finds two, one that finds none, an async one, a failure."""
    retriever = MemoryRetriever()
    with using_attributes(session_id="incident-7", user_id="user-1"):
        retriever.retrieve("pool")
        retriever.retrieve("nothing like this")
    await retriever.aretrieve("connection")
    with suppress(ConnectionError):
        retriever.retrieve("fail")


recorder = Recorder("openinference_llama_index")
LlamaIndexInstrumentor().instrument(tracer_provider=recorder.provider)
asyncio.run(work())
recorder.write()
