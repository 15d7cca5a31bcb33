"""An engine of its own for each test."""

from collections.abc import Iterator

import pytest

from engine_harness import Analysis


@pytest.fixture
def analysis() -> Iterator[Analysis]:
    """An empty analysis."""
    with Analysis() as fresh:
        yield fresh
