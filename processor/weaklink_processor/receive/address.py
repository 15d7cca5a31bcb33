"""Addresses to listen on, as the settings write them: host:port, [::1]:port, port 0 for any free one."""

import socket
from typing import NamedTuple, Self

from weaklink_processor.errors import UsageError

BACKLOG = 1024
HIGHEST_PORT = 65_535


class Address(NamedTuple):
    """A host and a port."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read host:port; UsageError."""
        host, _, port = text.rpartition(":")
        if not host or not port.isdecimal() or int(port) > HIGHEST_PORT:
            raise UsageError(f"cannot listen on {text!r}: not of the form host:port")
        return cls(host.removeprefix("[").removesuffix("]"), int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def listen(address: Address) -> socket.socket:
    """Open a listening socket; UsageError that names the address and the reason."""
    try:
        family, kind, protocol, _, target = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(target)
            listener.listen(BACKLOG)
        except BaseException:
            listener.close()
            raise
    except OSError as error:
        raise UsageError(f"cannot listen on {address}: {error.strerror}") from error
    return listener
