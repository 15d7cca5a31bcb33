"""The spans that begin and end in this process while a test runs, and belong to it.

A span belongs to the test in which its parent began, else to the one that runs when it begins. So what a thread of an
earlier test goes on to do is not taken for the work of this one.
"""

import threading
import weakref
from collections.abc import Sequence
from typing import Protocol, Self, cast, runtime_checkable

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import ProxyTracerProvider, get_current_span, get_tracer_provider, set_tracer_provider


@runtime_checkable
class TakesProcessors(Protocol):
    """A tracer provider of the SDK, or one that wraps such a provider."""

    def add_span_processor(self, span_processor: SpanProcessor) -> None:
        """Have a processor hear of every span that begins and ends."""


class Capture:
    """What belongs to one test."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[tuple[int, int], str] = {}
        self._ended: list[ReadableSpan] = []
        self._listeners: list[_Listener] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._listeners:
            self._listeners.pop().leave(self)

    def watch(self, provider: TakesProcessors) -> None:
        """Take the spans of this provider that begin from now on; twice is fine."""
        listener = _listener(provider)
        if listener not in self._listeners:
            listener.enter(self)
            self._listeners.append(listener)

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        """Those that have ended, in this order."""
        with self._lock:
            return tuple(self._ended)

    @property
    def unfinished(self) -> Sequence[str]:
        """The names of spans that have begun and not ended."""
        with self._lock:
            return tuple(self._open.values())

    def began(self, span: Span) -> None:
        """Hear of a span that belongs here."""
        with self._lock:
            self._open[_key(span)] = span.name

    def ended(self, span: ReadableSpan) -> None:
        """Take a span, if it belongs here."""
        with self._lock:
            if self._open.pop(_key(span), None) is not None:
                self._ended.append(span)


class _Listener(SpanProcessor):
    """What a provider tells, handed on to the test that it belongs to; without a test, to nobody."""

    def __init__(self) -> None:
        self._captures: tuple[Capture, ...] = ()
        """Other threads read it: it is replaced, never changed."""

    def enter(self, capture: Capture) -> None:
        self._captures = (*self._captures, capture)

    def leave(self, capture: Capture) -> None:
        self._captures = tuple(one for one in self._captures if one is not capture)

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        captures = self._captures
        owner = _owner(parent_context) or (captures[-1] if captures else None)
        if owner is None:
            return
        _OWNERS[span] = owner
        if owner in captures:
            owner.began(span)

    def on_end(self, span: ReadableSpan) -> None:
        for capture in self._captures:
            capture.ended(span)


_OWNERS: weakref.WeakKeyDictionary[Span, Capture] = weakref.WeakKeyDictionary()
_LISTENERS: dict[int, _Listener] = {}
"""By the id of a provider that lives: what is added to a provider cannot be taken away, and one is enough."""


def _owner(context: Context | None) -> Capture | None:
    parent = get_current_span(context)
    return _OWNERS.get(parent) if isinstance(parent, Span) else None


def _listener(provider: TakesProcessors) -> _Listener:
    listener = _LISTENERS.get(id(provider))
    if listener is None:
        listener = _LISTENERS[id(provider)] = _Listener()
        weakref.finalize(provider, _LISTENERS.pop, id(provider), None)
        provider.add_span_processor(listener)
    return listener


def _key(span: ReadableSpan) -> tuple[int, int]:
    context = span.get_span_context()
    return (context.trace_id, context.span_id) if context else (0, 0)


def own_provider() -> TracerProvider:
    """Make a provider that keeps every span and sends nothing anywhere."""
    return TracerProvider(sampler=ALWAYS_ON, shutdown_on_exit=False)


def global_provider() -> object:
    """Return the global tracer provider; where nobody has set one it is one of ours, for good: it is set only once."""
    if isinstance(get_tracer_provider(), ProxyTracerProvider):
        set_tracer_provider(own_provider())
    return cast("object", get_tracer_provider())
