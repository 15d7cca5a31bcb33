"""What one request may have, and how one is told that has more."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from decode.wire import request as any_request
from fuzz.mutants import mutant
from weaklink_processor.errors import BadData
from weaklink_processor.known_fields import without_unknown
from weaklink_processor.receive import form, pieces, tags
from weaklink_processor.receive.accept import accept
from weaklink_processor.receive.limits import Limits
from weaklink_processor.receive.otlp_json import to_protobuf

MIB = 1 << 20
LIMITS = Limits()


def span(**parts: Any) -> Span:
    return Span(trace_id=b"t" * 16, span_id=b"s" * 8, **parts)


def request(*spans: Span) -> bytes:
    scope = ScopeSpans(spans=spans)
    return ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[scope])]).SerializeToString()


def text(size: int) -> KeyValue:
    """An attribute of so many bytes, at least 6."""
    fields = len(KeyValue(value=AnyValue(string_value="")).SerializeToString())
    return KeyValue(value=AnyValue(string_value="x" * (size - fields)))


def array(depth: int) -> KeyValue:
    """Arrays inside each other, the innermost of one value."""
    value = AnyValue()
    for _ in range(depth):
        value = AnyValue(array_value=ArrayValue(values=[value]))
    return KeyValue(key="array", value=value)


# limit -> a request that has so many
MAKERS: dict[str, Callable[[int], bytes]] = {
    "spans": lambda n: request(*[span()] * n),
    "span_attributes": lambda n: request(span(), span(attributes=[text(9)] * n)),
    "span_events": lambda n: request(span(), span(events=[Span.Event()] * n)),
    "span_links": lambda n: request(span(), span(links=[Span.Link()] * n)),
    "items": lambda n: request(*[span(attributes=[text(9), text(9)])] * (n // 2)),
    "attribute_size": lambda n: request(span(attributes=[text(9), text(n)])),
    "depth": lambda n: request(span(attributes=[array((n - 6) // 2)])),
}


@pytest.mark.parametrize("name", MAKERS)
def test_as_many_as_allowed(name: str) -> None:
    """At a limit a request is taken whole; over it, it is refused and told which limit that is."""
    limits = Limits(**{name: 40})
    accepted = accept(MAKERS[name](40), limits)
    assert (accepted.rejected, accepted.reason) == (0, "")
    with pytest.raises(BadData, match=rf"4[012], and the limit is 40 .receiver.limits.{name}."):
        accept(MAKERS[name](42), limits)


def test_values_inside_others_are_items() -> None:
    """Arrays and mappings inside each other hold items too, at any depth."""
    innermost = AnyValue(kvlist_value=KeyValueList(values=[KeyValue(key="k", value=AnyValue(int_value=1))] * 9))
    value = AnyValue(array_value=ArrayValue(values=[innermost, innermost]))
    payload = request(span(attributes=[KeyValue(key="k", value=value)]))
    accept(payload, Limits(items=21))
    with pytest.raises(BadData, match=r"21, and the limit is 20 .receiver.limits.items."):
        accept(payload, Limits(items=20))


def test_long_prompts_pass() -> None:
    """Values of a megabyte, many in one request, are within the defaults."""
    payload = request(*[span(attributes=[text(MIB)] * 8)] * 6)
    assert accept(payload, LIMITS).spans == 6


def flood(*path: int) -> bytes:
    """A message of 16 MiB in such messages, of nothing but empty ones in its field of the last number."""
    *outside, number = path
    return pieces.inside(tuple(outside), bytes([number << 3 | 2, 0]) * (8 * MIB))


FLOODS = {
    "resources": (flood(1), "spans"),
    "scopes": (flood(1, 2), "spans"),
    "spans": (flood(1, 2, 2), "spans"),
    "attributes": (flood(1, 2, 2, 9), "span_attributes"),
    "events": (flood(1, 2, 2, 11), "span_events"),
    "links": (flood(1, 2, 2, 13), "span_links"),
    "attributes of an event": (flood(1, 2, 2, 11, 3), "items"),
    "attributes of a resource": (flood(1, 1, 1), "items"),
    "values of an array": (flood(1, 2, 2, 9, 2, 5, 1), "attribute_size"),
    "scopes of many resources": (pieces.inside((1,), b"\x12\x00" * 50_000) * 100, "spans"),
    "attributes of many spans": (
        pieces.inside((1, 2), pieces.inside((2,), b"\x4a\x00" * 16_000) * 200),
        "items",
    ),
    "values of many arrays": (
        pieces.inside((1, 2, 2), pieces.inside((9, 2, 5), b"\x0a\x00" * MIB) * 4),
        "items",
    ),
}


@pytest.mark.parametrize(("payload", "name"), FLOODS.values(), ids=FLOODS)
def test_empty_messages_are_not_parsed_at_once(payload: bytes, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Millions of empty messages are refused, and what is parsed of them at a time has the size of one attribute."""
    parsed: list[int] = []
    check = form.check

    def watched(piece: bytes, limits: Limits) -> None:
        parsed.append(len(piece))
        check(piece, limits)

    monkeypatch.setattr(form, "check", watched)
    with pytest.raises(BadData, match=rf".receiver.limits.{name}."):
        accept(payload, LIMITS)
    assert max(parsed, default=0) <= LIMITS.attribute_size


