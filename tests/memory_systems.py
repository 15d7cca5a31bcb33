"""Memory systems as agents use them, without a model or a network: each wrapped as it is told by the emitter."""

import hashlib
import importlib
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from memledger import Memledger

import incident
from pinned.install import MEM0

LANGGRAPH = "langgraph-checkpoint is not installed"


async def a_ledger(folder: Path) -> Memledger:
    """A real memledger in SQLite."""
    ledger = await Memledger.create(
        backend_name="sqlite",
        backend_config={"path": str(folder / "ledger.db"), "dimensions": incident.DIMENSIONS},
        embedding_dimensions=incident.DIMENSIONS,
    )
    ledger._embedder = incident.HashEmbedder()
    return ledger


def a_langgraph_store() -> Any:
    """A real InMemoryStore."""
    return pytest.importorskip("langgraph.store.memory", reason=LANGGRAPH).InMemoryStore()


class _Embedder:
    """Equal texts, equal vectors."""

    def embed(self, text: str, *_: object, **__: object) -> list[float]:
        return [byte / 255 for byte in hashlib.sha256(text.encode()).digest()]

    def embed_batch(self, texts: list[str], *_: object, **__: object) -> list[list[float]]:
        return [self.embed(text) for text in texts]


def _mem0() -> ModuleType:
    """It allows no protobuf of weaklink's, so it is installed elsewhere; what both have is weaklink's."""
    if reason := MEM0.missing():
        pytest.skip(reason)
    elsewhere = str(MEM0.site_packages())
    if elsewhere not in sys.path:
        sys.path.append(elsewhere)
    return importlib.import_module("mem0")


def a_mem0(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str = "Memory") -> Any:
    """A real mem0 with its own Qdrant in a folder; nothing asks a model, for nothing is inferred."""
    monkeypatch.setenv("MEM0_DIR", str(folder / "mem0"))
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mem0 = _mem0()
        config = {
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": str(folder / "qdrant"), "embedding_model_dims": 32, "on_disk": True},
            },
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "embedder": {"provider": "openai", "config": {"api_key": "none", "embedding_dims": 32}},
            "history_db_path": str(folder / "history.db"),
        }
        memory = getattr(mem0, name).from_config(config)
    memory.embedding_model = _Embedder()
    return memory
