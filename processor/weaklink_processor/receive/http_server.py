"""uvicorn inside the receiver's own event loop: the listener of OTLP/HTTP."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from socket import socket

import uvicorn

from weaklink_processor.receive.address import Address, listen
from weaklink_processor.receive.credentials import Credentials
from weaklink_processor.receive.http_app import application
from weaklink_processor.receive.http_connection import FAIR_PATIENCE, Patience, connections
from weaklink_processor.receive.intake import Intake
from weaklink_processor.receive.limits import Limits
from weaklink_processor.receive.tls import Tls


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the process that this server is a part of."""
        yield


class HttpServer:
    """The HTTP listener; stop works without a start, and twice."""

    def __init__(
        self, intake: Intake, limits: Limits, credentials: Credentials, patience: Patience = FAIR_PATIENCE
    ) -> None:
        self._config = uvicorn.Config(
            application(intake, limits, credentials),
            http=connections(patience),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
        )
        self._server = _Server(self._config)
        self._serving: asyncio.Task[None] | None = None

    async def start(self, address: Address, tls: Tls | None = None) -> Address:
        """Listen, and return the address with its real port; UsageError when that cannot be."""
        self._config.load()
        self._config.ssl = tls.context() if tls else None
        listener = listen(address)
        self._serving = asyncio.create_task(self._server.serve([listener]))
        await self._server.up.wait()
        return Address(address.host, listener.getsockname()[1])

    async def stop(self, grace_seconds: int) -> None:
        """Close the listener and idle connections, and give requests under way some time."""
        self._config.timeout_graceful_shutdown = grace_seconds
        self._server.should_exit = True
        if self._serving is not None:
            await self._serving
