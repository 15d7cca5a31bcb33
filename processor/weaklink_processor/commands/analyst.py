"""The child process that analyses what was received."""

import os

import click

from weaklink_processor import wiring
from weaklink_processor.commands.child import run_child

NICENESS = 10
"""Of 19: analysis can wait a moment, while whoever receives, and whoever asks the tables, waits for an answer."""


@click.command(hidden=True)
def analyst() -> None:
    """Analyse what was received. Started by serve."""
    os.nice(NICENESS)
    run_child("analyst", wiring.run_analyst)
