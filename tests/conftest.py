"""What all tests share."""

import os

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, which is what the servers run on."""
    return "asyncio"


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own WEAKLINK_ variables change no test."""
    for name in [name for name in os.environ if name.startswith("WEAKLINK_")]:
        monkeypatch.delenv(name)
