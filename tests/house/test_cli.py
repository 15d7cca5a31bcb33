import sys
from pathlib import Path

import click
import pytest

from shell import printed, refused, started
from weaklink_processor.cli import COMMANDS, main
from weaklink_processor.sources import load_config


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    """--help works for each command, hidden ones too."""
    done = started(command, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().startswith(f"Usage: python -m weaklink_processor {command}")


def test_help_lists_what_users_call() -> None:
    """The list of commands holds no child processes."""
    shown = printed("--help")
    assert "serve" in shown
    assert "receiver" not in shown
    assert "analyst" not in shown


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["serve", "--nonsense"], "No such option"),
        (["chain"], "Missing argument 'MEMORY_ID'"),
        (["replay"], "Missing argument 'FILE...'"),
        (["sql", "SELECT 1", "--format", "xml"], "'xml' is not one of"),
        (["serve", "--grpc", "nowhere"], "--grpc: 'nowhere': expected HOST:PORT"),
        (["serve", "--config", "none.yaml"], "none.yaml"),
        (["receiver"], "a part of `weaklink serve`"),
        (["analyst"], "a part of `weaklink serve`"),
    ],
)
def test_wrong_use_is_exit_code_2(tmp_path: Path, arguments: list[str], expected: str) -> None:
    """Wrong use is told on standard error, without a traceback, and changes nothing."""
    assert expected in refused(*arguments, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("arguments", "given"), [([], None), (["--enrich"], True)])
def test_a_switch_is_on_or_not_given(arguments: list[str], given: object) -> None:
    """Left out, it leaves the setting to the environment and the file."""
    command = main.get_command(click.Context(main), "serve")
    assert command is not None
    assert command.make_context("serve", arguments).params["forward_enrich"] is given
    assert load_config(None, {}, {"--enrich": given}).forward.enrich is bool(given)


def test_the_installed_program_is_the_same() -> None:
    """`weaklink` is on the path of the environment that it is installed in."""
    assert Path(sys.executable).with_name("weaklink").exists()
    assert started("--version").stdout.startswith(b"python -m weaklink_processor, version")
