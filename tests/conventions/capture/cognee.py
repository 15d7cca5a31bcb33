"""Cognee: add, remember and recall with its own databases in a folder, its mock embeddings and a stubbed LLM."""

import asyncio
import os
from contextlib import suppress
from tempfile import mkdtemp
from typing import Any

FOLDER = mkdtemp()
os.environ |= {
    "MOCK_EMBEDDING": "true",
    "EMBEDDING_PROVIDER": "openai",
    "EMBEDDING_DIMENSIONS": "8",
    "LLM_API_KEY": "none",
    "COGNEE_TRACING_ENABLED": "true",
    "COGNEE_SKIP_PREFLIGHT": "true",
    "COGNEE_SKIP_CONNECTION_TEST": "true",
    "TELEMETRY_DISABLED": "true",
    "DATA_ROOT_DIRECTORY": f"{FOLDER}/data",
    "SYSTEM_ROOT_DIRECTORY": f"{FOLDER}/system",
    "CACHE_ROOT_DIRECTORY": f"{FOLDER}/cache",
    "COGNEE_LOGS_DIR": f"{FOLDER}/logs",
    "ENABLE_BACKEND_ACCESS_CONTROL": "false",
}

from capture.recorder import Recorder

recorder = Recorder("cognee")

import cognee
import tiktoken
from cognee import SearchType
from cognee.infrastructure.llm.LLMGateway import LLMGateway
from cognee.memory.entries import QAEntry


def bytes_as_tokens(_name: str) -> tiktoken.Encoding:
    """An encoding that needs no download."""
    ranks = {bytes([number]): number for number in range(256)}
    return tiktoken.Encoding("bytes", pat_str=".", mergeable_ranks=ranks, special_tokens={})


async def answer(text_input: str, system_prompt: str, response_model: Any, **_: Any) -> Any:
    """The emptiest answer of the form that is asked for."""
    del text_input, system_prompt
    fields = {name: "x" for name, field in response_model.model_fields.items() if field.annotation is str}
    return response_model(**fields)


async def work() -> None:
    """A write, a turn of a session, a read of the session, reads of the store that find one and none, a failure."""
    await cognee.remember("The connection pool may be exhausted.", dataset_name="ops", self_improvement=False)
    await cognee.remember(
        QAEntry(question="What is wrong?", answer="The pool is full."), dataset_name="ops", session_id="incident-7"
    )
    await cognee.recall("pool", session_id="incident-7", scope="session")
    await cognee.search("pool", query_type=SearchType.CHUNKS_LEXICAL, datasets=["ops"])
    await cognee.recall("pool", query_type=SearchType.CHUNKS_LEXICAL, datasets=["ops"])
    await cognee.search("pool", query_type=SearchType.CHUNKS, datasets=["ops"])
    with suppress(Exception):
        await cognee.recall("pool", query_type=SearchType.CHUNKS_LEXICAL, datasets=["no such dataset"])


tiktoken.encoding_for_model = tiktoken.get_encoding = bytes_as_tokens
LLMGateway.acreate_structured_output = staticmethod(answer)
asyncio.run(work())
recorder.write(only=("memory.", "cognee.api.", "cognee.session."))
