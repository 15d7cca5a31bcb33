"""Stand before an object: its methods do what they did, and what they did is told."""

import copy
import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from types import MethodType
from typing import Any, NamedTuple, TypeVar

from weaklink_analysis.emit.emitter import Emitter
from weaklink_analysis.emit.guard import swallow
from weaklink_analysis.emit.operations import MemorySpan

T = TypeVar("T")


class Telling(NamedTuple):
    """How one method is told."""

    operation: str | None
    """Of the span around it; None: what it was shows when it is done."""
    tell: Callable[..., None]
    """Called with the span, what the method returned, and the method's own arguments."""


class Wrapper:
    """What it stands before shines through: attributes, and the class that `isinstance` sees.

    Special methods do not: `async with` and the like are for what is wrapped.
    """

    def __init__(
        self,
        wrapped: object,
        tell: Mapping[str, Callable[[Any], object]],
        through: Collection[str],
        again: Callable[[Any], object],
    ) -> None:
        """`tell` has what makes a method, by its name, one that is told; `again` wraps another thing as this one."""
        object.__setattr__(self, "_weaklink_wrapped", wrapped)
        object.__setattr__(self, "_weaklink_again", again)
        for name in {*through, *tell}:
            if hasattr(wrapped, name):
                method = getattr(wrapped, name)
                own = isinstance(method, MethodType) and method.__self__ is wrapped  # else it was put in its place
                if own and name in through:
                    method = MethodType(method.__func__, self)
                self.__dict__[name] = tell[name](method) if name in tell else method

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._weaklink_wrapped)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_weaklink_wrapped"], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._weaklink_wrapped, name, value)
        self.__dict__.pop(name, None)  # a method that was replaced is told no more

    def __delattr__(self, name: str) -> None:
        delattr(self._weaklink_wrapped, name)

    def __dir__(self) -> list[str]:
        return dir(self._weaklink_wrapped)

    def __repr__(self) -> str:
        return repr(self._weaklink_wrapped)

    def __copy__(self) -> object:
        return self._weaklink_again(copy.copy(self._weaklink_wrapped))

    def __deepcopy__(self, memo: dict[int, Any]) -> object:
        return self._weaklink_again(copy.deepcopy(self._weaklink_wrapped, memo))


def wrapped(  # noqa: PLR0917
    thing: T,
    system: str,
    tellings: Mapping[str, Telling],
    emitter: Emitter,
    store: str | None,
    through: Collection[str] = (),
) -> T:
    """Wrap those of its methods that are listed; the thing itself, if that cannot be done.

    Methods that are to go `through` call those: they run on the wrapper, so that what they do is told.
    """
    try:
        tell = {
            name: partial(_told, f"{telling.operation or name} {system}", telling, emitter, store)
            for name, telling in tellings.items()
        }
        again = partial(wrapped, system=system, tellings=tellings, emitter=emitter, store=store, through=through)
        return Wrapper(thing, tell, through, again)  # type: ignore[return-value]
    except Exception as error:  # noqa: BLE001
        swallow(f"{system} could not be wrapped", error)
        return thing


def _told(
    title: str, telling: Telling, emitter: Emitter, store: str | None, method: Callable[..., Any]
) -> Callable[..., Any]:
    def begin() -> MemorySpan:
        span = MemorySpan(emitter, telling.operation, store)
        span.title = title
        return span

    def tell(span: MemorySpan, result: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            if emitter.is_on:
                telling.tell(span, result, *args, **kwargs)
        except Exception as error:  # noqa: BLE001
            swallow(f"{title} could not be told", error)

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        with begin() as span:
            args, kwargs = _readable(args, kwargs)
            result = method(*args, **kwargs)
            tell(span, result, args, kwargs)
        return result

    @functools.wraps(method)
    async def acall(*args: Any, **kwargs: Any) -> Any:
        with begin() as span:
            args, kwargs = _readable(args, kwargs)
            result = await method(*args, **kwargs)
            tell(span, result, args, kwargs)
        return result

    return acall if inspect.iscoroutinefunction(method) else call


def _readable(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same arguments; what can be read only once becomes a list, for it is read twice."""

    def again(value: Any) -> Any:
        return [*value] if isinstance(value, Iterator) else value

    return tuple(map(again, args)), {name: again(value) for name, value in kwargs.items()}
