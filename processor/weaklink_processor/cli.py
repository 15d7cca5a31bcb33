"""The command line: arguments to a command, and errors to a message and exit code 2."""

import importlib
import os
import signal
import sys
from io import TextIOWrapper
from typing import Any, cast

import click

from weaklink_processor.commands.interrupts import INTERRUPTED, stopped_a_query
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

    def main(self, *arguments: Any, **options: Any) -> Any:
        # Half of the time that importing numpy takes is spent on threads, one a core, for algebra that nobody asks for.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        for stream, errors in (sys.stdin, "strict"), (sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace"):
            if isinstance(stream, TextIOWrapper):  # of whatever encoding: what it has no letter for is no failure
                stream.reconfigure(errors=errors)
        return super().main(*arguments, **options)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        for argument in args:
            if not _is_text(argument):
                raise click.UsageError(f"{os.fsencode(argument)!r}: expected an argument in UTF-8", ctx)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Imports the command. There a library may lose a KeyboardInterrupt, or make an error of its own of it."""
        serves = args[:1] == ["serve"]  # which Ctrl-C ends as it should, also before it hears of it by itself
        raising = signal.getsignal(signal.SIGINT)
        if raising is signal.default_int_handler:
            signal.signal(signal.SIGINT, lambda *_: os._exit(0 if serves else INTERRUPTED))
        try:
            return super().resolve_command(ctx, args)
        finally:
            if not serves:
                signal.signal(signal.SIGINT, raising)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except WeaklinkError as error:
            raise _Failure(str(error)) from error
        except BrokenPipeError:
            raise  # who read the output has gone: click ends in silence
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename}: "
            raise _Failure(f"{where}{error.strerror or error}") from error
        except (KeyboardInterrupt, RuntimeError) as error:
            if isinstance(error, RuntimeError) and not stopped_a_query(error):
                raise
            click.echo("Aborted!", err=True)
            ctx.exit(INTERRUPTED)


def _is_text(argument: str) -> bool:
    """Python has surrogates for bytes that are not of the locale's encoding."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


@click.group(cls=_Weaklink)
@click.version_option(package_name="weaklink")
def main() -> None:
    """Find the weakest link in what an agent remembered."""
