"""Who acts, in which session and conversation: known to all that runs inside, by OpenTelemetry's context."""

from typing import NamedTuple

from opentelemetry.context import Context, create_key, get_value, set_value

_KEY = create_key("weaklink.scope")


class Scope(NamedTuple):
    """What memory operations inherit."""

    agent: str | None = None
    session: str | None = None
    conversation: str | None = None

    def within(self, outer: "Scope") -> "Scope":
        """This scope, and the outer one's values where it has none."""
        return Scope(*(own or inherited for own, inherited in zip(self, outer, strict=True)))


_NOBODY = Scope()


def current_scope() -> Scope:
    """Return the scope of the code that runs now."""
    value = get_value(_KEY)
    return value if isinstance(value, Scope) else _NOBODY


def with_scope(scope: Scope, context: Context) -> Context:
    """Return the context with this scope in it."""
    return set_value(_KEY, scope, context)
