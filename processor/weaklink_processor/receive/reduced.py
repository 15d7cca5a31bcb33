"""Readers of requests that keep a few fields: wire -> Arrow, no Python object a span.

Only payloads that upb has parsed may come here: ptars overflows its stack on deeply nested groups.
"""

from collections.abc import Callable, Mapping

import ptars
import pyarrow as pa
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from weaklink_processor.known_fields import without_unknown

Read = Callable[[bytes], pa.ListArray]
"""A payload -> its resource_spans, as lists of structs."""


def reader(kept: Mapping[type[Message], tuple[str, ...]]) -> Read:
    """Keep these fields of these messages; any other is unknown, and so skipped. Messages not named stay bytes."""
    package = "weaklink.reduced"
    known = [message.DESCRIPTOR.name for message in kept]
    messages = [_reduced(message, names, known) for message, names in kept.items()]
    pool = DescriptorPool()
    pool.Add(FileDescriptorProto(name="reduced.proto", package=package, syntax="proto3", message_type=messages))
    request = pool.FindMessageTypeByName(f"{package}.{ExportTraceServiceRequest.DESCRIPTOR.name}")
    to_batch = ptars.HandlerPool([request.file]).get_for_message(request).list_to_record_batch

    def read(payload: bytes) -> pa.ListArray:
        try:
            return to_batch([payload]).column(0)
        except ValueError:  # ptars minds what is inside unknown groups, upb does not
            return to_batch([without_unknown(payload)]).column(0)

    return read


def _reduced(message: type[Message], names: tuple[str, ...], known: list[str]) -> DescriptorProto:
    whole = DescriptorProto()
    message.DESCRIPTOR.CopyToProto(whole)
    fields = [field for field in whole.field if field.name in names]
    for field in fields:
        field.ClearField("oneof_index")
        name = field.type_name.rpartition(".")[2]
        if name in known:
            field.type_name = name
        elif name:
            field.ClearField("type_name")
            field.type = FieldDescriptorProto.TYPE_BYTES
    return DescriptorProto(name=whole.name, field=fields)
