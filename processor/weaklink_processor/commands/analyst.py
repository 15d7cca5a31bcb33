"""The child process that analyses what was received."""

import os
from contextlib import suppress

import click

from weaklink_processor import wiring
from weaklink_processor.commands.child import run_child

NICENESS = 10
"""More than that of the service, up to 19: analysis can wait a moment, while who sends or asks waits for an answer."""


@click.command(hidden=True)
def analyst() -> None:
    """Analyse what was received. Started by serve."""
    with suppress(OSError):  # where the system allows none, all are alike
        os.nice(NICENESS)
    run_child("analyst", wiring.run_analyst)
