"""Metrics in Prometheus's text format, under the very names that the instruments have.

That is how a Collector shows its own by default; the SDK's exporter for Prometheus can only append units and `_total`.
https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from opentelemetry.sdk.metrics.export import (
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    Sum,
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_TARGET = "target_info"


def exposition(data: MetricsData | None) -> str:
    """Write all metrics, and who tells them as `target_info`."""
    lines: list[str] = []
    for resource in data.resource_metrics if data else ():
        who = {name.replace(".", "_"): str(value) for name, value in resource.resource.attributes.items()}
        lines += [*_head(_TARGET, "Target metadata", "gauge"), _sample(_TARGET, who, 1)]
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                lines += _lines(metric)
    return "".join(f"{line}\n" for line in lines)


def _lines(metric: Metric) -> Iterator[str]:
    match metric.data:
        case Histogram():
            kind = "histogram"
        case Sum():
            kind = "counter"
        case _:
            kind = "gauge"
    yield from _head(metric.name, metric.description or "", kind)
    for point in metric.data.data_points:
        labels = point.attributes or {}
        if isinstance(point, HistogramDataPoint):
            bounds = [*map(_number, point.explicit_bounds), "+Inf"]
            for bound, count in zip(bounds, accumulate(point.bucket_counts), strict=True):
                yield _sample(f"{metric.name}_bucket", {**labels, "le": bound}, count)
            yield _sample(f"{metric.name}_sum", labels, point.sum)
            yield _sample(f"{metric.name}_count", labels, point.count)
        elif isinstance(point, NumberDataPoint):
            yield _sample(metric.name, labels, point.value)


def _head(name: str, description: str, kind: str) -> tuple[str, str]:
    return f"# HELP {name} {_escaped(description)}", f"# TYPE {name} {kind}"


def _sample(name: str, labels: Mapping[str, Any], value: float) -> str:
    told = ",".join(f'{key}="{_escaped(str(text), quote=True)}"' for key, text in sorted(labels.items()))
    return f"{name}{{{told}}} {_number(value)}" if told else f"{name} {_number(value)}"


def _number(value: float) -> str:
    return repr(value) if isinstance(value, int) else repr(float(value))


def _escaped(text: str, *, quote: bool = False) -> str:
    escaped = text.replace("\\", r"\\").replace("\n", r"\n")
    return escaped.replace('"', r"\"") if quote else escaped
