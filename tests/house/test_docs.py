import re
from pathlib import Path

import click
import pytest

from weaklink_processor.cli import COMMANDS, main
from weaklink_processor.config import Config
from weaklink_processor.sources import FLAGS, settings

DOCS = Path(__file__).parents[2] / "docs"
WORDS_FOR_NONE = {"none", "the system's", "by scheme", "by protocol", "half of `queue.max_bytes"}


def documented_settings() -> dict[str, str]:
    rows = re.findall(r"^\| `([a-z_.]+)` \| (.+?) \| .+ \|$", (DOCS / "configuration.md").read_text(), re.MULTILINE)
    return {key: default.strip("`") for key, default in rows}


def default(key: str) -> object:
    value: object = Config()
    for name in key.split("."):
        value = getattr(value, name)
    return value


def commands() -> dict[str, click.Command]:
    context = click.Context(main)
    found = {name: main.get_command(context, name) for name in COMMANDS}
    return {name: command for name, command in found.items() if command is not None and not command.hidden}


def section(name: str) -> str:
    text = (DOCS / "commands.md").read_text()
    shared = text.split("\n## ")[0]
    (own,) = [part for part in text.split("\n## ")[1:] if part.startswith(f"{name}\n")]
    return shared + own


def test_every_setting_is_documented() -> None:
    """docs/configuration.md has a row for each setting, in the order of the models, and for nothing else."""
    assert sorted(documented_settings()) == sorted(settings())


@pytest.mark.parametrize("key", list(settings()))
def test_documented_defaults_are_true(key: str) -> None:
    """Each documented default is the one in force."""
    written, actual = documented_settings()[key], default(key)
    shown = str(actual).lower() if isinstance(actual, bool) else str(actual)
    if isinstance(actual, tuple):  # rubrics
        shown = ", ".join(rubric.name for rubric in actual)
    assert written == shown if actual not in (None, {}, ()) else written in WORDS_FOR_NONE


def test_flags_are_documented_beside_their_settings() -> None:
    """A setting that has a flag says so in its row."""
    rows = (DOCS / "configuration.md").read_text().splitlines()
    for flag, key in FLAGS.items():
        (row,) = [row for row in rows if row.startswith(f"| `{key}` |")]
        assert f"Flag `{flag}`." in row


def test_every_command_is_documented() -> None:
    """docs/commands.md has a section for each visible command, and for nothing else."""
    headings = re.findall(r"^## (\w+)$", (DOCS / "commands.md").read_text(), re.MULTILINE)
    assert headings == list(commands())


@pytest.mark.parametrize(("name", "command"), commands().items())
def test_every_option_is_documented(name: str, command: click.Command) -> None:
    """A command's options are in its usage line and explained in a table, and no other option is."""
    text = section(name)
    options = {name for parameter in command.params if isinstance(parameter, click.Option) for name in parameter.opts}
    (usage,) = re.findall(rf"^    weaklink {name}\b.*$", text, re.MULTILINE)
    assert set(re.findall(r"--[a-z-]+", usage)) == options
    assert set(re.findall(r"^\| `(--[a-z-]+)", text, re.MULTILINE)) == options


@pytest.mark.parametrize(("name", "command"), commands().items())
def test_every_choice_is_documented(name: str, command: click.Command) -> None:
    """Each value that an option may have is named in the command's section."""
    choices = [
        choice
        for parameter in command.params
        if isinstance(parameter.type, click.Choice)
        for choice in parameter.type.choices
    ]
    assert [choice for choice in choices if f"`{choice}`" not in section(name)] == []
