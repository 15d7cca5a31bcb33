"""Where settings come from: defaults < weaklink.yaml < environment < flags; every fault of all of them at once."""

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from weaklink_processor.config import Config
from weaklink_processor.config.telling_faults import names_beside, shown_name
from weaklink_processor.errors import UsageError

DEFAULT_FILE = Path("weaklink.yaml")
ENV_PREFIX = "WEAKLINK_"
FLAGS = {
    "--data-dir": "data_dir",
    "--grpc": "receiver.grpc.endpoint",
    "--http": "receiver.http.endpoint",
    "--forward": "forward.endpoint",
    "--enrich": "forward.enrich",
}
"""The flags that are settings, by the setting's key."""

_NAMED = {"headers", "users"}  # the names in these are told, the values never
_SECRETS = ("header", "auth", "destinations")  # keys so named hold credentials: their values are never shown
_EXPECTED = {
    "extra_forbidden": "no such setting",
    "missing": "is missing",
    "model_type": "expected a section of settings",
    "path_not_file": "expected the path of a file that exists",
    "path_type": "expected the path of a file that exists",
    "string_type": "expected a valid string, in quotes if it is a number",
    "byte_size": "expected bytes, as 67108864 or 64MiB",
    "byte_size_unit": "expected bytes, as 67108864 or 64MiB",
}


@dataclass(frozen=True, slots=True)
class _Given:
    value: object
    name: str  # as written in its source


@dataclass(slots=True)
class _Gathered:
    """Settings by key, the later source winning, and what was wrong on the way."""

    given: dict[str, _Given] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def fault(self, name: str, value: object, problem: str) -> None:
        self.faults.append(f"{name}: {_shown(name, value)}: {problem}")


def settings(model: type[BaseModel] = Config, prefix: str = "") -> Iterator[str]:
    """Yield the dotted key of every setting, in the order of the models."""
    for name, info in model.model_fields.items():
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from settings(info.annotation, f"{prefix}{name}.")
        else:
            yield prefix + name


def env_name(key: str) -> str:
    """Return the environment variable of a setting: receiver.grpc.endpoint is WEAKLINK_RECEIVER__GRPC__ENDPOINT."""
    return ENV_PREFIX + key.upper().replace(".", "__")


def load_config(file: Path | None, environ: Mapping[str, str], flags: Mapping[str, object]) -> Config:
    """Return the settings in force; a flag that is None was not given.

    Raises:
        UsageError: one line a fault, each with the name as its source writes it, the value and what is expected.
    """
    gathered = _Gathered()
    path = file or (DEFAULT_FILE if DEFAULT_FILE.exists() else None)
    if path is not None:
        _from_file(path, gathered)
    _from_environment(environ, gathered)
    gathered.given.update(
        {FLAGS[flag]: _Given(value, flag) for flag, value in flags.items() if value is not None},
    )
    return _validated(gathered)


def _from_file(path: Path, gathered: _Gathered) -> None:
    from yaml import YAMLError  # noqa: PLC0415  mostly there is no file

    from weaklink_processor.yaml_file import read_yaml  # noqa: PLC0415  likewise

    try:
        with path.open(encoding="utf-8") as file:
            content, repeated = read_yaml(file)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; expected a file of settings") from error
    except (UnicodeDecodeError, YAMLError) as error:
        raise UsageError(f"{path}: {error}") from error
    for one in repeated:
        gathered.faults.append(f"{path}: {one.key}: lines {one.first} and {one.again}: expected once in its section")
    _walk(content, "", str(path), set(settings()), gathered)


def _walk(content: object, prefix: str, path: str, known: set[str], gathered: _Gathered) -> None:
    """Take the settings out of one section; null is a section or setting left at its defaults."""
    if not isinstance(content, Mapping):
        if content is not None:
            section = prefix.removesuffix(".") or "the whole"
            gathered.fault(f"{path}: {section}", content, "expected a section of settings")
        return
    for name, value in content.items():
        key = f"{prefix}{name}"
        if key in known:
            if value is None:
                continue
            if key in gathered.given:  # receiver.auth.tokens, say, in one piece and in sections
                gathered.fault(f"{path}: {key}", value, "expected once, and it is there in two ways")
            gathered.given[key] = _Given(value, f"{path}: {key}")
        elif any(setting.startswith(f"{key}.") for setting in known):
            _walk(value, f"{key}.", path, known, gathered)
        else:
            sections = {setting[:end] for setting in known for end, char in enumerate(setting) if char == "."}
            gathered.fault(f"{path}: {key}", value, _unknown(key, known | sections))


def _from_environment(environ: Mapping[str, str], gathered: _Gathered) -> None:
    """Take the WEAKLINK_ variables; an empty one counts as unset, as OpenTelemetry has it."""
    known = {env_name(key): key for key in settings()}
    for name in sorted(environ):
        if not name.startswith(ENV_PREFIX) or not environ[name]:
            continue
        if name in known:
            gathered.given[known[name]] = _Given(environ[name], name)
        else:
            gathered.fault(name, environ[name], _unknown(name, known))


def _unknown(name: str, known: Iterable[str]) -> str:
    nearest = difflib.get_close_matches(name, list(known), n=1)
    return f"no such setting; did you mean {nearest[0]}?" if nearest else "no such setting"


def _validated(gathered: _Gathered) -> Config:
    try:
        config = Config.model_validate(_nested(gathered.given))
    except ValidationError as error:
        gathered.faults.extend(_explained(error, gathered.given))
    if gathered.faults:
        raise UsageError("\n".join(gathered.faults))
    return config


def _nested(given: Mapping[str, _Given]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, setting in given.items():
        *sections, name = key.split(".")
        branch = tree
        for section in sections:
            branch = branch.setdefault(section, {})
        branch[name] = setting.value
    return tree


def _explained(error: ValidationError, given: Mapping[str, _Given]) -> Iterator[str]:
    for fault in error.errors(include_url=False):
        path = ".".join(str(part) for part in fault["loc"])
        key = next(key for key in settings() if f"{path}.".startswith(f"{key}."))
        source = given.get(key, _Given(fault["input"], f"{key} (default)"))
        expected = _EXPECTED.get(fault["type"], fault["msg"]).removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            expected = _unknown(str(fault["loc"][-1]), names_beside(Config, fault["loc"]))
        entry = _entry(key, fault["loc"])
        value = fault["input"] if entry else source.value
        yield f"{source.name}{entry}: {_shown(key, value)}: {expected.replace('Input should be', 'expected')}"


def _entry(key: str, loc: Sequence[int | str]) -> str:
    """Return which entry of a mapping is at fault, as far as that can be told without a secret."""
    *sections, last = key.split(".")
    inside = [part for part in loc[len(sections) + 1 :] if part != "[key]"]
    above = (last, *inside)
    named = [shown_name(part) if of in _NAMED else str(part) for of, part in zip(above, inside, strict=False)]
    return "".join(f".{part}" for part in named)


def _shown(name: str, value: object) -> str:
    return "(not shown)" if _secret(name) else repr(value)


def _secret(name: str) -> bool:
    return any(secret in name.lower() for secret in _SECRETS)
