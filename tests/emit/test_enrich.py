"""Attributes appended to spans of requests in any encoding."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from decode import wire
from decode.wire import FIXED32, FIXED64, INTEGERS, LENGTH, UNKNOWN, VARINT, field, group, message, varint
from weaklink_processor.emit.enrich import PREFIX, LookUp, enrich, span_keys
from weaklink_processor.emit.feed import ForwardRow, MemoryNumbers, SpanKey
from weaklink_processor.emit.pack import forward_parcels

GUESS = MemoryNumbers(0.25, "FILTER", 3, 0.25, "guess é")
NOTE = MemoryNumbers(0.0, "", 0, None, "")
SEEDS = st.integers(0, 2**32)


def attributes(numbers: MemoryNumbers) -> bytes:
    """The five attributes as the generated classes write them; a null one is left out."""
    kinds = {float: "double_value", str: "string_value", int: "int_value"}
    span = Span()
    for name, value in asdict(numbers).items():
        if value is not None:
            span.attributes.append(KeyValue(key=PREFIX + name, value=AnyValue(**{kinds[type(value)]: value})))
    return span.SerializeToString()


@dataclass
class Message:
    """A length-delimited message as a sender wrote it: its tag, how wide its length is, what it is made of."""

    tag: bytes
    width: int
    parts: "list[bytes | Message]"
    key: SpanKey | None = None  # of a span

    def content(self, look_up: LookUp) -> bytes:
        """The message with the attributes of the spans that the look-up knows; as it was written if it knows none."""
        numbers = look_up(self.key) if self.key else None
        parts = [part if isinstance(part, bytes) else part.enclosed(look_up) for part in self.parts]
        return b"".join(parts) + (attributes(numbers) if numbers else b"")

    def enclosed(self, look_up: LookUp) -> bytes:
        """The same with its tag and length; the length is only written anew if the content is another."""
        content = self.content(look_up)
        same = content == self.content(none)
        return self.tag + varint(len(content), self.width if same else 1) + content


def none(_: SpanKey) -> None:
    """The look-up that knows no span."""


def some(seed: int) -> LookUp:
    """A look-up that knows about two thirds of the spans."""
    return lambda key: Random(f"{seed} {key!r}").choice([GUESS, NOTE, None])


def enclosing(rng: Random, number: int, parts: "list[bytes | Message]", key: SpanKey | None = None) -> Message:
    """A message whose tag and length may be longer than they need to be."""
    return Message(varint(number << 3 | LENGTH, rng.choice([1, 1, 2, 5])), rng.choice([1, 1, 2, 5]), parts, key)


def nasty_span(rng: Random) -> Message:
    """A span with its ids somewhere, maybe twice, or in a group or as another type besides."""
    traces = [bytes([rng.randrange(1, 4)]) * 16 for _ in range(rng.choice([1, 1, 2]))]
    spans = [bytes([rng.randrange(1, 4)]) * 8 for _ in range(rng.choice([1, 1, 2]))]
    stray = [
        field(1, varint(7), VARINT),
        field(2, b"x" * 4, FIXED32),
        group(2, field(2, b"x" * 8) + group(1) + field(9, b"")),
        varint(99 << 3 | VARINT, 5) + varint(rng.choice(INTEGERS), 10),
        field(98, b"".join(varint(number) for number in range(300))),  # packed
        field(9, message(rng, KeyValue.DESCRIPTOR, 3)),
        field(9, KeyValue(key=f"{PREFIX}chain_depth", value=AnyValue(string_value="the sender's")).SerializeToString()),
        field(11, message(rng, Span.Event.DESCRIPTOR, 3)),
        field(16, rng.randbytes(4), FIXED32),
        field(7, rng.randbytes(8), FIXED64),
        *UNKNOWN,
    ]
    ids = [field(1, trace) for trace in traces], [field(2, span) for span in spans]
    others = rng.sample(stray, rng.randrange(len(stray)))
    parts = shuffled(rng, *ids, *([other] for other in others))
    return enclosing(rng, 2, [*parts], (traces[-1], spans[-1]))


def shuffled(rng: Random, *runs: list[bytes]) -> list[bytes]:
    """All parts in any order, but for that within each run."""
    order = [index for index, run in enumerate(runs) for _ in run]
    rng.shuffle(order)
    left = [iter(run) for run in runs]
    return [next(left[index]) for index in order]


def nasty(rng: Random, number: int, child_number: int, child: Callable[[Random], Message]) -> Message:
    """A message with some children, among fields that only look like them."""
    lookalikes = [
        *UNKNOWN,
        field(child_number, varint(5), VARINT),
        group(child_number, field(child_number, field(1, b"\1" * 16) + field(2, b"\1" * 8))),
    ]
    parts: list[bytes | Message] = [child(rng) for _ in range(rng.randrange(4))]
    parts += rng.sample(lookalikes, rng.randrange(4))
    rng.shuffle(parts)
    return enclosing(rng, number, parts)


def nasty_request(seed: int) -> Message:
    """A request of any shape that upb takes, its own tag and length aside."""

    def scope(rng: Random) -> Message:
        return nasty(rng, 2, 2, nasty_span)

    def resource(rng: Random) -> Message:
        return nasty(rng, 1, 2, scope)

    return nasty(Random(seed), 0, 1, resource)


def spans_of(request: ExportTraceServiceRequest) -> Iterator[Span]:
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            yield from scope.spans


@settings(max_examples=300)
@given(SEEDS)
def test_only_attributes_and_enclosing_lengths_differ(seed: int) -> None:
    """Every byte is that of the request, but the attributes at the end of each known span and the lengths around."""
    request, look_up = nasty_request(seed), some(seed)
    assert enrich(request.content(none), look_up) == request.content(look_up)


@settings(max_examples=300)
@given(SEEDS, st.booleans())
def test_without_our_attributes_it_parses_as_it_did(seed: int, wild: bool) -> None:  # noqa: FBT001
    """Each known span ends with its attributes; taken away, they leave the message that was sent."""
    request = wire.request(seed) if wild else nasty_request(seed).content(none)
    look_up = some(seed)
    before = ExportTraceServiceRequest.FromString(request)
    after = ExportTraceServiceRequest.FromString(enrich(request, look_up))
    for sent, span in zip(spans_of(before), spans_of(after), strict=True):
        numbers = look_up((sent.trace_id, sent.span_id))
        ours = span.attributes[len(sent.attributes) :]
        assert Span(attributes=ours).SerializeToString() == (attributes(numbers) if numbers else b"")
        del span.attributes[len(sent.attributes) :]
    assert after.SerializeToString(deterministic=True) == before.SerializeToString(deterministic=True)


@given(SEEDS)
def test_a_request_that_needs_nothing_is_the_very_same(seed: int) -> None:
    """No copy, let alone another encoding."""
    request = nasty_request(seed).content(none)
    assert enrich(request, none) is request


@given(SEEDS)
def test_the_spans_that_are_asked_for_are_those_that_are_looked_up(seed: int) -> None:
    """Both ways to read a request find the same ids in the same order."""
    request = nasty_request(seed).content(none)
    looked_up: list[SpanKey] = []
    enrich(request, looked_up.append)
    assert list(span_keys(request)) == looked_up


@pytest.mark.parametrize("size", [0, 100, 127, 128, 16_300, 16_383, 16_384, 2_097_151])
def test_lengths_of_every_width(size: int) -> None:
    """A length that needs one byte more than before has it."""
    key = (b"t" * 16, b"s" * 8)
    content = field(1, key[0]) + field(2, key[1]) + field(5, b"n" * size)
    enriched = enrich(field(1, field(2, field(2, content))), {key: GUESS}.get)
    assert enriched == field(1, field(2, field(2, content + attributes(GUESS))))


def test_weaklinks_own_spans_are_taken_out_first() -> None:
    """A row may hold own spans and memory spans: the first are left out, the second enriched."""
    keys = [(b"t" * 16, bytes([number]) * 8) for number in (1, 2)]
    spans = [field(1, trace) + field(2, span) for trace, span in keys]
    request = field(1, field(2, b"".join(field(2, span) for span in spans)))
    (parcel,) = forward_parcels([ForwardRow(1, [request], frozenset(keys[:1]), dict.fromkeys(keys, GUESS))])
    assert parcel.requests == (field(1, field(2, field(2, spans[1] + attributes(GUESS)))),)
