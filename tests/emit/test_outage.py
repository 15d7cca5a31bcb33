"""Log lines that come once."""

import structlog
from structlog.testing import capture_logs

from weaklink_processor.emit.outage import Outage, Throttle


class Clock:
    """A clock that the test moves."""

    now = 0.0

    def __call__(self) -> float:
        """Return the time that the test set."""
        return self.now


def test_an_outage_is_two_lines() -> None:
    """However many failures and successes there are, it is said once that it began and once that it ended."""
    with capture_logs() as lines:
        outage = Outage(structlog.get_logger(), "destination")
        outage.end()
        for _ in range(5):
            outage.begin(code="UNAVAILABLE")
        assert outage.ongoing
        for _ in range(5):
            outage.end()
    assert [line["event"] for line in lines] == ["destination_away", "destination_back"]
    assert lines[0]["code"] == "UNAVAILABLE"
    assert not outage.ongoing


def test_flapping_is_said_once_a_period() -> None:
    """Outages within the period of the one that was said are silent; one that lasts past it is said."""
    clock = Clock()
    with capture_logs() as lines:
        outage = Outage(structlog.get_logger(), "destination", Throttle(60.0, clock))
        for second in range(60):
            clock.now = float(second)
            outage.begin()
            outage.end()
        assert len(lines) == 2
        outage.begin()
        clock.now = 60.0
        outage.begin()
    assert [line["event"] for line in lines] == ["destination_away", "destination_back", "destination_away"]
