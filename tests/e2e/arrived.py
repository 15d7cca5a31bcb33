"""What a backend has got, span by span: originals and verdicts, and what came more than once."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from e2e.workload import spans_of
from sink import OtlpSink


class Verdict(NamedTuple):
    """Which evaluation an EVALUATOR span tells of."""

    name: str
    scope: str
    trace_id: str
    span_id: str
    revision: int


@dataclass(slots=True)
class Arrived:
    """Each look reads on where the last one ended. A span's key is its trace id and its span id, 24 bytes."""

    sink: OtlpSink
    altered: set[bytes] = field(default_factory=set)  # came again, and not the same in every byte
    _read: int = 0
    _first: dict[bytes, bytes] = field(default_factory=dict)
    _times: Counter[bytes] = field(default_factory=Counter)
    _verdicts: dict[bytes, Verdict] = field(default_factory=dict)

    def originals(self) -> set[bytes]:
        """The keys of the spans that weaklink did not make."""
        self._look()
        return self._first.keys() - self._verdicts.keys()

    def verdicts(self) -> set[Verdict]:
        """What the spans that weaklink made tell; each evaluation has one span, however often that came."""
        self._look()
        found = set(self._verdicts.values())
        assert len(found) == len(self._verdicts), "two spans tell of one evaluation"
        return found

    def again(self, *, own: bool) -> int:
        """How many came that were there already, of the spans that weaklink made or of the others."""
        return sum(times - 1 for key, times in self._times.items() if (key in self._verdicts) is own)

    def _look(self) -> None:
        requests = self.sink.requests[self._read :]
        self._read += len(requests)
        for span in (span for request in requests for span in spans_of(request)):
            self._note(span.trace_id + span.span_id, span)

    def _note(self, key: bytes, span: Span) -> None:
        content = span.SerializeToString(deterministic=True)
        self._times[key] += 1
        if self._first.setdefault(key, content) != content:
            self.altered.add(key)
        if span.name.startswith("evaluators.mai_"):
            self._verdicts[key] = _verdict(span)


def _verdict(span: Span) -> Verdict:
    attributes = {each.key: each.value.string_value for each in span.attributes}
    metadata = json.loads(attributes["annotations.0.annotation.metadata"])
    (target,) = span.links
    return Verdict(
        attributes["eval.name"], metadata["scope"], target.trace_id.hex(), target.span_id.hex(), metadata["revision"]
    )
