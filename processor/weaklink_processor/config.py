"""What can be set, and to what: frozen, validated, the same in every process. Where settings come from is sources.py.

Names follow the OpenTelemetry Collector's where it has one. docs/configuration.md describes each.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    FilePath,
    SkipValidation,
    ValidationInfo,
    field_validator,
)

from weaklink_analysis.mai.rubrics import RUBRICS, STRUCTURAL, Rubric, find_rubric, rubrics_from
from weaklink_processor.endpoint import Protocol, parse_endpoint

_HOST_PORT = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\s:/\[\]@]+):(?P<port>[0-9]{1,5})")
_DURATION = re.compile(r"(?P<number>[0-9]+(\.[0-9]+)?)(?P<unit>ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_HEADER = re.compile(r"[A-Za-z0-9\-_.]+")
_TOKEN = re.compile(r"[A-Za-z0-9\-._~+/]+=*")  # RFC 6750
_MIB = 1024 * 1024
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


def _seconds(value: object) -> object:
    """Read the Collector's way to write a duration; leave the rest to the number's own validation."""
    found = _DURATION.fullmatch(value) if isinstance(value, str) else None
    return float(found["number"]) * _SECONDS[found["unit"]] if found else value


def _folder(value: object) -> object:
    if value == "":
        raise ValueError("expected the path of a folder")
    return value


def _header_pairs(value: object) -> object:
    """Read `name=value,name=value`, as in OTEL_EXPORTER_OTLP_HEADERS."""
    if not isinstance(value, str):
        return value
    pairs = [pair.partition("=") for pair in value.split(",") if pair.strip()]
    if not all(name.strip() and separator for name, separator, _ in pairs):
        raise ValueError("expected name=value,name=value or a mapping of names to values")
    return {name.strip(): text.strip() for name, _, text in pairs}


def _sendable(headers: dict[str, str]) -> dict[str, str]:
    # A header that no library sends would be found out only with the first request.
    if not all(_HEADER.fullmatch(name) and text.isascii() and text.isprintable() for name, text in headers.items()):
        raise ValueError("expected names of letters, digits and - _ ., and values of ASCII that can be printed")
    return headers


def _tokens(value: object) -> object:
    """Read a list, in a variable as JSON, of bearer tokens; one alone stands for a list of it."""
    listed = _json(value) if isinstance(value, str) and value.lstrip().startswith("[") else value
    tokens = [listed] if isinstance(listed, str) else listed
    if not isinstance(tokens, list | tuple) or not all(isinstance(t, str) and _TOKEN.fullmatch(t) for t in tokens):
        raise ValueError("expected tokens of letters, digits and - . _ ~ + / =")
    return tokens


def _passwords(users: dict[str, str]) -> dict[str, str]:
    if not all(name and ":" not in name and password for name, password in users.items()):
        raise ValueError("expected names without a colon, each with a password")
    return users


def _mapping(value: object) -> object:
    """Read a mapping that a variable has as JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise ValueError('expected a mapping, in a variable as JSON: {"name": ...}') from error


def _rubrics(value: object, info: ValidationInfo) -> object:
    """Read names of rubrics, and rubrics of one's own as mappings; one alone stands for a list of it."""
    listed = _json(value) if isinstance(value, str) and value.lstrip().startswith(("[", "{")) else value
    chosen = listed if isinstance(listed, list | tuple) else [listed]
    # A child process gets the parent's rubrics as mappings, the built-in ones too.
    built_in = [asdict(rubric) for rubric in RUBRICS.values()]
    chosen = [one["name"] if isinstance(one, Mapping) and dict(one) in built_in else one for one in chosen]
    own = rubrics_from([one for one in chosen if isinstance(one, Mapping)], info.data.get("max_hops", 5))
    rubrics = [find_rubric(one["name"] if isinstance(one, Mapping) else str(one), own) for one in chosen]
    names = [rubric.name for rubric in rubrics]
    if not names or len(set(names)) < len(names):
        raise ValueError("expected names of rubrics, or rubrics, each once")
    return tuple(rubrics)


def _listed(value: object) -> object:
    """Read a list that a variable has as JSON."""
    return _json(value) if isinstance(value, str) else value


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ValueError("expected a list, in a variable as JSON") from error


