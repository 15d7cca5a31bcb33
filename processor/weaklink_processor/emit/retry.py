"""After how long a failed export is tried again.

https://opentelemetry.io/docs/specs/otlp/#failures
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import SystemRandom
from typing import cast

from tenacity import RetryCallState, stop_before_delay, stop_never, wait_exponential
from tenacity.stop import stop_base

from weaklink_processor.emit.transport import Failed


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential back-off with jitter; the server's own delay, when it names one, is its first step and its least."""

    initial_seconds: float = 5.0
    max_seconds: float = 30.0
    multiplier: float = 1.5
    max_elapsed_seconds: float = 0.0  # 0: for ever
    jitter: Callable[[float, float], float] = SystemRandom().uniform  # (low, high) -> between them

    def wait(self, state: RetryCallState) -> float:
        """Return the seconds to wait after the failed attempt."""
        delay = failure(state).delay or 0.0
        first = delay or self.initial_seconds
        step = wait_exponential(multiplier=first, max=self.max_seconds, exp_base=self.multiplier)(state)
        return max(delay, self.jitter(0.5 * step, 1.5 * step))

    def stop(self) -> stop_base:
        """Return the rule that gives a request up."""
        return stop_before_delay(self.max_elapsed_seconds) if self.max_elapsed_seconds else stop_never


def is_retryable(error: BaseException) -> bool:
    """Tell whether OTLP allows to send the request again after this error."""
    return isinstance(error, Failed) and error.retryable


def failure(state: RetryCallState) -> Failed:
    """Return the error of the attempt that just failed."""
    # is_retryable lets nothing else come to a wait
    return cast("Failed", state.outcome.exception() if state.outcome else None)
