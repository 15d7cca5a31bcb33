"""Settings of where data is sent on to."""

from typing import Annotated, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, ByteSize, Field, FilePath, ValidationInfo, field_validator

from weaklink_processor.config.receiving import Certificate
from weaklink_processor.config.values import (
    Bytes,
    DestinationName,
    Headers,
    Number,
    PositiveSeconds,
    Seconds,
    Section,
    mapping,
)
from weaklink_processor.endpoint import Protocol, parse_endpoint


class Tls(Certificate):
    """How a connection to a destination is secured."""

    section: ClassVar[str] = "forward.tls"
    insecure: bool | None = None
    ca_file: FilePath | None = None


class Retry(Section):
    """Exponential backoff towards a destination."""

    initial_interval: PositiveSeconds = 5.0
    max_interval: PositiveSeconds = 30.0
    multiplier: Annotated[Number, Field(ge=1)] = 1.5
    max_elapsed_time: Seconds = 0.0


class SendingQueue(Section):
    """What happens while a destination takes less than there is for it."""

    on_full: Literal["block", "drop_oldest"] = "block"
    max_bytes: Bytes | None = None

    @field_validator("max_bytes")
    @classmethod
    def _counts(cls, size: ByteSize | None, info: ValidationInfo) -> ByteSize | None:
        if size is not None and info.data.get("on_full") == "block":
            raise ValueError("expected on_full: drop_oldest with it; what blocks is bounded by queue.max_bytes")
        return size


_NOT_FOR_PHOENIX = {
    "compression": ("gzip", "none"),
    "spans": (True, "false, or nothing,"),
    "evaluations": (False, "true"),
    "enrich": (True, "false"),
}
"""Setting -> what makes no sense, and what does."""

_HERE = {"localhost", "127.0.0.1", "::1"}


class Forwarding(Section):
    """What goes to a destination, and how."""

    tls: Tls = Tls()
    protocol: Protocol = "grpc"
    endpoint: str | None = None
    headers: Headers = {}
    timeout: PositiveSeconds = 10.0
    compression: Literal["none", "gzip"] = "none"
    spans: bool | None = None
    evaluations: bool = True
    enrich: bool = False
    sessions: bool = False
    retry_on_failure: Retry = Retry()
    sending_queue: SendingQueue = SendingQueue()

    @field_validator("endpoint")
    @classmethod
    def _agrees(cls, endpoint: str | None, info: ValidationInfo) -> str | None:
        if endpoint is None:
            return None
        parse_endpoint(endpoint, info.data.get("protocol", "grpc"))
        insecure = info.data["tls"].insecure if "tls" in info.data else None
        if insecure is not None and insecure == {"http": False, "https": True}.get(endpoint.partition("://")[0]):
            raise ValueError(f"expected a scheme that agrees with forward.tls.insecure, which is {insecure}")
        return endpoint

    @field_validator(*_NOT_FOR_PHOENIX)
    @classmethod
    def _makes_sense(cls, value: object, info: ValidationInfo) -> object:
        senseless, expected = _NOT_FOR_PHOENIX[str(info.field_name)]
        if info.data.get("protocol") == "phoenix" and value == senseless:
            raise ValueError(f"expected {expected} with protocol: phoenix, which takes evaluations alone")
        return value

    @property
    def takes_spans(self) -> bool:
        """Whether original spans are sent."""
        return self.protocol != "phoenix" and self.spans is not False

    @property
    def host(self) -> str:
        """Where the endpoint is, one name for this machine; empty without an endpoint."""
        host = urlsplit(self.url).hostname or ""
        return "localhost" if host in _HERE else host

    @property
    def url(self) -> str:
        """The endpoint with its scheme: https:// where TLS is to be used, else http://; empty without an endpoint."""
        if not self.endpoint or "://" in self.endpoint:
            return self.endpoint or ""
        return f"{'https' if self.tls.insecure is False else 'http'}://{self.endpoint}"


class Destination(Forwarding):
    """One of several destinations."""

    endpoint: str


Destinations = Annotated[dict[DestinationName, Destination], BeforeValidator(mapping)]


class Forward(Forwarding):
    """Where original spans and evaluations go: to the endpoint, and to each of the destinations."""

    destinations: Destinations = {}

    @property
    def all(self) -> dict[str, Forwarding]:
        """Every destination by its name, which is the URL for the one that has no name."""
        unnamed: dict[str, Forwarding] = {self.url: self} if self.endpoint else {}
        return unnamed | self.destinations

    @property
    def idle(self) -> list[str]:
        """What is set and does nothing, for it is said of `forward.endpoint` and there is none."""
        if self.endpoint:
            return []
        own = Forwarding()
        return [f"forward.{name}" for name in Forwarding.model_fields if getattr(self, name) != getattr(own, name)]
