"""What a memory was derived from, and where its weakest link is."""

import sys

import click
import duckdb
from rich.console import Console
from rich.markup import escape

from weaklink_processor import wiring
from weaklink_processor.commands.ancestry import Ancestry, load_ancestry
from weaklink_processor.commands.chain_tree import tree, weakest_link
from weaklink_processor.commands.one_memory import of_one_memory, only
from weaklink_processor.commands.options import with_config
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError

_UNBOUNDED = 10_000  # columns of text, where no terminal sets a limit


@click.command()
@of_one_memory
@with_config("--data-dir")
def chain(config: Config, memory_id: str, environment: str | None, store: str | None) -> None:
    """Show a memory's newest version and everything it was derived from."""
    with wiring.open_catalogue(config) as catalogue:
        try:
            ancestry = load_ancestry(catalogue, only(catalogue, memory_id, environment, store))
        except duckdb.Error as error:
            raise UsageError(str(error)) from error
    _print(ancestry)


def _print(ancestry: Ancestry) -> None:
    console = Console(width=None if sys.stdout.isatty() else _UNBOUNDED, highlight=False)
    console.print(tree(ancestry))
    console.print(escape(weakest_link(ancestry)))
