"""What can be set, and to what: frozen, validated, the same in every process. Where settings come from is sources.py.

Names follow the OpenTelemetry Collector's where it has one. docs/configuration.md describes each.
"""

from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator

from weaklink_processor.config.analysing import Analysis, Thresholds
from weaklink_processor.config.forwarding import Forward, Forwarding
from weaklink_processor.config.receiving import Grpc, Http, Queue, Receiver, ServerTls
from weaklink_processor.config.telling import Log, Metrics, Telemetry
from weaklink_processor.config.values import Bytes, PositiveSeconds, Section, folder, host_port

__all__ = [
    "Config",
    "Forwarding",
    "Grpc",
    "Http",
    "Lake",
    "Log",
    "Metrics",
    "Receiver",
    "ServerTls",
    "Thresholds",
    "host_port",
]


class Lake(Section):
    """How much of what was received is kept."""

    retention: PositiveSeconds | None = None
    max_bytes: Bytes | None = None


class Config(Section):
    """Every setting of weaklink."""

    data_dir: Annotated[Path, BeforeValidator(folder), AfterValidator(Path.expanduser)] = Path("weaklink-data")
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
