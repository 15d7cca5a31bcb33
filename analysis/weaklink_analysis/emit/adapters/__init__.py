"""Wrappers that tell what a memory system does, and change nothing of it."""

from weaklink_analysis.emit.adapters.langgraph import item_id, wrap_langgraph
from weaklink_analysis.emit.adapters.mem0 import wrap_mem0
from weaklink_analysis.emit.adapters.memledger import wrap_memledger

__all__ = ["item_id", "wrap_langgraph", "wrap_mem0", "wrap_memledger"]
