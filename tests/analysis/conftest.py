"""An engine of its own for each test."""

import pytest
from engine_harness import Analysis


@pytest.fixture
def analysis() -> Analysis:
    """An empty analysis."""
    return Analysis()
