"""Export requests, pure: evaluator spans wrapped into one, and weaklink's own spans taken out of one."""

from collections.abc import Callable, Iterable, MutableSequence
from collections.abc import Set as AbstractSet
from functools import cache
from importlib.metadata import version
from typing import TypeVar

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans

from weaklink_analysis.namespace import split
from weaklink_processor.emit.feed import OutboxRow, SpanKey
from weaklink_processor.emit.wire import delimited

M = TypeVar("M")


def evaluator_request(rows: Iterable[OutboxRow], *, by_namespace: bool = False) -> bytes:
    """Return one request with the rows' spans, as they are, each under the resource of the service it judges.

    The judged service's name and environment, not weaklink's, so that backends which group by resource
    show the verdict beside its trace. `by_namespace`: an environment is one of its namespace.
    """
    spans: dict[tuple[str, str], list[bytes]] = {}
    for row in rows:
        span = delimited(ScopeSpans.SPANS_FIELD_NUMBER, row.span)
        spans.setdefault((row.service_name, row.environment), []).append(span)
    return b"".join(
        delimited(
            ExportTraceServiceRequest.RESOURCE_SPANS_FIELD_NUMBER,
            _resource_spans(_resource(*key, by_namespace=by_namespace), own),
        )
        for key, own in spans.items()
    )


def strip_spans(request: bytes, own: AbstractSet[SpanKey]) -> bytes | None:
    """Return the request without the spans in `own`; the very same object when none of them is in it.

    None when no span is left. Scopes and resources without a span go too.
    """
    if not own:
        return request
    message = ExportTraceServiceRequest.FromString(request)
    scopes = (scope for resource in message.resource_spans for scope in resource.scope_spans)
    stripped = [_keep(scope.spans, lambda span: (span.trace_id, span.span_id) not in own) for scope in scopes]
    if not any(stripped):
        return request
    for resource in message.resource_spans:
        _keep(resource.scope_spans, lambda scope: bool(scope.spans))
    _keep(message.resource_spans, lambda resource: bool(resource.scope_spans))
    return message.SerializeToString() if message.resource_spans else None


def _keep(items: MutableSequence[M], wanted: Callable[[M], bool]) -> bool:
    """Delete the items that are not wanted; return whether there was one."""
    unwanted = [index for index, item in enumerate(items) if not wanted(item)]
    for index in reversed(unwanted):
        del items[index]
    return bool(unwanted)


def _resource(service_name: str, environment: str, *, by_namespace: bool) -> Resource:
    namespace, name = split(environment) if by_namespace else ("", environment)
    values = {"service.name": service_name, "service.namespace": namespace, "deployment.environment.name": name}
    attributes = [KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in values.items() if value]
    return Resource(attributes=attributes)


def _resource_spans(resource: Resource, spans: Iterable[bytes]) -> bytes:
    """Return a ResourceSpans with the spans, which are fields of a ScopeSpans."""
    head = ResourceSpans(resource=resource).SerializeToString()
    return head + delimited(ResourceSpans.SCOPE_SPANS_FIELD_NUMBER, b"".join((_scope(), *spans)))


@cache
def _scope() -> bytes:
    scope = InstrumentationScope(name="weaklink", version=version("weaklink"))
    return ScopeSpans(scope=scope).SerializeToString()