def leaves(message: Message, path: tuple[int, ...] = ()) -> Iterator[tuple[object, ...]]:
    """What has no parts of its own, with the numbers of the fields that it is in."""
    if isinstance(message, KeyValue):
        yield path, message.SerializeToString()
        return
    for field, value in message.ListFields():
        values = value if field.is_repeated else [value]
        for one in values:
            inside = (*path, field.number)
            if isinstance(one, Message):
                yield from leaves(one, inside)
            else:
                yield inside, one


@given(st.integers(0, 2**32), st.integers(1, 300))
def test_pieces_say_the_same(seed: int, size: int) -> None:
    """However small the pieces are, they are OTLP, and have all that the whole has, once."""
    payload = without_unknown(any_request(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE_BYTES", size)
        cut = [ExportTraceServiceRequest.FromString(piece) for piece in pieces.pieces(payload, LIMITS)]
    whole = ExportTraceServiceRequest.FromString(payload)
    assert Counter(leaf for piece in cut for leaf in leaves(piece)) == Counter(leaves(whole))


@settings(max_examples=300)
@given(st.integers(0, 2**32), st.integers(8, 300))
def test_pieces_are_judged_as_the_whole(seed: int, size: int) -> None:
    """A damaged payload is refused in pieces if it is refused as a whole, and taken if taken, but for groups."""
    payload = mutant(any_request(seed), Random(seed))
    expected = _verdict(payload)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "PIECE_BYTES", size)
        patch.setattr(form, "may_be_huge", lambda _: True)
        found = _verdict(payload)
    assert found == expected or "groups" in str(found)


def _verdict(payload: bytes) -> object:
    try:
        return accept(payload, LIMITS)
    except BadData as error:
        return "bad" if "groups" not in str(error) else "groups"


@given(st.integers(0, 2**32))
def test_tags_tell_no_less_than_there_is(seed: int) -> None:
    """The count from bytes alone is never below the real one."""
    payload = any_request(seed)
    message = ExportTraceServiceRequest.FromString(payload)
    assert tags.submessages(payload) >= submessages(message)


def submessages(message: Message) -> int:
    count = 0
    for field, value in message.ListFields():
        if field.message_type is not None:
            count += sum(1 + submessages(one) for one in (value if field.is_repeated else [value]))
    return count


UNREADABLE = {
    "cut short": b"\x0a\x00" * MIB + b"\x0a\x01",
    "a group": b"\x0a\x00" * MIB + b"\x0b\x0c",
    "a length that does not end": b"\x0a\x00" * 60_000 + b"\x0a" + b"\xff" * 3 * MIB,
    "a length past the end": b"\x0a\xff\xff\xff\x7f" * MIB,
}


@pytest.mark.parametrize("payload", UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_cut(payload: bytes) -> None:
    """A large payload that is damaged is bad data like a small one."""
    with pytest.raises(BadData, match="not an ExportTraceServiceRequest"):
        list(pieces.pieces(payload, Limits(spans=20 * MIB, span_attributes=20 * MIB, items=20 * MIB)))


def json_of(value: object) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [value]}]}]}]}).encode()


@pytest.mark.parametrize("element", [b"{}", b"[]", b"1", b'"a"', b'{"a":1}'])
def test_elements_of_json(element: bytes) -> None:
    """Objects, arrays and members of JSON are counted before it is parsed."""
    body = b'{"x":[' + b",".join([element] * 1_000_001) + b"]}"
    with pytest.raises(BadData, match=r"the limit is 1000000 .receiver.limits.json_elements."):
        to_protobuf(body, LIMITS)


@pytest.mark.parametrize("text", ["{[,]}" * 400_000, '"' * 1_000_000, '{\\",' * 400_000])
def test_text_is_no_element_of_json(text: str) -> None:
    """What stands in strings is not counted, quotes in them included."""
    assert to_protobuf(json_of({"key": "k", "value": {"stringValue": text}}), LIMITS)


def test_json_that_never_ends_its_string() -> None:
    """Counting takes no longer for quotes that are not closed."""
    with pytest.raises(BadData, match="not JSON"):
        to_protobuf(b'{"' + b'\\",' * 5_000_000 + b"\\", LIMITS)
