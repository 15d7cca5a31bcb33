"""A pytest of its own, as a process: the global tracer provider can be set only once in one."""

import os
import re
import subprocess
import sys
from pathlib import Path

SLOW = ("langsmith_plugin", "hypothesispytest", "cacheprovider")
"""Plugins that take seconds to load, or write into the folder."""
_ID = re.compile(r"\b(?:[0-9a-f]{32}|[0-9a-f]{16})\b")


def run_pytest(folder: Path, *arguments: str) -> str:
    """What it prints when it is started in a folder."""
    left_out = [f"-pno:{plugin}" for plugin in SLOW]
    command = [sys.executable, "-m", "pytest", *left_out, "--rootdir", str(folder), *arguments]
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "PYTEST_"))}
    environment = outside | {"OTEL_SERVICE_NAME": "oncall"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=99, check=False)
    return done.stdout + done.stderr


def without_ids(text: str) -> str:
    """A text that names spans, as it is in every run."""
    return _ID.sub("ID", text)


def errors(said: str) -> str:
    """The lines of pytest's messages of what failed."""
    return without_ids("".join(f"{line[8:]}\n" for line in said.splitlines() if line.startswith("E  ")))
