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

from weaklink_processor.emit.feed import OutboxRow, SpanKey

M = TypeVar("M")


def evaluator_request(rows: Iterable[OutboxRow]) -> bytes:
    """Return one request with the rows' spans, each under the resource of the service it judges.

    The judged service's name and environment, not weaklink's, so that backends which group by resource
    show the verdict beside its trace.
    """
    request = ExportTraceServiceRequest()
    scopes: dict[tuple[str, str], ScopeSpans] = {}
    for row in rows:
        key = (row.service_name, row.environment)
        if key not in scopes:
            request.resource_spans.append(_resource_spans(*key))
            scopes[key] = request.resource_spans[-1].scope_spans[0]
        scopes[key].spans.add().ParseFromString(row.span)
    return request.SerializeToString()


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


def _resource_spans(service_name: str, environment: str) -> ResourceSpans:
    values = {"service.name": service_name, "deployment.environment.name": environment}
    return ResourceSpans(
        resource=Resource(
            attributes=[KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in values.items() if value]
        ),
        scope_spans=[ScopeSpans(scope=InstrumentationScope(name="weaklink", version=_version()))],
    )


@cache
def _version() -> str:
    return version("weaklink")
