"""The child process that analyses what was received."""

import click

from weaklink_processor import wiring
from weaklink_processor.commands.child import run_child


@click.command(hidden=True)
def analyst() -> None:
    """Analyse what was received. Started by serve."""
    run_child("analyst", wiring.run_analyst)
