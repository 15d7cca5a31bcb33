"""Back-off: how long, and until when."""

from datetime import timedelta

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import DebugInfo, RetryInfo
from google.rpc.status_pb2 import Status
from tenacity import Future as Outcome
from tenacity import RetryCallState, Retrying

from weaklink_processor.emit.grpc_transport import failed
from weaklink_processor.emit.retry import Backoff, is_retryable


class Entry:
    """One entry of trailing metadata."""

    def __init__(self, key: str, value: bytes) -> None:
        self.key = key
        self.value = value


class Failure(grpc.RpcError):
    """What grpc raises for a status, with details as a server encodes them."""

    def __init__(self, code: grpc.StatusCode, details: bytes | None = None) -> None:
        super().__init__()
        self._code = code
        self._trailing = () if details is None else (Entry("other", b"\xff"), Entry("grpc-status-details-bin", details))

    def code(self) -> grpc.StatusCode:
        """Return the status."""
        return self._code

    def details(self) -> str:
        """Return the message."""
        return "no"

    def trailing_metadata(self) -> "tuple[Entry, ...]":  # type: ignore[override]
        """Return the entries."""
        return self._trailing


def with_retry_info(delay: Duration) -> bytes:
    """Return a google.rpc.Status with some other detail and a RetryInfo."""
    status = Status()
    status.details.add().Pack(DebugInfo(detail="x"))
    status.details.add().Pack(RetryInfo(retry_delay=delay))
    return bytes(status.SerializeToString())


def waits(backoff: Backoff, error: grpc.RpcError, attempts: int) -> list[float]:
    """Return the wait after each of so many failed attempts."""
    state = RetryCallState(Retrying(), None, (), {})
    found = []
    for attempt in range(1, attempts + 1):
        state.attempt_number = attempt
        state.outcome = Outcome.construct(attempt, failed(error), has_exception=True)
        found.append(backoff.wait(state))
    return found


def half(low: float, high: float) -> float:
    """Jitter that falls in the middle."""
    return (low + high) / 2


def test_back_off_grows_to_its_maximum() -> None:
    """5 s, then half as long again each time, at most 30 s, for any number of attempts."""
    got = waits(Backoff(jitter=half), Failure(grpc.StatusCode.UNAVAILABLE), 3000)
    assert got[:3] == [5.0, 7.5, 11.25]
    assert got[5:] == [30.0] * 2995


def test_back_off_is_jittered() -> None:
    """Between half and one and a half times the step, so that clients do not come back in one wave."""
    got = [waits(Backoff(), Failure(grpc.StatusCode.UNAVAILABLE), 1)[0] for _ in range(200)]
    assert min(got) >= 2.5
    assert max(got) <= 7.5
    assert max(got) - min(got) > 1.0


def test_the_servers_delay_is_the_least_and_the_first_step() -> None:
    """RetryInfo: wait at least so long, and longer each time it does not help."""
    error = Failure(grpc.StatusCode.UNAVAILABLE, with_retry_info(Duration(seconds=1, nanos=500_000_000)))
    assert waits(Backoff(jitter=half), error, 3) == [1.5, 2.25, 3.375]
    assert waits(Backoff(jitter=lambda low, _: low), error, 1) == [1.5]


def test_a_delay_beyond_our_maximum_is_honoured() -> None:
    """max_seconds bounds our own back-off, not what the server asks for."""
    error = Failure(grpc.StatusCode.UNAVAILABLE, with_retry_info(Duration(seconds=120)))
    assert waits(Backoff(jitter=half), error, 3) == [120.0] * 3


@pytest.mark.parametrize(
    ("details", "delay"),
    [
        (None, None),
        (b"", None),
        (b"\xff\xff", None),
        (with_retry_info(Duration()), 0.0),
        (with_retry_info(Duration(seconds=-5)), 0.0),
        (with_retry_info(Duration(nanos=250_000_000)), 0.25),
        (with_retry_info(Duration(seconds=2**62)), timedelta(hours=1).total_seconds()),
    ],
)
def test_what_the_server_asks_for(details: bytes | None, delay: float | None) -> None:
    """No details, nonsense and the absurd are all bounded; zero is not the same as none."""
    error = Failure(grpc.StatusCode.RESOURCE_EXHAUSTED, details)
    assert failed(error).delay == delay
    assert is_retryable(failed(error)) is (delay is not None)


def test_a_delay_of_zero_does_not_spin() -> None:
    """A server that asks for no delay gets our own back-off."""
    error = Failure(grpc.StatusCode.UNAVAILABLE, with_retry_info(Duration()))
    assert waits(Backoff(jitter=half), error, 1) == [5.0]


def test_other_exceptions_are_not_retried() -> None:
    """Only what a server or the transport answered is."""
    assert not is_retryable(ValueError("closed"))
