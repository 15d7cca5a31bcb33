"""What figures were taken on."""

import platform
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil

MILLION = 1_000_000
LIBRARIES = ("duckdb", "pyarrow", "grpcio")


def machine() -> dict[str, str | int]:
    """Name processor, memory, system, libraries and the day."""
    return {
        "cpu": _cpu_model(),
        "cores": psutil.cpu_count() or 0,
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def _cpu_model() -> str:
    information = Path("/proc/cpuinfo")
    found = (
        re.search(r"^model name\s*:\s*(.+)$", information.read_text(), re.MULTILINE) if information.exists() else None
    )
    return found[1] if found else platform.processor() or platform.machine()
