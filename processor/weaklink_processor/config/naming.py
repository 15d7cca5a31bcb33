"""Settings of conventions of one's own: how spans of another framework name memory operations."""

import re
from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, model_validator

from weaklink_processor.config.values import Section, listed

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("expected a name of small letters, digits and - _ ., beginning with a letter or a digit")
    return text


class OwnConvention(Section):
    """Which spans it may know, what it reads of them, and the query that makes operations of that."""

    name: Annotated[str, AfterValidator(_name)]
    names: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    event_reads: tuple[str, ...] = ()
    link_reads: tuple[str, ...] = ()
    sql: str | None = None
    file: Annotated[Path, AfterValidator(Path.expanduser)] | None = None

    @model_validator(mode="after")
    def _says_enough(self) -> Self:
        if not (self.names or self.reads or self.events):
            raise ValueError("expected names, reads or events: without them no span would be looked at")
        if self.only and not self.reads:
            raise ValueError("expected reads beside only: its values are those of the first attribute read")
        if (self.sql is None) == (self.file is None):
            raise ValueError("expected either sql or file")
        return self


OwnConventions = Annotated[tuple[OwnConvention, ...], BeforeValidator(listed)]
