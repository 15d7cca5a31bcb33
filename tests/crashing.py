"""`weaklink` for crash tests, called as `weaklink` is: its receiver and analyst die at points of `e2e.stops`.

They are restarted at once, and the lake is tidied up far more often than a real one.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import Any

from e2e.stops import POINTS, Watch
from weaklink_processor import cli

PACE = {"first_delay": 0.05, "most_delay": 0.1}
TIDY = {
    "lake.merging.SMALL_PARTS": 5,
    "lake.merging.DELTA_ROWS": 300,
    "analyst.step.GRACE": timedelta(seconds=2),
}


def main() -> None:
    match sys.argv[1]:
        case "serve":
            _start_these_children()
        case "receiver" | "analyst" as name:
            _set_points(Watch(), POINTS[name])
            if name == "analyst":
                _tidy_often()
    cli.main()


def _start_these_children() -> None:
    serve: Any = import_module("weaklink_processor.commands.serve")
    supervisor: Any = import_module("weaklink_processor.supervise.supervisor")
    run_service = serve.run_service
    serve.run_service = lambda config, _: run_service(config, (sys.executable, __file__))
    serve.supervise = partial(supervisor.supervise, pace=supervisor.Pace(**PACE))


def _tidy_often() -> None:
    for name, value in TIDY.items():
        owner, attribute = found(name)
        setattr(owner, attribute, value)


def _set_points(watch: Watch, points: tuple[str, ...]) -> None:
    for point in points:
        side, name = point.split(" ", 1)
        if is_function(name):
            owner, attribute = found(name)
            setattr(owner, attribute, watch.stopping(name, getattr(owner, attribute), [side]))
    if "before the commit" in points:
        _set_points_at_commits(watch)
    if "before the outbox's progress" in points:
        _set_points_at_progress(watch)


def is_function(name: str) -> bool:
    """Whether a point is at a function; the others have names in words."""
    return not name.startswith("the ")


def found(name: str) -> tuple[Any, str]:
    """Where `room.module.name` or `room.module.Class.name` is; AttributeError."""
    room, module, *inside, attribute = name.split(".")
    owner: Any = import_module(f"weaklink_processor.{room}.{module}")
    for each in inside:
        owner = getattr(owner, each)
    getattr(owner, attribute)
    return owner, attribute


def _set_points_at_commits(watch: Watch) -> None:
    state: Any = import_module("weaklink_processor.analyst.state")
    original = state.State.transaction

    @contextmanager
    def transaction(self: Any) -> Iterator[None]:
        with original(self):
            yield
            watch.reach("before the commit")
        watch.reach("after the commit")

    state.State.transaction = transaction


def _set_points_at_progress(watch: Watch) -> None:
    feeds: Any = import_module("weaklink_processor.analyst.feeds")

    def with_points(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any, **named: Any) -> Any:
            feed = make(*args, **named)
            return replace(feed, advance=watch.stopping(name, feed.advance))

        return made

    feeds.outbox_feed = with_points("the outbox's progress", feeds.outbox_feed)
    feeds.forward_feed = with_points("the forwarder's progress", feeds.forward_feed)


if __name__ == "__main__":
    main()
