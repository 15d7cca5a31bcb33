"""The one memory that a command is about: its arguments, and what is said where they mean none or several."""

from collections.abc import Callable
from shlex import quote
from typing import Any

import click
import duckdb

from weaklink_processor.commands.ancestry import Key, find_memories, near_ids
from weaklink_processor.commands.chain_tree import printable
from weaklink_processor.errors import UsageError


def of_one_memory(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command `memory_id`, `environment` and `store`."""
    for give in (
        click.option("--store", metavar="NAME", help="Only the memory of this store."),
        click.option("--environment", metavar="NAME", help="Only the memory of this environment."),
        click.argument("memory_id"),
    ):
        command = give(command)
    return command


def only(catalogue: duckdb.DuckDBPyConnection, memory_id: str, environment: str | None, store: str | None) -> Key:
    """Return the newest version of the one memory that is meant.

    Raises:
        UsageError: there is none, and where it is instead, or which ids are near; or there are several, and which.
    """
    match find_memories(catalogue, memory_id, environment, store):
        case [one]:
            return one
        case []:
            name = printable(memory_id)
            if elsewhere := find_memories(catalogue, memory_id, None, None):
                raise UsageError("\n".join([f"no memory {name} there; it is in:", *_options(elsewhere)]))
            near = ", ".join(map(printable, near_ids(catalogue, memory_id)))
            hint = f"; near ones: {near}" if near else ""
            raise UsageError(f"no memory {name} here{hint}")
        case several:
            told = f"{printable(memory_id)} means {len(several)} memories; pick one:"
            raise UsageError("\n".join([told, *_options(several)]))


def _options(memories: list[Key]) -> list[str]:
    """What to add to mean each of them."""
    return [
        f"  --environment {quote(printable(key.environment))} --store {quote(printable(key.store))}" for key in memories
    ]
