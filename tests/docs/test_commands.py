"""Commands that pages name but that no test runs: they must at least be there, and be called as they are defined."""

import re
import shlex
from collections.abc import Callable

import click
import pytest

from docs.conftest import Desk
from docs.pages import PAGES, ROOT, Block, blocks
from weaklink_processor.cli import main

INLINE = re.compile(r"(?<!`)`(weaklink [a-z][^`\n]*)`")


def lines(block: Block) -> list[str]:
    return [line for line in block.text.splitlines() if line.strip()]


SHELL = [
    pytest.param(line, id=f"{block.page}: {line}")
    for block in blocks("sh")
    if not block.prints
    for line in lines(block)
]
MENTIONED = sorted({(page, found) for page, text in PAGES.items() for found in INLINE.findall(text)})


def parsed(arguments: list[str]) -> click.Context:
    """Parse as weaklink would; click raises for what it does not know."""
    name, *rest = arguments
    command = main.get_command(click.Context(main), name)
    assert command is not None, f"no command {name}"
    return command.make_context(name, rest)


def weaklink(arguments: list[str], desk: Desk) -> None:
    given = parsed(arguments).params
    if given.get("statement"):
        desk.service.query(given["statement"], {value.name: value.text for value in given["parameters"]})


def make(arguments: list[str], _desk: Desk) -> None:
    target, *settings = arguments
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert all(setting.startswith("ARGS=") for setting in settings)


def file_first(arguments: list[str], _desk: Desk) -> None:
    assert (ROOT / arguments[0]).exists()


def configured(arguments: list[str], _desk: Desk) -> None:
    assert (ROOT / arguments[arguments.index("--config") + 1]).is_file()


def docker(arguments: list[str], desk: Desk) -> None:
    assert (ROOT / arguments[arguments.index("-f") + 1]).is_file()
    if "exec" in arguments:
        weaklink(arguments[arguments.index("exec") + 3 :], desk)


def export(arguments: list[str], _desk: Desk) -> None:
    name = arguments[0].partition("=")[0]
    assert name == "OTEL_EXPORTER_OTLP_ENDPOINT" or f"${{env:{name}:-" in (ROOT / "otel-config.yaml").read_text()


PROGRAMS: dict[str, Callable[[list[str], Desk], None]] = {
    "weaklink": weaklink,
    ".venv/bin/weaklink": weaklink,
    ".venv/bin/python": file_first,
    ".venv/bin/pytest": file_first,
    "make": make,
    "docker": docker,
    "otelcol-contrib": configured,
    "export": export,
}


@pytest.mark.parametrize("line", SHELL)
def test_shell_lines_call_what_is_there(line: str, told: Desk) -> None:
    """Each line calls a known program, with arguments that it takes and files that exist; each query runs."""
    words = shlex.split(line, comments=True)
    while "=" in words[0]:
        words.pop(0)
    PROGRAMS[words[0]](words[1:], told)


@pytest.mark.parametrize(("page", "command"), MENTIONED)
def test_commands_in_the_text_are_commands(page: str, command: str) -> None:
    """A `weaklink ...` amid a sentence names a command, and options that it has."""
    name, *rest = shlex.split(command)[1:]
    found = main.get_command(click.Context(main), name)
    assert found is not None, page
    options = {option for parameter in found.params for option in parameter.opts}
    assert {word for word in rest if word.startswith("--")} <= options, page
