"""How long it takes from a trace's last span until the verdict on the trace is where verdicts are sent."""

from dataclasses import dataclass

import numpy as np

from downstream import Verdicts
from generator import Ended

MOST_AFTER_QUIET = 1.0


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from the acknowledgement of a trace's last span to the first EVALUATOR span on the trace at the sink.

    One that came before the last span was acknowledged is no verdict on the whole trace, and does not count.
    """

    quiet_seconds: float  # the quiet period in force
    traces: int  # told of
    untold: int  # sent, but without memory operations or without a score; the sink waits for none of these
    p50: float
    p99: float
    max: float

    @property
    def kept(self) -> bool:
        """Whether 99 of 100 verdicts come within the quiet period and a second."""
        return self.p99 <= self.quiet_seconds + MOST_AFTER_QUIET

    def __str__(self) -> str:
        """Say all of it in one line."""
        most = self.quiet_seconds + MOST_AFTER_QUIET
        return (
            f"p50 {self.p50:.2f} s   p99 {self.p99:.2f} s   max {self.max:.2f} s after a trace's last span, "
            f"{self.traces:,} traces; quiet period {self.quiet_seconds:g} s: "
            f"p99 is {'within' if self.kept else 'NOT within'} {most:g} s"
        )


def latency(ended: Ended, verdicts: Verdicts, quiet_seconds: float) -> Latency:
    """Put ends and arrivals together."""
    keys, moments = verdicts.arrived()
    at = np.searchsorted(ended.traces, keys).clip(max=len(ended.traces) - 1)
    after = moments - ended.moments[at]
    counts = (ended.traces[at] == keys) & (after >= 0)
    first = np.full(len(ended.traces), np.inf)
    np.minimum.at(first, at[counts], after[counts])
    told = first[np.isfinite(first)]
    p50, p99, most = np.percentile(told, (50, 99, 100)) if len(told) else (float("nan"),) * 3
    return Latency(quiet_seconds, len(told), len(first) - len(told), float(p50), float(p99), float(most))
