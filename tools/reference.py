"""Make the tables of docs/ that the code knows again: commands, settings, findings, conventions.

    python tools/reference.py

Add a command, an option, a setting, a finding or a convention, run it, and say in words what it means where it put `?`.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
from pydantic import BaseModel

from tables import Rows, Table
from weaklink_analysis.conventions import CONVENTIONS
from weaklink_analysis.conventions.convention import Convention
from weaklink_analysis.models import environment
from weaklink_analysis.scoring import SCORING
from weaklink_processor.cli import COMMANDS, main
from weaklink_processor.config import Config
from weaklink_processor.sources import FLAGS

DOCS = Path(__file__).parents[1] / "docs"
TO_SAY = "?"
"""Stands where somebody has to say what a row means."""

_OF_ALL_COMMANDS = ("--config", "--data-dir")
_NO_DEFAULT = {
    "forward.spans": "by protocol",
    "forward.tls.insecure": "by scheme",
    "forward.tls.ca_file": "the system's",
    "forward.sending_queue.max_bytes": "half of `queue.max_bytes`",
}
"""What holds where a setting is left out, if that is not nothing."""


def commands() -> dict[str, click.Command]:
    """The commands that a user may call, by name."""
    found = {name: main.get_command(click.Context(main), name) for name in COMMANDS}
    return {name: command for name, command in found.items() if command and not command.hidden}


def usage(name: str, command: click.Command) -> str:
    """How a command is called: what it takes, then each option, those of all commands first."""
    arguments = [parameter for parameter in command.params if not isinstance(parameter, click.Option)]
    shared = [parameter for parameter in command.params if parameter.opts[0] in _OF_ALL_COMMANDS]
    return " ".join(["weaklink", name, *map(_bracketed, [*arguments, *shared, *_own_options(command)])])


def pages() -> dict[Path, str]:
    """The pages that have tables of the code, as they should be."""
    texts: dict[Path, str] = {}
    for table in tables():
        path = DOCS / table.page
        texts[path] = table.made_in(texts.get(path) or path.read_text("utf-8"))
    path = DOCS / "commands.md"
    for name, command in commands().items():
        texts[path] = re.sub(
            rf"^    weaklink {name}\b.*$", f"    {usage(name, command)}", texts[path], flags=re.MULTILINE
        )
    return texts


def tables() -> Iterator[Table]:
    """Every table that is made from the code."""
    for name, command in commands().items():
        if _own_options(command):
            yield Table("commands.md", "| option | meaning |", partial(_options, command), name)
    yield Table("configuration.md", "| key | default | meaning |", _settings)
    yield Table("findings.md", "| code | severity | what it means | what causes it | what to do |", _codes)
    yield Table("findings.md", "| code | keys |", _details)
    yield Table("conventions.md", "| convention | knows a span by | and reads |", _conventions)


def _own_options(command: click.Command) -> list[click.Option]:
    options = (parameter for parameter in command.params if isinstance(parameter, click.Option))
    return [option for option in options if option.opts[0] not in _OF_ALL_COMMANDS]


def _options(command: click.Command, old: Rows) -> Iterator[list[str]]:
    for option in _own_options(command):
        shown = f"`{_shown(option)}`"
        yield old.get(shown, [shown, option.help or TO_SAY])


def _bracketed(parameter: click.Parameter) -> str:
    shown = _shown(parameter)
    optional = not (parameter.required or shown.startswith("["))
    return f"{f'[{shown}]' if optional else shown}{'...' if parameter.multiple else ''}"


def _shown(parameter: click.Parameter) -> str:
    metavar = parameter.metavar or str(parameter.name).upper() + "..." * (parameter.nargs == -1)
    if not isinstance(parameter, click.Option):
        return metavar
    name = "/".join([parameter.opts[0], *parameter.secondary_opts])
    return name if parameter.is_flag else f"{name} {metavar}"


def _settings(old: Rows) -> Iterator[list[str]]:
    flags = {key: f" Flag `{flag}`." for flag, key in FLAGS.items()}
    for key, value in _defaults(Config()):
        *_, said = old.get(f"`{key}`", [TO_SAY])
        yield [f"`{key}`", _default(key, value), said.removesuffix(flags.get(key, "")) + flags.get(key, "")]


def _defaults(section: BaseModel, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Each setting with its default: those of a section itself before those of the sections in it."""
    values = {name: getattr(section, name) for name in type(section).model_fields}
    yield from ((prefix + name, value) for name, value in values.items() if not isinstance(value, BaseModel))
    for name, value in values.items():
        if isinstance(value, BaseModel):
            yield from _defaults(value, f"{prefix}{name}.")


def _default(key: str, value: object) -> str:
    if value in (None, {}, ()):
        return _NO_DEFAULT.get(key, "none")
    if isinstance(value, tuple):
        return f"`{', '.join(one.name for one in value)}`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def findings() -> dict[str, tuple[str, list[str]]]:
    """Severity of each code, and the keys of its detail; errors first."""
    context = {"rounded": lambda column: column, "scoring": SCORING}
    module = environment("views", "sql").get_template("finding_codes.jinja").make_module(context)
    found = {
        code: (finding["severity"], [*finding["detail"]])
        for codes in module.finding_codes.values()  # type: ignore[attr-defined]  # the template sets it
        for code, finding in codes.items()
    }
    rank = ("error", "warning", "info")
    return dict(sorted(found.items(), key=lambda item: (rank.index(item[1][0]), item[0])))


def _codes(old: Rows) -> Iterator[list[str]]:
    for code, (severity, _) in findings().items():
        yield [f"`{code}`", severity, *old.get(f"`{code}`", [TO_SAY] * 5)[2:]]


def _details(old: Rows) -> Iterator[list[str]]:
    for code, (_, keys) in sorted(findings().items()):
        said = dict(re.findall(r"(\w+)( \([^)]*\))?", old.get(f"`{code}`", [""])[-1]))
        yield [f"`{code}`", ", ".join(key + said.get(key, "") for key in keys)]


def _conventions(_: Rows) -> Iterator[list[str]]:
    for convention in CONVENTIONS:
        yield [f"`{convention.name}`", "; ".join(_known_by(convention)), _listed(_read(convention))]


def _known_by(convention: Convention) -> Iterator[str]:
    if convention.names:
        yield f"its name: {_listed(convention.names)}"
    if convention.events:
        yield f"an event: {_listed(convention.events)}"
    if convention.only:
        yield f"`{convention.reads[0]}`: {_listed(convention.only)}"
    elif convention.reads:
        yield f"any of these attributes: {_listed(convention.reads)}"


def _read(convention: Convention) -> list[str]:
    known = () if convention.only else convention.reads
    rest = [key for key in convention.attributes if key not in known and key not in convention.reads[:1]]
    return [*rest, *(f"{prefix}N.*" for prefix in convention.prefixes), *convention.event_reads, *convention.link_reads]


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, "utf-8")
