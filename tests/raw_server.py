"""A server that reads whole HTTP requests and answers what it is told to, byte by byte: what no library would send."""

import re
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

Piece = bytes | float
"""What is sent, or for how many seconds nothing is."""


class RawServer:
    """`with RawServer(script) as server`: each request gets the next of the scripts, and all others the last one.

    With `pace`, so many seconds pass before the body of a request is read.
    """

    def __init__(self, *scripts: Sequence[Piece], pace: float = 0.0) -> None:
        self.requests: list[bytes] = []  # their bodies
        self._scripts, self._pace = scripts, pace
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._gone = threading.Event()

    @property
    def endpoint(self) -> str:
        """Its URL."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._gone.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _listen(self) -> None:
        with suppress(OSError):  # closed
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while self._read(connection):
                for piece in self._scripts[min(len(self.requests), len(self._scripts)) - 1]:
                    if isinstance(piece, bytes):
                        connection.sendall(piece)
                    elif self._gone.wait(piece):
                        return

    def _read(self, connection: socket.socket) -> bool:
        """Read a request; False if there is none."""
        received = b""
        while b"\r\n\r\n" not in received:
            more = connection.recv(1 << 12)
            if not more:
                return False
            received += more
        head, _, body = received.partition(b"\r\n\r\n")
        time.sleep(self._pace)
        (size,) = re.findall(rb"content-length: (\d+)", head, re.IGNORECASE)
        while len(body) < int(size):
            more = connection.recv(1 << 20)
            if not more:
                return False
            body += more
        self.requests.append(body)
        return True
