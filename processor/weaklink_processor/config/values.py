"""Kinds of values of settings: how a user may write them, and what is said of the others."""

import json
import re
from pathlib import Path
from typing import Annotated
from urllib.parse import unquote

from pydantic import AfterValidator, BaseModel, BeforeValidator, ByteSize, ConfigDict, Field

from weaklink_processor.config.telling_faults import shown_name
from weaklink_processor.endpoint import parse_endpoint

_HOST_PORT = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\s:/\[\]@]+):(?P<port>[0-9]{1,5})")
_DURATION = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)(?P<unit>ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_HEADER = re.compile(r"[A-Za-z0-9\-_.]+")
_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")  # RFC 6750
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_MOST_DAYS = 36_500
"""A hundred years: with much more, what is reckoned from now is no date, and no timer waits so long."""
MIB = 1024 * 1024
_PORTS = 65536


def host_port(endpoint: str) -> tuple[str, int]:
    """Split `HOST:PORT`, an IPv6 host in brackets.

    Raises:
        ValueError: for anything else.
    """
    found = _HOST_PORT.fullmatch(endpoint)
    if found is None or int(found["port"]) >= _PORTS:
        raise ValueError("expected HOST:PORT, as 127.0.0.1:4317 or [::1]:4317")
    return found["host"], int(found["port"])


def _remote_endpoint(text: str) -> str:
    parse_endpoint(text)
    return text


def _listen_endpoint(text: str) -> str:
    host_port(text)
    return text


def _no_boolean(value: object) -> object:
    """Refuse what pydantic takes for 1 or 0: of a size that is `true`, one byte would be kept."""
    if isinstance(value, bool):
        raise ValueError("expected a number, which yes, no, true and false are not")  # noqa: TRY004  for pydantic
    return value


def _seconds(value: object) -> object:
    """Read the Collector's way to write a duration; how large a number may be is left to its own validation."""
    if not isinstance(value, str):
        return value
    if found := _DURATION.fullmatch(value):
        return float(found["number"]) * _SECONDS[found["unit"]]
    try:
        return float(value)
    except ValueError as error:
        raise ValueError("expected seconds, or a duration as 500ms, 90s, 15m, 12h or 30d") from error


def _bearable(seconds: float) -> float:
    if seconds > _MOST_DAYS * _SECONDS["d"]:
        raise ValueError(f"expected {_MOST_DAYS}d at most")
    return seconds


def folder(value: object) -> object:
    """Refuse an empty path, and what is none."""
    if value == "" or not isinstance(value, str | Path):
        raise ValueError("expected the path of a folder")
    return value


def _header_pairs(value: object) -> object:
    """Read `name=value,name=value`, percent-encoded as in OTEL_EXPORTER_OTLP_HEADERS."""
    if not isinstance(value, str):
        return value
    pairs = [pair.partition("=") for pair in value.split(",") if pair.strip()]
    if not all(name.strip() and separator for name, separator, _ in pairs):
        raise ValueError("expected name=value,name=value or a mapping of names to values")
    return {unquote(name.strip()): unquote(text.strip()) for name, _, text in pairs}


def _sendable(headers: dict[str, str]) -> dict[str, str]:
    # A header that no library sends would be found out only with the first request.
    for name, text in headers.items():
        if not (_HEADER.fullmatch(name) and text.isascii() and text.isprintable()):
            expected = "expected names of letters, digits and - _ ., and values of ASCII that can be printed"
            raise ValueError(f"{expected}; not so {shown_name(name)!r}")
    return headers


def _tokens(value: object) -> object:
    """Read a list, in a variable as JSON, of bearer tokens; one alone stands for a list of it."""
    listed = from_json(value) if isinstance(value, str) and value.lstrip().startswith("[") else value
    tokens = [listed] if isinstance(listed, str) else listed
    if not isinstance(tokens, list | tuple) or not all(isinstance(t, str) and _TOKEN.fullmatch(t) for t in tokens):
        raise ValueError("expected tokens of letters, digits and - . _ ~ + / =")
    return tokens


def _passwords(users: dict[str, str]) -> dict[str, str]:
    for name, password in users.items():
        if not name or ":" in name or not password:
            raise ValueError(f"expected names without a colon, each with a password; not so {shown_name(name)!r}")
    return users


def _destination_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("expected a name of letters, digits and - _ ., beginning with a letter or a digit")
    return name


def mapping(value: object) -> object:
    """Read a mapping that a variable has as JSON."""
    if not isinstance(value, str):
        return value
    return _json(value, 'expected a mapping, in a variable as JSON: {"name": ...}')


def listed(value: object) -> object:
    """Read a list that a variable has as JSON."""
    return from_json(value) if isinstance(value, str) else value


def from_json(text: str) -> object:
    """What the text means as JSON; ValueError if it means nothing."""
    return _json(text, "expected a list, in a variable as JSON")


def _json(text: str, expected: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_each_once)
    except json.JSONDecodeError as error:
        raise ValueError(expected) from error


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object; of a name that is there twice, one value would be lost without a word."""
    names = [name for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"expected each name once; {twice!r} is there twice")
    return dict(pairs)


Number = Annotated[float, BeforeValidator(_no_boolean), Field(allow_inf_nan=False)]
Whole = Annotated[int, BeforeValidator(_no_boolean)]
ListenEndpoint = Annotated[str, AfterValidator(_listen_endpoint)]
RemoteEndpoint = Annotated[str, AfterValidator(_remote_endpoint)]
Seconds = Annotated[Number, BeforeValidator(_seconds), Field(ge=0), AfterValidator(_bearable)]
PositiveSeconds = Annotated[Number, BeforeValidator(_seconds), Field(gt=0), AfterValidator(_bearable)]
Bytes = Annotated[ByteSize, BeforeValidator(_no_boolean), Field(gt=0)]
Share = Annotated[Number, Field(ge=0, le=1)]
Count = Annotated[Whole, Field(ge=1)]
Tokens = Annotated[tuple[str, ...], BeforeValidator(_tokens), Field(repr=False)]
Passwords = Annotated[dict[str, str], BeforeValidator(mapping), AfterValidator(_passwords), Field(repr=False)]
Headers = Annotated[dict[str, str], BeforeValidator(_header_pairs), AfterValidator(_sendable), Field(repr=False)]
DestinationName = Annotated[str, AfterValidator(_destination_name)]


class Section(BaseModel):
    """A group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)
