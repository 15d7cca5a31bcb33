"""The child process that takes spans."""

import click

from weaklink_processor import wiring
from weaklink_processor.commands.child import run_child


@click.command(hidden=True)
def receiver() -> None:
    """Take spans. Started by serve."""
    run_child("receiver", wiring.run_receiver)
