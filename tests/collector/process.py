"""A running Collector with the repository's own configuration, on ports of its own."""

import json
import os
import re
import subprocess
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Self

from collector.build import collector
from weaklink_service import PATIENCE, free_port, wait_until

CONFIG = Path(__file__).parents[2] / "otel-config.yaml"


class Collector:
    """`with Collector(...)`: agents send to `agents_grpc` and `agents_http`, weaklink forwards to `from_weaklink`."""

    def __init__(self, folder: Path, to_weaklink: str, from_weaklink: str, backend: str) -> None:
        self.agents_grpc, self.agents_http, self._health, self._metrics = (f"127.0.0.1:{free_port()}" for _ in "1234")
        self._environment = os.environ | {
            "AGENTS_GRPC_ENDPOINT": self.agents_grpc,
            "AGENTS_HTTP_ENDPOINT": self.agents_http,
            "TO_WEAKLINK_ENDPOINT": to_weaklink,
            "FROM_WEAKLINK_ENDPOINT": from_weaklink,
            "BACKEND_ENDPOINT": backend,
            "HEALTH_ENDPOINT": self._health,
            "QUEUE_DIRECTORY": str(folder / "queue"),
        }
        self._log = folder / "collector.log"

    def __enter__(self) -> Self:
        host, port = self._metrics.split(":")
        pull = {"pull": {"exporter": {"prometheus": {"host": host, "port": int(port)}}}}
        own = {"service": {"telemetry": {"metrics": {"level": "normal", "readers": [pull]}}}}
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [collector(), "--config", CONFIG, "--config", f"yaml:{json.dumps(own)}"],
                env=self._environment, stdout=log, stderr=log,
            )  # fmt: skip
        wait_until(self._is_ready, "the Collector")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)

    def accepted(self, receiver: str) -> int:
        """How many spans came in through this receiver."""
        return self._count("otelcol_receiver_accepted_spans", receiver)

    def sent(self, exporter: str) -> int:
        """How many spans the next hop has taken from this exporter."""
        return self._count("otelcol_exporter_sent_spans", exporter)

    def _count(self, metric: str, component: str) -> int:
        sample = re.compile(rf'^{metric}\w*\{{.*"{re.escape(component)}".*\}} (\S+)$', re.MULTILINE)
        return sum(int(float(value)) for value in sample.findall(_get(self._metrics, "/metrics")))

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, self._log.read_text()
        try:
            _get(self._health, "/")
        except (OSError, HTTPException):
            return False
        return True


def _get(address: str, path: str) -> str:
    connection = HTTPConnection(address, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        if response.status != 200:
            raise HTTPException(f"{address}{path} answers {response.status}")
        return response.read().decode()
    finally:
        connection.close()
