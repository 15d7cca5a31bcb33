"""What a memory was derived from, and where its weakest link is."""

import sys
from shlex import quote

import click
import duckdb
from rich.console import Console
from rich.markup import escape

from weaklink_processor import wiring
from weaklink_processor.commands.ancestry import Ancestry, Key, find_memories, load_ancestry, near_ids
from weaklink_processor.commands.chain_tree import printable, tree, weakest_link
from weaklink_processor.commands.options import with_config
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError

_UNBOUNDED = 10_000  # columns of text, where no terminal sets a limit


@click.command()
@click.argument("memory_id")
@with_config("--data-dir")
@click.option("--environment", metavar="NAME", help="Only the memory of this environment.")
@click.option("--store", metavar="NAME", help="Only the memory of this store.")
def chain(config: Config, memory_id: str, environment: str | None, store: str | None) -> None:
    """Show a memory's newest version and everything it was derived from."""
    with wiring.open_catalogue(config) as catalogue:
        try:
            ancestry = load_ancestry(catalogue, _only(catalogue, memory_id, environment, store))
        except duckdb.Error as error:
            raise UsageError(str(error)) from error
    _print(ancestry)


def _only(catalogue: duckdb.DuckDBPyConnection, memory_id: str, environment: str | None, store: str | None) -> Key:
    """Return the newest version of the one memory that is meant.

    Raises:
        UsageError: there is none, and which ids are near; or there are several, and which.
    """
    match find_memories(catalogue, memory_id, environment, store):
        case [one]:
            return one
        case []:
            near = ", ".join(map(printable, near_ids(catalogue, memory_id)))
            hint = f"; near ones: {near}" if near else ""
            raise UsageError(f"no memory {printable(memory_id)} here{hint}")
        case several:
            choices = [
                f"  --environment {quote(printable(key.environment))} --store {quote(printable(key.store))}"
                for key in several
            ]
            raise UsageError("\n".join([f"{printable(memory_id)} means {len(several)} memories; pick one:", *choices]))


def _print(ancestry: Ancestry) -> None:
    console = Console(width=None if sys.stdout.isatty() else _UNBOUNDED, highlight=False)
    console.print(tree(ancestry))
    console.print(escape(weakest_link(ancestry)))
