"""TLS of both servers. A certificate that is replaced on disk counts from the next connection on.

Files are looked at whenever a client connects: a renewal needs neither a signal nor a restart, and drops nothing.
"""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import structlog

from weaklink_processor.errors import UsageError

log = structlog.get_logger(__name__)

Stamp = tuple[tuple[int, int], ...]
"""When the files were last changed, and how long they are."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files: the server's certificate chain and its key, and the authorities whose client certificates count."""

    cert: Path
    key: Path
    client_ca: Path | None = None
    """With it, a client without a certificate is refused."""

    def _all(self) -> tuple[Path, ...]:
        return (self.cert, self.key, *([self.client_ca] if self.client_ca else []))

    def stamp(self) -> Stamp:
        """Say which state of the files this is."""
        return tuple((found.st_mtime_ns, found.st_size) for found in map(Path.stat, self._all()))


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What the files hold."""

    stamp: Stamp
    context: ssl.SSLContext
    grpc: grpc.ServerCertificateConfiguration


@contextmanager
def _blamed(what: str) -> Iterator[None]:
    """Say of which files a fault is; ssl does not."""
    try:
        yield
    except OSError as error:  # ssl's errors are of this kind
        raise UsageError(f"cannot use {what}: {error}") from error


class Tls:
    """What the files held when they last made sense."""

    def __init__(self, files: TlsFiles) -> None:
        """Read them.

        Raises:
            UsageError: one of them cannot be used; the message says which.
        """
        self._files = files
        try:
            self._loaded = self._load(files.stamp())
        except OSError as error:
            raise UsageError(f"cannot use the certificate {files.cert}: {error}") from error
        self._seen = self._loaded.stamp

    def context(self) -> ssl.SSLContext:
        """For a server on sockets; each connection takes the newest certificate by itself."""
        return self._loaded.context

    def grpc_credentials(self) -> grpc.ServerCredentials:
        """For a gRPC server; as above."""
        given = self._loaded

        def changed() -> grpc.ServerCertificateConfiguration | None:
            nonlocal given
            newest = self._newest()
            if newest is given:
                return None
            given = newest
            return newest.grpc

        return grpc.dynamic_ssl_server_credentials(
            given.grpc,
            changed,  # type: ignore[arg-type]  # None is fine: no change
            require_client_authentication=self._files.client_ca is not None,
        )

    def _load(self, stamp: Stamp) -> _Loaded:
        cert, key, client_ca = self._files.cert, self._files.key, self._files.client_ca
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        with _blamed(f"the certificate {cert} with the key {key}"):
            context.load_cert_chain(cert, key)
        if client_ca:
            with _blamed(f"the authorities of client_ca_file, {client_ca}"):
                context.load_verify_locations(client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
        context.sni_callback = self._renew  # called for every connection, whether it names a server or not
        pair = (key.read_bytes(), cert.read_bytes())
        configuration = grpc.ssl_server_certificate_configuration([pair], client_ca.read_bytes() if client_ca else None)
        return _Loaded(stamp, context, configuration)

    def _renew(self, connection: ssl.SSLObject | ssl.SSLSocket, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._newest().context

    def _newest(self) -> _Loaded:
        """Take new files in; while they make no sense, such as half-way through a renewal, the old ones go on."""
        try:
            stamp = self._files.stamp()
            if stamp != self._seen:
                self._seen = stamp  # each state of the files is tried once
                self._loaded = self._load(stamp)
                log.info("certificate reloaded", file=str(self._files.cert))
        except (OSError, UsageError) as error:
            log.warning("certificate not reloaded", file=str(self._files.cert), error=str(error))
        return self._loaded
