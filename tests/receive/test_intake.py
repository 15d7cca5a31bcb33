"""When new clients are welcome."""

import pytest

from receive.harness import GOOD, request
from weaklink_processor.errors import Overloaded
from weaklink_processor.receive.intake import Intake
from weaklink_processor.receive.limits import Limits
from weaklink_processor.receive.status import RETRY_SECONDS

pytestmark = pytest.mark.anyio


class World:
    """A clock, and a queue that may be full."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.full = False

    async def append(self, _payload: bytes) -> None:
        if self.full:
            raise Overloaded("full")

    def clock(self) -> float:
        return self.now


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def intake(world: World) -> Intake:
    return Intake(world.append, clock=world.clock)


async def overload(world: World, intake: Intake) -> None:
    world.full = True
    with pytest.raises(Overloaded):
        await intake.take(GOOD, Limits(), "grpc")


async def test_ready_from_the_start(intake: Intake) -> None:
    """An intake that has taken nothing yet is ready."""
    assert intake.ready


async def test_an_overload_passes_by_itself(world: World, intake: Intake) -> None:
    """With nobody sending, an intake is ready again after the time that clients were told to wait."""
    await overload(world, intake)
    world.now += RETRY_SECONDS - 0.001
    assert not intake.ready
    world.now += 0.001
    assert intake.ready


async def test_success_ends_an_overload(world: World, intake: Intake) -> None:
    """Data that was queued ends an overload; a request without spans, which is not queued, does not."""
    await overload(world, intake)
    await intake.take(request(), Limits(), "grpc")
    assert not intake.ready
    world.full = False
    await intake.take(GOOD, Limits(), "grpc")
    assert intake.ready


async def test_draining_is_not_ready(intake: Intake) -> None:
    """Once draining an intake is not ready, and still takes what is under way."""
    intake.drain()
    await intake.take(GOOD, Limits(), "grpc")
    assert not intake.ready
