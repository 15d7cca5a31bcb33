"""The command line: arguments to a command, and errors to a message and exit code 2."""

import importlib
from typing import Any, cast

import click

from weaklink_processor.errors import WeaklinkError

COMMANDS = ("serve", "replay", "sql", "chain", "impact", "doctor", "gate", "status", "compact", "receiver", "analyst")
"""Each is the function of that name in the module of that name in commands/, imported when it is called for."""


class _Failure(click.ClickException):
    exit_code = 2


class _Weaklink(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"weaklink_processor.commands.{cmd_name}")
        return cast("click.Command", getattr(module, cmd_name))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except WeaklinkError as error:
            raise _Failure(str(error)) from error


@click.group(cls=_Weaklink)
@click.version_option(package_name="weaklink")
def main() -> None:
    """Find the weakest link in what an agent remembered."""
