"""Queue stores that a test can hold up or make fail."""

import threading
from typing import Any

from weaklink_processor.queue.store import QueueStore


class GatedStore(QueueStore):
    """A store whose commits wait for `gate`, so that a test can hold one open; `error` is what they then fail with."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.gate = threading.Event()
        self.error: Exception | None = None

    def append(self, *args: Any, **kwargs: Any) -> int:
        self.gate.wait()
        if self.error is not None:
            raise self.error
        return super().append(*args, **kwargs)
