"""The wire format that the decoder reads: OTLP's ExportTraceServiceRequest, reduced.

Field numbers and types are OTLP's (trace.proto, resource.proto, common.proto v1), so the same bytes
parse, and what is not named here is skipped as an unknown field. One type differs: attributes are
`repeated bytes` where OTLP has messages KeyValue. Both look the same on the wire; Arrow has no
recursive types for the values; and splitting the entries in numpy (entries.py) costs half of what
lists of structs cost in ptars.

Only payloads that upb has parsed may come here: ptars overflows its stack on deeply nested groups.
"""

from collections.abc import Sequence
from typing import Any, Final

import ptars
import pyarrow as pa
from google.protobuf import descriptor_pb2, descriptor_pool

_Field = descriptor_pb2.FieldDescriptorProto

PACKAGE: Final = "weaklink.otlp"

SCALARS: Final = {
    "bytes": _Field.TYPE_BYTES,
    "string": _Field.TYPE_STRING,
    "int32": _Field.TYPE_INT32,  # enums too: an enum is open in proto3, any int32 may arrive
    "uint32": _Field.TYPE_UINT32,
    "fixed32": _Field.TYPE_FIXED32,
    "fixed64": _Field.TYPE_FIXED64,
}

# message -> field -> (number, type); a star: repeated; a name that is no scalar: a message of this table
MESSAGES: Final = {
    "Request": {"resource_spans": (1, "ResourceSpans*")},
    "ResourceSpans": {"resource": (1, "Resource"), "scope_spans": (2, "ScopeSpans*"), "schema_url": (3, "string")},
    "Resource": {"attributes": (1, "bytes*")},
    "ScopeSpans": {"scope": (1, "Scope"), "spans": (2, "Span*"), "schema_url": (3, "string")},
    "Scope": {"name": (1, "string"), "version": (2, "string"), "attributes": (3, "bytes*")},
    "Span": {
        "trace_id": (1, "bytes"),
        "span_id": (2, "bytes"),
        "trace_state": (3, "string"),
        "parent_span_id": (4, "bytes"),
        "name": (5, "string"),
        "kind": (6, "int32"),
        "start_time_unix_nano": (7, "fixed64"),
        "end_time_unix_nano": (8, "fixed64"),
        "attributes": (9, "bytes*"),
        "dropped_attributes_count": (10, "uint32"),
        "events": (11, "Event*"),
        "dropped_events_count": (12, "uint32"),
        "links": (13, "Link*"),
        "dropped_links_count": (14, "uint32"),
        "status": (15, "Status"),
        "flags": (16, "fixed32"),
    },
    "Event": {
        "time_unix_nano": (1, "fixed64"),
        "name": (2, "string"),
        "attributes": (3, "bytes*"),
        "dropped_attributes_count": (4, "uint32"),
    },
    "Link": {
        "trace_id": (1, "bytes"),
        "span_id": (2, "bytes"),
        "trace_state": (3, "string"),
        "attributes": (4, "bytes*"),
        "dropped_attributes_count": (5, "uint32"),
        "flags": (6, "fixed32"),
    },
    "Status": {"message": (2, "string"), "code": (3, "int32")},
}


def _field(name: str, number: int, kind: str) -> descriptor_pb2.FieldDescriptorProto:
    label = _Field.LABEL_REPEATED if kind.endswith("*") else _Field.LABEL_OPTIONAL
    kind = kind.removesuffix("*")
    if kind in SCALARS:
        return _Field(name=name, number=number, label=label, type=SCALARS[kind])
    return _Field(name=name, number=number, label=label, type=_Field.TYPE_MESSAGE, type_name=f".{PACKAGE}.{kind}")


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="weaklink/otlp.proto", package=PACKAGE, syntax="proto3")
    for name, fields in MESSAGES.items():
        file.message_type.add(name=name, field=[_field(field, *spec) for field, spec in fields.items()])
    return file


def _handler() -> Any:
    pool = descriptor_pool.DescriptorPool()
    pool.Add(_file())
    request = pool.FindMessageTypeByName(f"{PACKAGE}.Request")
    return ptars.HandlerPool([request.file]).get_for_message(request)


_HANDLER: Final = _handler()


def read(requests: Sequence[bytes]) -> pa.ListArray:
    """The resource_spans of each request, as lists of structs nested the way `MESSAGES` says.

    Scalars are never null (absent: zero or empty), a message that is absent is a null struct. Raises
    ValueError on bytes that are not protobuf.
    """
    return _HANDLER.list_to_record_batch(list(requests)).column("resource_spans")
