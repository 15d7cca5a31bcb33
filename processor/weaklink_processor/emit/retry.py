"""Which failures of an export are worth another try, and after how long.

https://opentelemetry.io/docs/specs/otlp/#failures
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import SystemRandom
from typing import cast

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from tenacity import RetryCallState, stop_before_delay, stop_never, wait_exponential
from tenacity.stop import stop_base

RETRYABLE = frozenset(
    {
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS,
    }
)
"""Always; RESOURCE_EXHAUSTED besides, when the server says with RetryInfo that it will recover."""

_LONGEST_SERVER_DELAY = 3600.0  # seconds; a server that asks for more is asked again after an hour


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
        delay = server_delay(failure(state)) or 0.0
        first = delay or self.initial_seconds
        step = wait_exponential(multiplier=first, max=self.max_seconds, exp_base=self.multiplier)(state)
        return max(delay, self.jitter(0.5 * step, 1.5 * step))

    def stop(self) -> stop_base:
        """Return the rule that gives a request up."""
        return stop_before_delay(self.max_elapsed_seconds) if self.max_elapsed_seconds else stop_never


def is_retryable(error: BaseException) -> bool:
    """Tell whether OTLP allows to send the request again after this error."""
    match error:
        case grpc.RpcError():
            exhausted = error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            return error.code() in RETRYABLE or (exhausted and server_delay(error) is not None)
        case _:
            return False


def server_delay(error: grpc.RpcError) -> float | None:
    """Return the seconds that the server's RetryInfo asks for; None without one."""
    for info in _retry_infos(error):
        seconds: float = info.retry_delay.seconds + info.retry_delay.nanos / 1e9
        return min(max(seconds, 0.0), _LONGEST_SERVER_DELAY)
    return None


def failure(state: RetryCallState) -> grpc.RpcError:
    """Return the error of the attempt that just failed."""
    # is_retryable lets nothing else come to a wait
    return cast("grpc.RpcError", state.outcome.exception() if state.outcome else None)


def _retry_infos(error: grpc.RpcError) -> Iterator[RetryInfo]:
    details = [entry.value for entry in error.trailing_metadata() or () if entry.key == "grpc-status-details-bin"]
    try:
        for detail in Status.FromString(details[0] if details else b"").details:
            info = RetryInfo()
            if detail.Unpack(info):
                yield info
    except DecodeError:  # a server's malformed details are as good as none
        return
