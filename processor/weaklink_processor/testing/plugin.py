"""What pytest loads of weaklink: the fixture `mai` and its options.

Every suite of an environment that has weaklink imports this, so it imports pytest and the standard library; the rest
comes with the first test that asks for the fixture.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from weaklink_processor.testing.mai import Mai

_MIN_SCORE = "The score below which a decision or a trace fails: that of `mai` where a test gives none.  [default: 0.7]"
_CONFIG = "weaklink's settings, relative to this file.  [default: weaklink.yaml where pytest was started, if there]"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings of the fixture."""
    group = parser.getgroup("weaklink", "weaklink (the fixture mai)")
    group.addoption("--weaklink-min-score", metavar="SCORE", help=_MIN_SCORE)
    parser.addini("weaklink_min_score", _MIN_SCORE, type="string", default=None)
    parser.addini("weaklink_config", _CONFIG, type="string", default=None)


@pytest.fixture
def mai(pytestconfig: pytest.Config) -> "Iterator[Mai]":
    """Capture the spans of the code under test, and judge how it uses memory: `mai.assert_passes()`."""
    from weaklink_processor.testing.opening import opened

    with opened(pytestconfig) as one:
        yield one
