"""A span that can do no harm: without a tracer, or with a broken one, it is nothing."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import Token
from types import TracebackType
from typing import Protocol, Self

from opentelemetry.context import Context, attach, detach, get_current
from opentelemetry.trace import Link, Span, Tracer, set_span_in_context
from opentelemetry.trace.status import Status, StatusCode

from weaklink_analysis.emit.guard import swallow
from weaklink_analysis.emit.known import KnownSpans

Value = str | bool | int | float | Sequence[str]
_NOT_MADE = "a span could not be made"


class Emits(Protocol):
    """Where spans come from."""

    known: KnownSpans

    @property
    def tracer(self) -> Tracer:
        """The tracer."""

    @property
    def is_on(self) -> bool:
        """Whether there is anybody to emit to."""


class SafeSpan(ABC):
    """A context manager around what the agent does, `with` or `async with`.

    The agent's exceptions pass through, and mark the span ERROR. Subclasses say what is on the span. What fails in
    that is swallowed; what the agent calls directly, `__init__` first of all, only keeps its arguments.
    """

    __slots__ = ("_emitter", "_span", "_token")

    def __init__(self, emitter: Emits) -> None:
        self._emitter = emitter
        self._span: Span | None = None
        self._token: Token[Context] | None = None

    @abstractmethod
    def _name(self) -> str:
        """The span's name."""

    def _first(self) -> Mapping[str, Value]:
        """Attributes that are known when the span starts."""
        return {}

    def _last(self) -> Mapping[str, Value]:
        """Attributes that are known when it ends; called once, before `_links` and `_done`."""
        return {}

    def _all(self) -> Mapping[str, Value]:
        """Attributes of a span that ends as it starts."""
        return {**self._first(), **self._last()}

    def _links(self) -> Sequence[Link]:
        return ()

    def _fit(self, span: Span) -> None:  # noqa: B027 - most attributes are short
        """Called when all attributes are set and the span has not ended: the SDK may have cut them."""

    def _context(self, span: Span) -> Context:
        """The context of what runs inside."""
        return set_span_in_context(span)

    def _done(self, span: Span) -> None:  # noqa: B027 - most have nothing left to do then
        """Called when the body ended without an error."""

    def __enter__(self) -> Self:
        try:
            if self._emitter.is_on:
                self._span = self._start(self._first())
                if self._span.get_span_context().is_valid:
                    self._token = attach(self._context(self._span))
        except Exception as error:  # noqa: BLE001
            swallow(_NOT_MADE, error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        span, token = self._span, self._token
        if span is None:
            return
        self._span = self._token = None
        try:
            if span.is_recording():
                self._finish(span, error)
        except Exception as fault:  # noqa: BLE001
            swallow("a span could not be finished", fault)
        try:
            if token is not None:
                detach(token)
            span.end()
        except Exception as fault:  # noqa: BLE001
            swallow("a span could not be ended", fault)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    def emit(self) -> None:
        """Say it at once, without a body: samplers see all of it then."""
        try:
            if self._emitter.is_on:
                span = self._start(self._all(), self._links())
                try:
                    self._fit(span)
                finally:
                    span.end()
                self._done(span)
        except Exception as error:  # noqa: BLE001
            swallow(_NOT_MADE, error)

    def _start(self, attributes: Mapping[str, Value], links: Sequence[Link] = ()) -> Span:
        # The SDK looks for the context that it is not given, each time that it needs it.
        return self._emitter.tracer.start_span(self._name(), get_current(), attributes=attributes, links=links)

    def _finish(self, span: Span, error: BaseException | None) -> None:
        failed = error is not None and not isinstance(error, GeneratorExit)
        if error is not None and failed:
            _mark(span, error)
        span.set_attributes(self._last())
        self._fit(span)
        for link in self._links():
            span.add_link(link.context, link.attributes)
        if not failed:
            self._done(span)


def _mark(span: Span, error: BaseException) -> None:
    description = type(error).__name__
    with suppress(Exception):  # an exception's own text may fail
        description = f"{description}: {error}"
    span.set_status(Status(StatusCode.ERROR, description))
    with suppress(Exception):
        span.record_exception(error)
