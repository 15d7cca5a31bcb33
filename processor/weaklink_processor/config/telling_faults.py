"""What a message about a fault may say of the settings around it."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel

_PLAIN = re.compile(r"[A-Za-z0-9\-_.@]*")


def shown_name(name: object) -> str:
    """Return the name of a header or a user as far as it is one: with a slip in its place, a secret may follow."""
    text = str(name)
    plain = _PLAIN.match(text)
    return text if plain is None or plain[0] == text else f"{plain[0]}..."


def names_beside(model: type[BaseModel], loc: Sequence[int | str]) -> list[str]:
    """Return the settings that there are where the last part of a place was looked for."""
    parts: Iterator[int | str] = iter(loc[:-1])
    for part in parts:
        field = model.model_fields.get(str(part))
        inside = _model_in(field.annotation) if field else None
        if field is None or inside is None:
            break
        model = inside
        if field.annotation is not inside:  # a mapping or a list of them: the next part is a name or a number
            next(parts, None)
    return list(model.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
