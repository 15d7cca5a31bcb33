"""OpenInference's LangChain instrumentation on a retriever of LangChain's own base class, over two fixed documents."""

import asyncio
from contextlib import suppress

from capture.recorder import Recorder
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from openinference.instrumentation import using_attributes
from openinference.instrumentation.langchain import LangChainInstrumentor

DOCUMENTS = (
    Document(
        id="mem-1",
        page_content="the connection pool may be exhausted",
        metadata={"confidence": 0.3, "created_by": "triage", "score": 0.91},
    ),
    Document(
        id="mem-2",
        page_content="raise max_connections to 200",
        metadata={"confidence": 0.85, "created_by": "diagnosis", "derived_from": ["mem-1"]},
    ),
    Document(page_content="a document without an id of the pool"),
)


class MemoryRetriever(BaseRetriever):
    """Finds the documents that have the query's word."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        del run_manager
        if query == "fail":
            raise ConnectionError("the store is away")
        return [document for document in DOCUMENTS if query in document.page_content]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return self._get_relevant_documents(query, run_manager=run_manager.get_sync())


async def work() -> None:
    """A read that finds two, one of them without an id, one that finds none, an async one, a failure."""
    retriever = MemoryRetriever(tags=["memory"], metadata={"store": "ops"})
    with using_attributes(session_id="incident-7", user_id="user-1"):
        retriever.invoke("pool")
        retriever.invoke("nothing like this")
    await retriever.ainvoke("connect")
    with suppress(ConnectionError):
        retriever.invoke("fail")


recorder = Recorder("openinference_langchain")
LangChainInstrumentor().instrument(tracer_provider=recorder.provider)
asyncio.run(work())
recorder.write()
