import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import IO, cast

from shell import PROGRAM
from weaklink_processor import wiring
from weaklink_processor.config import Config
from weaklink_processor.supervise.ports import concrete

SPAN = {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": "remember"}
REQUEST = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]}).encode()


@contextmanager
def receiver(config: Config) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([*PROGRAM, "receiver"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        stdin = cast("IO[bytes]", process.stdin)
        stdin.write(config.model_dump_json().encode() + b"\n")
        stdin.flush()
        try:
            yield process
        finally:
            process.kill()


def settings(data_dir: Path) -> Config:
    return Config(data_dir=data_dir).listening_on(concrete("127.0.0.1", 0), concrete("127.0.0.1", 0))


def told(process: subprocess.Popen[bytes]) -> dict[str, str]:
    message: dict[str, str] = json.loads(cast("IO[bytes]", process.stdout).readline())
    return message


def test_what_it_acknowledged_is_queued(tmp_path: Path) -> None:
    """The receiver says that it is ready, takes a span over HTTP, and at its pipe's end has it in the queue."""
    config = settings(tmp_path)
    with receiver(config) as process:
        assert told(process) == {"ready": "receiver"}
        connection = HTTPConnection(config.receiver.http.endpoint, timeout=5)
        connection.request("POST", "/v1/traces", REQUEST, {"Content-Type": "application/json"})
        assert connection.getresponse().status == 200
        connection.close()
        cast("IO[bytes]", process.stdin).close()
        assert process.wait(8) == 0
    with wiring.open_queue(config) as queue:
        assert [len(row.requests) for row in queue.read(0, 1 << 20)] == [1]


def test_sigterm_ends_it_with_exit_code_0(tmp_path: Path) -> None:
    """SIGTERM drains and ends the receiver; SIGINT does nothing."""
    with receiver(settings(tmp_path)) as process:
        told(process)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(8) == 0


def test_a_taken_port_is_told(tmp_path: Path) -> None:
    """A port that is taken is exit code 2 and a message that names it, for either protocol, and the process ends."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        endpoint = f"127.0.0.1:{taken.getsockname()[1]}"
        free = concrete("127.0.0.1", 0)
        for grpc, http in ((endpoint, free), (free, endpoint)):
            with receiver(Config(data_dir=tmp_path).listening_on(grpc, http)) as process:
                assert endpoint in told(process)["fault"]
                assert process.wait(8) == 2
