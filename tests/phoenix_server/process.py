"""A running Phoenix on ports and in a folder of its own."""

import json
import os
import subprocess
from collections.abc import Iterable
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode

from pinned.install import PHOENIX
from weaklink_service import PATIENCE, free_port, wait_until

PROJECT = "default"
KEY = "of-the-tests-0123456789-abcdefghij"
HEADERS = {"authorization": f"Bearer {KEY}"}
OFF = (
    "PHOENIX_TELEMETRY_ENABLED",
    "PHOENIX_ALLOW_EXTERNAL_RESOURCES",
    "PHOENIX_ENABLE_MCP_SERVER",
)
ON = (
    "PHOENIX_ENABLE_AUTH",
    "PHOENIX_DISABLE_AGENT_ASSISTANT",
    "PHOENIX_AGENTS_DISABLE_BASH",
    "PHOENIX_AGENTS_DISABLE_WEB_ACCESS",
)
"""It talks to nobody but us, and only with the key."""


class Phoenix:
    """`with Phoenix(folder)`: spans go to `grpc`, annotations to `url`. `stop` and `start` as often as you like."""

    def __init__(self, folder: Path) -> None:
        self._http, self.grpc = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
        self.url = f"http://{self._http}"
        self._log = folder / "phoenix.log"
        outside = {name: value for name, value in os.environ.items() if not name.startswith("PHOENIX_")}
        self._environment = (
            outside
            | dict.fromkeys(OFF, "false")
            | dict.fromkeys(ON, "true")
            | {
                "PHOENIX_WORKING_DIR": str(folder / "phoenix"),
                "PHOENIX_HOST": "127.0.0.1",
                "PHOENIX_PORT": self._http.rpartition(":")[2],
                "PHOENIX_GRPC_PORT": self.grpc.rpartition(":")[2],
                "PHOENIX_SECRET": f"signs-{KEY}",
                "PHOENIX_ADMIN_SECRET": KEY,
                # What is found on the way to weaklink's own sources is not meant for it.
                "PYTHONPATH": "",
            }
        )
        (folder / "phoenix").mkdir()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def begin(self) -> None:
        """Start it; whoever cannot do without it waits."""
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                [PHOENIX.python(), "-m", "phoenix.server.main", "serve"], env=self._environment, stdout=log, stderr=log
            )

    def start(self) -> None:
        """Start it and return when it is ready."""
        self.begin()
        wait_until(self._is_ready, "Phoenix", 2 * PATIENCE)

    def stop(self) -> None:
        """End it in order: what it has acknowledged it keeps then."""
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()

    def annotations(self, kind: str, identifiers: Iterable[str]) -> list[dict[str, Any]]:
        """Return those with these identifiers of all traces, spans or sessions (kind: trace, span, session)."""
        asked = urlencode([*(("identifier", each) for each in identifiers), ("limit", "1000")])
        answer: dict[str, Any] = json.loads(self._get(f"/v1/projects/{PROJECT}/{kind}_annotations?{asked}"))
        assert answer["next_cursor"] is None
        return list(answer["data"])

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, self._log.read_text()
        try:
            self._get("/healthz")
        except (OSError, HTTPException):
            return False
        return True

    def _get(self, path: str) -> str:
        host, _, port = self._http.partition(":")
        connection = HTTPConnection(host, int(port), timeout=PATIENCE)
        try:
            connection.request("GET", path, headers=HEADERS)
            response = connection.getresponse()
            content = response.read().decode()
        finally:
            connection.close()
        if response.status != 200:
            raise HTTPException(f"{path} answers {response.status}: {content}")
        return content
