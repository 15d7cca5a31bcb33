"""A real mem0 without a network: Qdrant in a folder, mem0's own mock embedder, an LLM that finds what it is told."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

# Read when mem0 is imported.
os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": mkdtemp()}

from mem0 import AsyncMemory, Memory
from mem0.embeddings.mock import MockEmbeddings

DIMENSIONS = 10
"""Of the mock embedder."""

FACTS = ("The connection pool may be exhausted", "Raising max_connections to 200 helps")
"""What the LLM finds in any message."""


class StubLlm:
    """Extracts the same facts from each message."""

    def generate_response(self, messages: Any, **_: Any) -> str:
        """As the prompts of mem0 1 (`facts`, then `memory` with `event`) and of mem0 2 (`memory`) want it."""
        del messages
        memory = [{"id": str(number), "text": fact, "event": "ADD"} for number, fact in enumerate(FACTS)]
        return json.dumps({"facts": FACTS, "memory": memory})


@contextmanager
def memories() -> Iterator[tuple[Memory, AsyncMemory]]:
    """One of each kind, each on a store of its own."""
    with TemporaryDirectory() as folder:
        yield _offline(Memory, folder), _offline(AsyncMemory, folder)


def _offline(kind: Any, folder: str) -> Any:
    store = {"path": f"{folder}/{kind.__name__}", "embedding_model_dims": DIMENSIONS, "on_disk": True}
    memory = kind.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "embedder": {"provider": "openai", "config": {"api_key": "none"}},
            "history_db_path": f"{folder}/{kind.__name__}.db",
        }
    )
    memory.llm, memory.embedding_model = StubLlm(), MockEmbeddings()
    return memory
