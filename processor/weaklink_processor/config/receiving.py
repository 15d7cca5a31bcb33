"""Settings of the receiver and of the queue."""

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import ByteSize, Field, FilePath, ValidationInfo, field_validator

from weaklink_processor.config.values import (
    MIB,
    Bytes,
    Count,
    ListenEndpoint,
    Passwords,
    PositiveSeconds,
    Seconds,
    Section,
    Tokens,
    Whole,
)


class Certificate(Section):
    """A certificate and its key, both or none."""

    section: ClassVar[str] = "tls"
    cert_file: FilePath | None = None
    key_file: FilePath | None = None

    @field_validator("key_file")
    @classmethod
    def _both(cls, key: Path | None, info: ValidationInfo) -> Path | None:
        if "cert_file" in info.data and (key is None) != (info.data["cert_file"] is None):
            raise ValueError(f"expected {cls.section}.cert_file and {cls.section}.key_file together")
        return key


class ServerTls(Certificate):
    """How connections to a server are secured; not at all without a certificate."""

    client_ca_file: FilePath | None = None

    @field_validator("client_ca_file")
    @classmethod
    def _secured(cls, authorities: Path | None, info: ValidationInfo) -> Path | None:
        if authorities is not None and info.data.get("cert_file", authorities) is None:
            raise ValueError("expected tls.cert_file and tls.key_file too")
        return authorities


class Grpc(Section):
    """The OTLP/gRPC server."""

    tls: ServerTls = ServerTls()
    endpoint: ListenEndpoint = "127.0.0.1:4317"
    max_recv_msg_size_mib: Annotated[Whole, Field(ge=1, le=2047)] = 64  # gRPC's own limit is a signed 32-bit size


class Http(Section):
    """The OTLP/HTTP server."""

    tls: ServerTls = ServerTls()
    endpoint: ListenEndpoint = "127.0.0.1:4318"
    max_request_body_size: Bytes = ByteSize(64 * MIB)
    read_header_timeout: PositiveSeconds = 10.0
    read_timeout: PositiveSeconds = 60.0
    write_timeout: PositiveSeconds = 30.0
    idle_timeout: PositiveSeconds = 60.0


class Auth(Section):
    """Who may send spans, to either server; everybody while this is empty."""

    tokens: Tokens = ()
    users: Passwords = {}


class RequestLimits(Section):
    """What one request may have; receive/limits.py says what each means."""

    spans: Count = 100_000
    span_attributes: Count = 16_384
    span_events: Count = 16_384
    span_links: Count = 16_384
    items: Count = 2_000_000
    attribute_size: Bytes = ByteSize(4 * MIB)
    depth: Annotated[Whole, Field(ge=10, le=100)] = 100  # an attribute is 6 deep, in JSON 10; protobuf takes 100
    json_elements: Count = 1_000_000


class Receiver(Section):
    """How spans come in."""

    auth: Auth = Auth()
    limits: RequestLimits = RequestLimits()
    grpc: Grpc = Grpc()
    http: Http = Http()


class Queue(Section):
    """The durable queue between receiving and analysing."""

    max_bytes: Bytes = ByteSize(4096 * MIB)
    max_requests: Annotated[Whole, Field(gt=0)] = 10_000_000
    max_pending_bytes: Bytes = ByteSize(128 * MIB)
    max_pending_requests: Annotated[Whole, Field(gt=0)] = 10_000
    max_wait: PositiveSeconds = 4.0
    duplicate_window: Seconds = 60.0
