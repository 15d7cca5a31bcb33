"""Graphiti on a Kuzu graph in memory, with an LLM, an embedder and a ranker that are scripted."""

import asyncio
import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

os.environ |= {"GRAPHITI_TELEMETRY_ENABLED": "false", "EMBEDDING_DIM": "8"}

from capture.recorder import Recorder
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.nodes import EpisodeType
from graphiti_core.search import search

ANSWERS: dict[str, dict[str, Any]] = {
    "ExtractedEntities": {"extracted_entities": [{"name": name, "entity_type_id": 0} for name in ("pool", "server")]},
    "ExtractedEdges": {
        "edges": [
            {
                "source_entity_name": "pool",
                "target_entity_name": "server",
                "relation_type": "EXHAUSTS",
                "fact": "the pool exhausts the server",
            }
        ]
    },
    "NodeResolutions": {"entity_resolutions": []},
    "EdgeDuplicate": {"duplicate_facts": [], "contradicted_facts": []},
    "BatchEdgeTimestamps": {"timestamps": [{}]},
    "EdgeTimestamps": {},
    "SummarizedEntities": {"summaries": []},
}
NOW = datetime(2026, 11, 21, tzinfo=UTC)


class ScriptedLlm(LLMClient):
    """Finds the same two entities and one fact in each episode."""

    async def _generate_response(self, messages: Any, response_model: Any = None, *_: Any, **__: Any) -> dict[str, Any]:
        del messages
        return ANSWERS[response_model.__name__]


class EqualEmbedder(EmbedderClient):
    """One vector for every text."""

    async def create(self, input_data: str | list[str] | Iterable[int] | Iterable[Iterable[int]]) -> list[float]:
        """Eight equal numbers."""
        del input_data
        return [0.35] * 8

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        """One each."""
        return [[0.35] * 8 for _ in input_data_list]


class EqualRanker(CrossEncoderClient):
    """Every passage is as good."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """In the order given."""
        del query
        return [(passage, 0.5) for passage in passages]


async def no_index(*_: Any, **__: Any) -> list[Any]:
    """Kuzu's full-text extension would be downloaded."""
    return []


async def work(graphiti: Graphiti) -> None:
    """A write, a read that finds a fact, one that finds none, a failure."""
    await graphiti.build_indices_and_constraints()
    await graphiti.add_episode(
        name="incident",
        episode_body="triage: the pool exhausts the server",
        source_description="chat",
        reference_time=NOW,
        source=EpisodeType.message,
        group_id="ops",
    )
    await graphiti.search("pool", group_ids=["ops"], num_results=2)
    await graphiti.search("weather", group_ids=["nobody"], num_results=2)
    ANSWERS.clear()
    with suppress(RuntimeError):  # its tracer raises that in place of any error
        await graphiti.add_episode(
            name="fail", episode_body="user: x", source_description="chat", reference_time=NOW, group_id="ops"
        )


recorder = Recorder("graphiti")
for found in ("edge", "node", "episode", "community"):
    setattr(search, f"{found}_fulltext_search", no_index)
driver = KuzuDriver()
driver._database = "ops"  # 0.31.1 asks each driver for it, and this one has none
asyncio.run(
    work(
        Graphiti(
            graph_driver=driver,
            llm_client=ScriptedLlm(None),
            embedder=EqualEmbedder(),
            cross_encoder=EqualRanker(),
            tracer=recorder.provider.get_tracer("graphiti_core"),
        )
    )
)
recorder.write(only=("graphiti.add_episode", "graphiti.search"))
