"""Destinations that were removed from the settings: what still waits for them, and that nothing does any longer."""

from typing import TYPE_CHECKING

from weaklink_processor.config import Config
from weaklink_processor.errors import UsageError
from weaklink_processor.wiring.folder import ANALYST, QUEUE_FILE, STATE_FILE
from weaklink_processor.wiring.sending import destinations

if TYPE_CHECKING:
    from weaklink_processor.queue.store import QueueStore


def forget_others(config: Config, queue: "QueueStore") -> None:
    """Have nothing wait any longer for destinations that are not configured, as who drains the queue lets go of it.

    Raises:
        UsageError: something waits for one of them already.
    """
    from weaklink_processor.analyst.unsent import unsent

    others = sorted(queue.stats().consumers.keys() - {ANALYST, *destinations(config)})
    for consumer in others:
        waiting = f"{rows:,} rows of {QUEUE_FILE}" if (rows := queue.backlog(consumer).rows) else ""
        kind, _, name = consumer.partition(":")
        if not waiting and kind == "evaluations":  # those of rows that are let go of lie beside the queue
            made = unsent(config.data_dir / STATE_FILE, queue.mark(f"forward:{name}"))
            waiting = f"{made:,} evaluations of {STATE_FILE}" if made else ""
        if waiting:
            raise UsageError(
                f"{waiting} wait for {consumer}, which these settings do not have: "
                "name those of the service with --config, or have it run meanwhile"
            )
    for consumer in others:
        queue.forget(consumer)