ListenEndpoint = Annotated[str, AfterValidator(_listen_endpoint)]
RemoteEndpoint = Annotated[str, AfterValidator(_remote_endpoint)]
Seconds = Annotated[float, BeforeValidator(_seconds), Field(ge=0, allow_inf_nan=False)]
PositiveSeconds = Annotated[float, BeforeValidator(_seconds), Field(gt=0, allow_inf_nan=False)]
Bytes = Annotated[ByteSize, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Tokens = Annotated[tuple[str, ...], BeforeValidator(_tokens), Field(repr=False)]
Passwords = Annotated[dict[str, str], BeforeValidator(_mapping), AfterValidator(_passwords), Field(repr=False)]
Headers = Annotated[dict[str, str], BeforeValidator(_header_pairs), AfterValidator(_sendable), Field(repr=False)]
DestinationName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class Section(BaseModel):
    """A group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


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
    max_recv_msg_size_mib: Annotated[int, Field(ge=1, le=2047)] = 64  # gRPC's own limit is a signed 32-bit size


class Http(Section):
    """The OTLP/HTTP server."""

    tls: ServerTls = ServerTls()
    endpoint: ListenEndpoint = "127.0.0.1:4318"
    max_request_body_size: Bytes = ByteSize(64 * _MIB)
    read_header_timeout: PositiveSeconds = 10.0
    read_timeout: PositiveSeconds = 60.0
    write_timeout: PositiveSeconds = 30.0
    idle_timeout: PositiveSeconds = 60.0


class Auth(Section):
    """Who may send spans, to either server; everybody while this is empty."""

    tokens: Tokens = ()
    users: Passwords = {}


Count = Annotated[int, Field(ge=1)]


class RequestLimits(Section):
    """What one request may have; receive/limits.py says what each means."""

    spans: Count = 100_000
    span_attributes: Count = 16_384
    span_events: Count = 16_384
    span_links: Count = 16_384
    items: Count = 2_000_000
    attribute_size: Bytes = ByteSize(4 * _MIB)
    depth: Annotated[int, Field(ge=10, le=100)] = 100  # an attribute is 6 deep, in JSON 10; protobuf takes 100
    json_elements: Count = 1_000_000


class Receiver(Section):
    """How spans come in."""

    auth: Auth = Auth()
    limits: RequestLimits = RequestLimits()
    grpc: Grpc = Grpc()
    http: Http = Http()


class Queue(Section):
    """The durable queue between receiving and analysing."""

    max_bytes: Bytes = ByteSize(4096 * _MIB)
    max_requests: Annotated[int, Field(gt=0)] = 10_000_000
    max_pending_bytes: Bytes = ByteSize(128 * _MIB)
    max_pending_requests: Annotated[int, Field(gt=0)] = 10_000
    max_wait: PositiveSeconds = 4.0
    duplicate_window: Seconds = 60.0


class Thresholds(Section):
    """Where the flags begin for a namespace or a service; None: as it is without this."""

    min_threshold: Share | None = None
    flag_threshold: Share | None = None


Policies = Annotated[dict[str, Thresholds], BeforeValidator(_mapping)]
Rubrics = Annotated[tuple[SkipValidation[Rubric], ...], BeforeValidator(_rubrics)]


class DecisionMatcher(Section):
    """Spans that are decisions, by their name, their attributes, or both."""

    span_name: str | None = None
    attributes: dict[str, str] = {}

    @field_validator("attributes")
    @classmethod
    def _says_something(cls, attributes: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        if not attributes and info.data.get("span_name") is None:
            raise ValueError("expected span_name, attributes, or both: without them every span would be a decision")
        return attributes


Matchers = Annotated[tuple[DecisionMatcher, ...], BeforeValidator(_listed)]


class Analysis(Section):
    """The numbers that analysis depends on."""

    quiet_period: Seconds = 5.0
    max_hops: Annotated[int, Field(ge=1, le=16)] = 5
    min_threshold: Share = 0.4
    flag_threshold: Share = 0.6
    clock_skew: Seconds = 60.0
    unresolved_confidence: Share | None = None
    threshold: Share = 0.7
    publish_interval: PositiveSeconds = 1.0
    namespaces: Policies = {}
    services: Policies = {}
    decisions: Matchers = ()
    rubrics: Rubrics = (STRUCTURAL.name,)  # type: ignore[assignment]  # names become rubrics

    @field_validator("flag_threshold")
    @classmethod
    def _ordered(cls, flag: float, info: ValidationInfo) -> float:
        lowest = info.data.get("min_threshold", 0.0)
        if lowest > flag:
            raise ValueError(f"expected at least analysis.min_threshold, which is {lowest}")
        return flag

    @field_validator("namespaces")
    @classmethod
    def _ordered_by_namespace(cls, namespaces: dict[str, Thresholds], info: ValidationInfo) -> dict[str, Thresholds]:
        for name in namespaces:
            _check_order(f"namespace {name!r}", [*_enclosing(namespaces, name), _overall(info)])
        return namespaces

    @field_validator("services")
    @classmethod
    def _ordered_by_service(cls, services: dict[str, Thresholds], info: ValidationInfo) -> dict[str, Thresholds]:
        namespaces: dict[str, Thresholds] = info.data.get("namespaces", {})
        for service, own in services.items():
            _check_order(f"service {service!r}", [own, _overall(info)])
            for name in namespaces:
                where = f"service {service!r} and namespace {name!r}"
                _check_order(where, [*_enclosing(namespaces, name), own, _overall(info)])
        return services


def _enclosing(namespaces: dict[str, Thresholds], name: str) -> list[Thresholds]:
    """What is set for a namespace and for those around it, the longest first."""
    longest_first = sorted(namespaces, key=len, reverse=True)
    return [namespaces[p] for p in longest_first if f"{name.rstrip('/')}/".startswith(f"{p.rstrip('/')}/")]


def _overall(info: ValidationInfo) -> Thresholds:
    # One that is at fault itself is not there, and contradicts nothing.
    lowest, highest = info.data.get("min_threshold", 0.0), info.data.get("flag_threshold", 1.0)
    return Thresholds(min_threshold=lowest, flag_threshold=highest)


def _check_order(where: str, settings: Iterable[Thresholds]) -> None:
    """Refuse thresholds that contradict each other where the first setting that has one counts for each."""
    chosen = list(settings)
    low = next(own.min_threshold for own in chosen if own.min_threshold is not None)
    flag = next(own.flag_threshold for own in chosen if own.flag_threshold is not None)
    if low > flag:
        raise ValueError(f"expected min_threshold at most flag_threshold; for {where} they are {low} and {flag}")


class Tls(Certificate):
    """How a connection to a destination is secured."""

    section: ClassVar[str] = "forward.tls"
    insecure: bool | None = None
    ca_file: FilePath | None = None


class Retry(Section):
    """Exponential backoff towards a destination."""

    initial_interval: PositiveSeconds = 5.0
    max_interval: PositiveSeconds = 30.0
    multiplier: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 1.5
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


class Forwarding(Section):
    """What goes to a destination, and how."""

    tls: Tls = Tls()
    protocol: Protocol = "grpc"
    endpoint: str | None = None
    headers: Headers = {}
    timeout: PositiveSeconds = 10.0
    compression: Literal["none", "gzip"] = "none"
    spans: bool = True
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

    @property
    def url(self) -> str:
        """The endpoint with its scheme: https:// where TLS is to be used, else http://; empty without an endpoint."""
        if not self.endpoint or "://" in self.endpoint:
            return self.endpoint or ""
        return f"{'https' if self.tls.insecure is False else 'http'}://{self.endpoint}"


class Destination(Forwarding):
    """One of several destinations."""

    endpoint: str


Destinations = Annotated[dict[DestinationName, Destination], BeforeValidator(_mapping)]


class Forward(Forwarding):
    """Where original spans and evaluations go: to the endpoint, and to each of the destinations."""

    destinations: Destinations = {}

    @property
    def all(self) -> dict[str, Forwarding]:
        """Every destination by its name, which is the URL for the one that has no name."""
        unnamed: dict[str, Forwarding] = {self.url: self} if self.endpoint else {}
        return unnamed | self.destinations


class Lake(Section):
    """How much of what was received is kept."""

    retention: PositiveSeconds | None = None
    max_bytes: Bytes | None = None


class Prometheus(Section):
    """The endpoint that is scraped."""

    endpoint: ListenEndpoint | None = None


class MetricsPush(Section):
    """Where metrics are sent to."""

    endpoint: RemoteEndpoint | None = None
    interval: PositiveSeconds = 60.0


class Metrics(Section):
    """How metrics leave; they do not, unless one of the two is configured."""

    prometheus: Prometheus = Prometheus()
    otlp: MetricsPush = MetricsPush()

    @property
    def wanted(self) -> bool:
        """Whether anybody reads them."""
        return bool(self.prometheus.endpoint or self.otlp.endpoint)


class TracesPush(Section):
    """Where spans about weaklink itself are sent to."""

    endpoint: RemoteEndpoint | None = None


class Traces(Section):
    """Spans about weaklink itself."""

    otlp: TracesPush = TracesPush()


class Telemetry(Section):
    """What weaklink tells about itself, besides its log."""

    metrics: Metrics = Metrics()
    traces: Traces = Traces()


class Log(Section):
    """What is logged to standard error."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["console", "json"] = "console"


class Config(Section):
    """Every setting of weaklink."""

    data_dir: Annotated[Path, BeforeValidator(_folder), AfterValidator(Path.expanduser)] = Path("weaklink-data")
    receiver: Receiver = Receiver()
    queue: Queue = Queue()
    analysis: Analysis = Analysis()
    lake: Lake = Lake()
    forward: Forward = Forward()
    telemetry: Telemetry = Telemetry()
    log: Log = Log()

    def listening_on(self, grpc: str, http: str) -> Self:
        """Return the same settings with these two endpoints to listen on."""
        receiver = self.receiver.model_copy(
            update={
                "grpc": self.receiver.grpc.model_copy(update={"endpoint": grpc}),
                "http": self.receiver.http.model_copy(update={"endpoint": http}),
            }
        )
        return self.model_copy(update={"receiver": receiver})
