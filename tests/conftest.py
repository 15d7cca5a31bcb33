"""What all tests share."""

import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import small_disk as disks
from turns import turn

# How long an example takes says more of what else runs on the machine; a test that hangs is ended as any other is.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_configure() -> None:
    """Have Ctrl-C reach what tests start, also where a shell's background job, whose children ignore it, runs them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have tests that are marked `alone` run beside no other; the wait is not part of a test's time."""
    with turn(alone=item.get_closest_marker("alone") is not None):
        return (yield)


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, which is what the servers run on."""
    return "asyncio"


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own WEAKLINK_ variables change no test."""
    for name in [name for name in os.environ if name.startswith("WEAKLINK_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def small_disk(tmp_path: Path) -> disks.SmallDisk | None:
    """A disk of 64 MB; outside of a namespace of its own there is none, and the test is not called."""
    path = tmp_path / "disk"
    path.mkdir()
    return disks.mounted(path, mib=64) if disks.is_inside() else None


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that needs a small disk inside a namespace of its own, instead of here."""
    if "small_disk" not in pyfuncitem.fixturenames or disks.is_inside():
        return None
    disks.run_inside(pyfuncitem.nodeid)
    return True
