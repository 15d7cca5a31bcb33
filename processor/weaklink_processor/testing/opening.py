"""The fixture `mai` as it is set up: the settings in force, and the global tracer provider watched."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from weaklink_analysis.gate.verdict import Rules
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError
from weaklink_processor.sources import DEFAULT_FILE, load_config
from weaklink_processor.testing.capture import Capture, TakesProcessors, global_provider
from weaklink_processor.testing.mai import Mai
from weaklink_processor.testing.rules import share


@contextmanager
def opened(pytestconfig: pytest.Config) -> Iterator[Mai]:
    """Capture spans that begin inside of this; what is wrong with the settings fails the test, and says no more."""
    try:
        config, min_score = _config(pytestconfig), _min_score(pytestconfig)
    except (UsageError, ValueError) as error:
        pytest.fail(str(error), pytrace=False)
    with Capture() as capture, Mai(capture, config, min_score) as mai:
        provider = global_provider()
        if isinstance(provider, TakesProcessors):
            capture.watch(provider)
        yield mai


def _min_score(pytestconfig: pytest.Config) -> float:
    given = pytestconfig.getoption("--weaklink-min-score") or pytestconfig.getini("weaklink_min_score")
    return share("weaklink_min_score", given) if given else Rules().min_score


def _config(pytestconfig: pytest.Config) -> Config:
    if named := pytestconfig.getini("weaklink_config"):
        beside = pytestconfig.inipath.parent if pytestconfig.inipath else pytestconfig.rootpath
        return load_config(beside / named, os.environ, {})
    file = pytestconfig.invocation_params.dir / DEFAULT_FILE
    return load_config(file if file.exists() else None, os.environ, {})
