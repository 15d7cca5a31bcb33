"""How a destination is called."""

import ssl
from dataclasses import dataclass, field
from pathlib import Path

from weaklink_processor.emit.retry import Backoff
from weaklink_processor.endpoint import Protocol
from weaklink_processor.errors import UsageError


@dataclass(frozen=True, slots=True)
class ClientTls:
    """Files, PEM; they count where the endpoint is spoken to over TLS."""

    ca_file: Path | None = None  # None: the system's authorities
    cert_file: Path | None = None  # None: the client shows none
    key_file: Path | None = None  # of the certificate

    def context(self) -> ssl.SSLContext:
        """Return what checks the server's certificate and shows the client's.

        Raises:
            UsageError: a file has no certificate or key.
        """
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.cert_file:
                context.load_cert_chain(self.cert_file, self.key_file)
        except OSError as error:  # ssl's errors are of this kind
            files = ", ".join(str(file) for file in (self.ca_file, self.cert_file, self.key_file) if file)
            raise UsageError(f"{files}: {error}") from error
        return context


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """What is the same for every request."""

    protocol: Protocol = "grpc"
    timeout_seconds: float = 10.0  # for one attempt
    headers: tuple[tuple[str, str], ...] = ()
    gzip: bool = False
    tls: ClientTls = ClientTls()
    backoff: Backoff = field(default_factory=Backoff)
