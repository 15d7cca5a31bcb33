"""Whether JSON is what the models of Grafana's SDK say: their own reading drops keys silently and looks at no value."""

from collections.abc import Iterator, Sequence
from enum import Enum
from types import NoneType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from grafana_foundation_sdk.cog.plugins import register_default_plugins

NUMBERS: dict[Any, Any] = {int: int, float: (int, float)}

register_default_plugins()  # else a panel's options, and queries for Prometheus, are read as they are


def lost(made: Any, written: Any, path: str = "") -> Sequence[str]:
    """Where what was made differs from what was read of it; what the models add is their default."""
    match made:
        case dict():
            there = written if isinstance(written, dict) else {}
            return [key for name in made for key in lost(made[name], there.get(name), f"{path}.{name}")]
        case list() if isinstance(written, list) and len(written) == len(made):
            return [
                key for at, pair in enumerate(zip(made, written, strict=True)) for key in lost(*pair, f"{path}[{at}]")
            ]
    return [] if made == written else [path]


def unfit(value: Any, model: Any, path: str = "") -> Sequence[str]:
    """Where a value is not what the model declares."""
    if fits(value, model):
        return list(_below(value, model, path))
    return [f"{path}: {value!r} is no {model}"]


def fits(value: Any, model: Any) -> bool:
    """Whether a value is of a type, apart from what it is made of."""
    kind = get_origin(model) or model
    if kind is Union:
        return any(fits(value, one) for one in get_args(model))
    if kind is Literal:
        return value in get_args(model)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return value in [one.value for one in kind]
    if kind in NUMBERS:
        return isinstance(value, NUMBERS[kind]) and not isinstance(value, bool)
    return kind is Any or isinstance(value, kind) or (isinstance(value, dict) and hasattr(kind, "from_json"))


def _below(value: Any, model: Any, path: str) -> Iterator[str]:
    arguments = get_args(model)
    match get_origin(model) or model:
        case origin if origin is Union:
            chosen = [one for one in arguments if one is not NoneType and fits(value, one)]
            found = [unfit(value, one, path) for one in chosen]
            yield from min(found, key=len, default=[])
        case origin if origin is list:
            for at, one in enumerate(value):
                yield from unfit(one, arguments[0], f"{path}[{at}]")
        case kind if hasattr(kind, "from_json"):
            whole = kind.from_json(value) if isinstance(value, dict) else value
            for name, hint in get_type_hints(type(whole)).items():
                yield from unfit(getattr(whole, name), hint, f"{path}.{name}")
