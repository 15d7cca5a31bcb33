"""Whether a payload is OTLP at all, found out without much more memory than the payload takes.

upb says so by parsing it. An empty message takes 2 bytes on the wire and up to 180 there, so a payload that may have
very many of them is parsed piece by piece, and counted on the way.
"""

from typing import Any, Final, cast

from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import Default
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from weaklink_processor.errors import BadData
from weaklink_processor.receive import tags
from weaklink_processor.receive.census import Census
from weaklink_processor.receive.limits import DEEPEST, Limits, over
from weaklink_processor.receive.pieces import PIECE_BYTES, inside, pieces

PARSED_AT_ONCE: Final = 256 << 20  # bytes of memory


def may_be_huge(payload: bytes) -> bool:
    """Whether it could take too much memory to parse all of it at once."""
    return len(payload) > PIECE_BYTES and tags.parsed_bytes(payload) > PARSED_AT_ONCE


def check_in_pieces(payload: bytes, limits: Limits) -> None:
    """Parse and count all of a serialized ExportTraceServiceRequest; BadData when it is none, or over a limit."""
    counted = Census()
    for piece in pieces(payload, limits):
        check(piece, limits)
        counted += Census.of(piece, limits)
        counted.check(limits)


def check(payload: bytes, limits: Limits) -> ExportTraceServiceRequest:
    """Parse all of a serialized ExportTraceServiceRequest at once; BadData when it is none, or nested too deep."""
    depth = limits.depth
    try:
        return _parsed(payload, DEEPEST - depth) if depth < DEEPEST else ExportTraceServiceRequest.FromString(payload)
    except DecodeError as error:
        if "MaxDepth" in str(error):
            raise over("messages inside each other", f"more than {depth}", depth, "depth") from error
        raise BadData("not an ExportTraceServiceRequest in protobuf") from error


_INNER, _REQUEST = 1, 2


def _parsed(payload: bytes, sooner: int) -> ExportTraceServiceRequest:
    """Parse it where upb's fixed depth is reached so many messages sooner."""
    outer = _Deeper.FromString(inside((_INNER,) * (sooner - 1) + (_REQUEST,), payload))
    for _ in range(sooner - 1):
        outer = outer.inner
    return cast("ExportTraceServiceRequest", outer.request)


def _deeper() -> Any:
    """A message that may hold itself, and in the end a request: upb's fixed depth is then reached sooner."""
    request, kind = ExportTraceServiceRequest.DESCRIPTOR, FieldDescriptorProto.TYPE_MESSAGE
    name, package = "Deeper", "weaklink"
    fields = [
        FieldDescriptorProto(name="inner", number=_INNER, type=kind, type_name=name),
        FieldDescriptorProto(name="request", number=_REQUEST, type=kind, type_name=f".{request.full_name}"),
    ]
    message = DescriptorProto(name=name, field=fields)
    file = "weaklink/deeper.proto"
    Default().Add(
        FileDescriptorProto(
            name=file, package=package, syntax="proto3", dependency=[request.file.name], message_type=[message]
        )
    )
    return GetMessageClass(Default().FindMessageTypeByName(f"{package}.{name}"))


_Deeper: Final = _deeper()
