import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

import service
from shell import refused
from supervised_child import events


@contextmanager
def serving(data_dir: Path, *children: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(service.__file__), str(data_dir), *(children or ("receiver", "analyst"))]
    env = os.environ | {"PYTHONPATH": str(Path(service.__file__).parent)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            yield process
        finally:
            process.kill()


def ready(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    lines: list[str] = []
    while not lines or " sql " not in lines[-1]:
        lines.append(process.stdout.readline())
        assert lines[-1], "ended before it was ready"
    return "".join(lines)


def within(seconds: float, true: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def gone(data_dir: Path) -> bool:
    return not any(psutil.pid_exists(pid) for _, _, pid in events(data_dir))


def test_startup_says_what_to_do(tmp_path: Path) -> None:
    """When both children are ready, concrete endpoints, the folder, an exporter's line and a query are printed."""
    data_dir = tmp_path / "a folder"
    with serving(data_dir) as process:
        text = ready(process)
    found = re.fullmatch(
        r"weaklink is ready\n"
        r"  OTLP/gRPC    (http://127\.0\.0\.1:\d{2,5})\n"
        r"  OTLP/HTTP    http://127\.0\.0\.1:\d{2,5}/v1/traces\n"
        r"  data folder  (.+)\n"
        r"point an exporter at it:\n"
        r"  export OTEL_EXPORTER_OTLP_ENDPOINT=(.+)\n"
        r"query it:\n"
        r"  \S*weaklink sql \"SELECT .+\" --data-dir '(.+)'\n",
        text,
    )
    assert found is not None
    assert found[1] == found[3]
    assert found[2] == found[4] == str(data_dir)
    assert data_dir.stat().st_mode & 0o777 == 0o700


def test_signals_end_it_orderly(tmp_path: Path) -> None:
    """SIGTERM, or Ctrl-C however often, ends the receiver, then the analyst, then the service, with exit code 0."""
    for number, signals in enumerate([[signal.SIGTERM], [signal.SIGINT, signal.SIGINT, signal.SIGINT]]):
        data_dir = tmp_path / str(number)
        with serving(data_dir) as process:
            ready(process)
            for one in signals:
                process.send_signal(one)
                time.sleep(0.02)
            assert process.wait(10) == 0
            assert process.stderr is not None
            assert "Traceback" not in process.stderr.read()
        assert [row[:2] for row in events(data_dir)[2:]] == [("receiver", "end"), ("analyst", "end")]
        assert gone(data_dir)


def test_a_terminal_interrupts_only_the_parent(tmp_path: Path) -> None:
    """Children are in process groups of their own and ignore SIGINT."""
    with serving(tmp_path) as process:
        ready(process)
        pids = [pid for _, _, pid in events(tmp_path)]
        assert {os.getpgid(pid) for pid in pids} == set(pids)
        for pid in pids:
            os.kill(pid, signal.SIGINT)
        time.sleep(0.2)
        assert len(events(tmp_path)) == 2
        process.terminate()
        assert process.wait(10) == 0


def test_a_killed_parent_leaves_no_orphans(tmp_path: Path) -> None:
    """Children whose parent was SIGKILLed drain and end, and the folder is locked until they have."""
    with serving(tmp_path) as process:
        ready(process)
        process.kill()
        assert within(5, lambda: gone(tmp_path))
    assert sorted(row[:2] for row in events(tmp_path)[2:]) == [("analyst", "end"), ("receiver", "end")]
    with serving(tmp_path) as process:
        ready(process)


def test_one_service_a_folder(tmp_path: Path) -> None:
    """A second service on a folder is refused with who has it; the first goes on."""
    with serving(tmp_path) as process:
        ready(process)
        message = refused("serve", "--data-dir", tmp_path, "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")
        assert f"{tmp_path} is in use by another weaklink (process {process.pid})" in message
        assert process.poll() is None


def test_a_child_that_cannot_run_ends_it(tmp_path: Path) -> None:
    """A child's refusal is the service's: its message once, exit code 2, nothing on stdout."""
    with serving(tmp_path, "refuse", "analyst") as process:
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (2, "")
    assert err.count("port 4317 is taken") == 1
    assert gone(tmp_path)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    """A data folder in the place of a file is a message."""
    (tmp_path / "file").touch()
    assert "data folder" in refused("serve", "--data-dir", tmp_path / "file")
    assert "data folder" in refused("serve", "--data-dir", tmp_path / "file" / "below")
