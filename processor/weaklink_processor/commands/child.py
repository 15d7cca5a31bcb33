"""What the two child processes of `serve` have in common."""

import logging
import os
import sys
import threading
from collections.abc import Callable

import structlog

from weaklink_processor import log
from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError, WeaklinkError
from weaklink_processor.supervise import lifeline
from weaklink_processor.supervise.news import News

Body = Callable[[Config, threading.Event, Callable[[], None], News], None]


def run_child(name: str, body: Body) -> None:
    """Run the body with the settings that the parent sends, until the parent says stop or is gone.

    A fault that a user can mend is told to the parent, with exit code 2; any other is logged, with exit code 1.
    """
    stop = lifeline.stop_event()
    line = lifeline.receive_settings()
    if not line:
        raise UsageError(f"`weaklink {name}` is a part of `weaklink serve`, which starts it")
    config = Config.model_validate_json(line)
    lifeline.watch(stop)
    log.configure(config.log, name, lambda text: lifeline.tell_parent({"error": text}))
    news = News(metrics=config.telemetry.metrics.wanted)
    try:
        with news.telling():
            body(config, stop, lambda: lifeline.tell_parent({"ready": name}), news)
    except WeaklinkError as error:
        lifeline.tell_parent({"fault": str(error)})
        sys.exit(2)
    except Exception:  # noqa: BLE001  logged whole, and the exit code tells the parent
        structlog.get_logger().exception("crashed")
        sys.exit(1)
    # All is closed. The interpreter would take a fifth of a second of CPU to take itself apart.
    logging.shutdown()
    os._exit(0)
