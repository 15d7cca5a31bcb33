"""Receive and analyse until told to stop."""

import asyncio
import shlex
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import click
import structlog

from weaklink_processor import log, reporting
from weaklink_processor.commands.loops import refuse_loops
from weaklink_processor.commands.options import with_config
from weaklink_processor.config import Config, Grpc, Http, host_port
from weaklink_processor.supervise.child import ChildSpec
from weaklink_processor.supervise.lock import hold
from weaklink_processor.supervise.ports import concrete
from weaklink_processor.supervise.supervisor import OnNews, supervise

_log = structlog.get_logger(__name__)
CHILDREN: tuple[str, ...] = ("receiver", "analyst")  # in the order in which they stop: first no more comes in
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_ANYWHERE = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104  not bound here: shown to a client as loopback
_QUERY = "SELECT memory_id, effective_confidence, confidence_flag FROM memories"


@click.command()
@with_config("--data-dir", "--grpc", "--http", "--forward", "--enrich")
def serve(config: Config) -> None:
    """Receive spans over OTLP and analyse them, until Ctrl-C or SIGTERM."""
    run_service(config, (sys.executable, "-m", "weaklink_processor"))


def run_service(config: Config, program: tuple[str, ...]) -> None:
    """Hold the data folder and keep `PROGRAM receiver` and `PROGRAM analyst` running until a signal comes.

    Raises:
        UsageError: the folder is in use, or a child cannot run as it is set up.
    """
    log.configure(config.log, "serve")
    with hold(config.data_dir) as lock, reporting.station(config) as station:
        log.configure(config.log, "serve", station.error)
        if config.forward.idle:
            _log.warning("settings without effect: there is no forward.endpoint", settings=config.forward.idle)
        grpc, http = config.receiver.grpc.endpoint, config.receiver.http.endpoint
        settled = config.listening_on(concrete(*host_port(grpc)), concrete(*host_port(http)))
        refuse_loops(settled)
        settings = settled.model_dump_json()
        specs = [ChildSpec(name, (*program, name), settings, (lock,)) for name in CHILDREN]
        asyncio.run(_until_signalled(specs, lambda: click.echo(greeting(settled, station.metrics_url)), station.hear))


async def _until_signalled(specs: list[ChildSpec], on_ready: Callable[[], None], on_news: OnNews) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    try:
        await supervise(specs, stop, on_ready, on_news=on_news)
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)  # all is stopped: one more Ctrl-C must not spoil the exit code


def greeting(config: Config, metrics: str | None = None) -> str:
    """Return what to know about a service that is ready: where it listens, and the lines to try it with."""
    grpc, http = _reachable(config.receiver.grpc), _reachable(config.receiver.http)
    folder = config.data_dir.absolute()
    lines = [
        "weaklink is ready",
        f"  OTLP/gRPC    {grpc}",
        f"  OTLP/HTTP    {http}/v1/traces",
        f"  data folder  {folder}",
        *([f"  metrics      {metrics}"] if metrics else []),
        *(f"  forwards to  {_destination(name, own.url)}" for name, own in config.forward.all.items()),
        "point an exporter at it:",
        f"  export OTEL_EXPORTER_OTLP_ENDPOINT={grpc}",
        "query it:",
        f'  {_program()} sql "{_QUERY}" --data-dir {shlex.quote(str(folder))}',
    ]
    return "\n".join(lines)


def _destination(name: str, url: str) -> str:
    return url if name == url else f"{url} ({name})"


def _reachable(server: Grpc | Http) -> str:
    host, port = host_port(server.endpoint)
    return f"{'https' if server.tls.cert_file else 'http'}://{_ANYWHERE.get(host, host)}:{port}"


def _program() -> str:
    """Return how a shell calls this installation: by name if that is on the path, else by its own path."""
    own = Path(sys.executable).with_name("weaklink")
    return "weaklink" if not own.exists() or shutil.which("weaklink") == str(own) else shlex.quote(str(own))
