"""Loads the modules of the benchmarks that tests are about.

Their folder does not stay on the path: it has a decode.py, and so have the tests a folder of that name.
"""

import importlib
import sys
from pathlib import Path

BENCH = str(Path(__file__).parents[2] / "bench")

sys.path.insert(0, BENCH)
for module in ("generator", "latency", "usage"):
    importlib.import_module(module)
sys.path.remove(BENCH)
