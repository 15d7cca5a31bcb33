"""Agents as processes that send to a Collector, half of them by gRPC and half by HTTP."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from collector import agent
from collector.process import Collector

AGENTS = 4
SPANS = 100_000
TRACES = SPANS // AGENTS // agent.SPANS_PER_TRACE
"""Of each agent."""
REMEMBERING = AGENTS * (TRACES // 2)
"""The traces with memory operations."""


@contextmanager
def fleet(folder: Path, collector: Collector) -> Iterator[set[bytes]]:
    """Start the agents, and wait for their end behind the block.

    What is yielded then has the key of each span that they ended: its trace id and its span id, 24 bytes.
    """
    doors = {"grpc": collector.agents_grpc, "http": collector.agents_http}
    files = [folder / f"agent-{number}.ids" for number in range(AGENTS)]
    agents = []
    for number, file in enumerate(files):
        protocol = ("grpc", "http")[number % 2]
        arguments = [str(number), str(TRACES), protocol, doors[protocol], str(file)]
        agents.append(subprocess.Popen([sys.executable, str(agent.__file__), *arguments]))
    sent: set[bytes] = set()
    try:
        yield sent
        for process, file in zip(agents, files, strict=True):
            assert process.wait(100) == 0
            ids = file.read_bytes()
            sent.update(ids[at : at + 24] for at in range(0, len(ids), 24))
    finally:
        for process in agents:
            process.kill()
            process.wait()
