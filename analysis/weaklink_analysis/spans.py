"""The span batch: what decoding yields and everything after it reads.

One row a span, columns in Arrow, no Python object a span. Attribute values are text beside a
one-letter type code each, so that SQL is easy and nothing is lost:

    code  AnyValue      text
    s     string        as it is
    b     bool          true | false
    i     int           decimal
    d     double        shortest round-trip decimal with a point or exponent (1.0, 1e-07), NaN, Infinity, -Infinity
    y     bytes         base64
    a     array         JSON; a nested bytes is {"$bytes": base64}, a nested non-finite double {"$double": "NaN"}
    k     kvlist        JSON object, same rules (a repeated key: the first one counts)
    n     empty         '' (no value set)

JSON is written without spaces and with unicode as it is; a nested empty value is null.
Where one key occurs twice in a list, both are kept, and look-ups see the first.
"""

import pyarrow as pa

ATTRIBUTES = pa.map_(pa.string(), pa.string())

EVENT = pa.struct(
    [
        ("time_unix_nano", pa.uint64()),
        ("name", pa.string()),
        ("attributes", ATTRIBUTES),
        ("attribute_types", pa.string()),
        ("dropped_attributes_count", pa.uint32()),
    ]
)

LINK = pa.struct(
    [
        ("trace_id", pa.string()),
        ("span_id", pa.string()),
        ("trace_state", pa.string()),
        ("flags", pa.uint32()),
        ("attributes", ATTRIBUTES),
        ("attribute_types", pa.string()),
        ("dropped_attributes_count", pa.uint32()),
    ]
)

TIME = pa.timestamp("us", tz="UTC")

SPAN_SCHEMA = pa.schema(
    [
        ("trace_id", pa.string()),  # 32 lower-case hex digits
        ("span_id", pa.string()),  # 16 lower-case hex digits
        ("parent_span_id", pa.string()),  # null: a root span
        ("name", pa.string()),
        ("kind", pa.string()),  # UNSPECIFIED INTERNAL SERVER CLIENT PRODUCER CONSUMER, else the number
        ("start_time", TIME),  # microseconds; the exact value is start_unix_nano
        ("end_time", TIME),
        ("start_unix_nano", pa.uint64()),
        ("end_unix_nano", pa.uint64()),
        ("status_code", pa.string()),  # UNSET OK ERROR, else the number
        ("status_message", pa.string()),
        ("trace_state", pa.string()),
        ("flags", pa.uint32()),
        ("service_name", pa.string()),  # resource service.name, '' if missing
        # resource deployment.environment.name, else deployment.environment, else ''; namespace.py has it of a namespace
        ("environment", pa.string()),
        ("attributes", ATTRIBUTES),
        ("attribute_types", pa.string()),  # one code an entry, in the map's order
        ("dropped_attributes_count", pa.uint32()),
        ("events", pa.list_(EVENT)),
        ("dropped_events_count", pa.uint32()),
        ("links", pa.list_(LINK)),
        ("dropped_links_count", pa.uint32()),
        ("scope_name", pa.string()),
        ("scope_version", pa.string()),
        ("scope_attributes", ATTRIBUTES),
        ("scope_attribute_types", pa.string()),
        ("scope_schema_url", pa.string()),
        ("resource_attributes", ATTRIBUTES),
        ("resource_attribute_types", pa.string()),
        ("resource_schema_url", pa.string()),
    ]
)
"""Exactly what the lake's span parts hold, but for the row_id the analyst adds."""

KEY_SCHEMA = pa.schema(
    [
        ("request", pa.int32()),  # which of the decoded requests the span came in, from 0
        ("trace", pa.uuid()),  # the trace id as 16 bytes: joins are 10x cheaper than on hex text
        ("span", pa.uint64()),  # the span id, big-endian
        ("parent", pa.uint64()),  # 0: none
    ]
)
"""Key columns that travel beside SPAN_SCHEMA inside the process and are not stored in parts."""
