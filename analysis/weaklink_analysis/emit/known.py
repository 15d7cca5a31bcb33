"""Which span wrote a memory, of those that this process wrote last."""

from opentelemetry.trace import SpanContext

MOST = 10_000


class KnownSpans:
    """Memory to the span that wrote it; the memories that were written longest ago are forgotten."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._spans: dict[tuple[str | None, str], SpanContext] = {}

    def remember(self, store: str | None, memory_id: str, span: SpanContext) -> None:
        """Note that this span wrote it."""
        key = (store, memory_id)
        self._spans.pop(key, None)
        self._spans[key] = span
        while len(self._spans) > self._most:
            self._spans.pop(next(iter(self._spans)), None)

    def find(self, store: str | None, memory_id: str) -> SpanContext | None:
        """Return the span that wrote it last."""
        return self._spans.get((store, memory_id))
