"""A real OTLP/gRPC metrics server for tests."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Self

import grpc
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric, ResourceMetrics

SERVICE = "opentelemetry.proto.collector.metrics.v1.MetricsService"


class MetricsSink:
    """`with MetricsSink() as sink` listens on `sink.endpoint`; `latest` are the metrics of the newest request."""

    def __enter__(self) -> Self:
        self._lock = threading.Lock()
        self._received: list[ResourceMetrics] = []
        self._server = grpc.server(ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)])
        handler = grpc.unary_unary_rpc_method_handler(
            self._export,
            ExportMetricsServiceRequest.FromString,
            ExportMetricsServiceResponse.SerializeToString,
        )
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Export": handler}),))
        self.endpoint = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(grace=0).wait()

    @property
    def latest(self) -> dict[str, Metric]:
        """By name."""
        with self._lock:
            scopes = self._received[-1].scope_metrics if self._received else ()
            return {metric.name: metric for scope in scopes for metric in scope.metrics}

    @property
    def resource(self) -> dict[str, str]:
        """Who told them."""
        with self._lock:
            return {each.key: each.value.string_value for each in self._received[-1].resource.attributes}

    def value(self, name: str, **labels: str) -> float:
        """The newest value of the points that have these labels, together; 0 where there is none."""
        metric = self.latest.get(name, Metric())
        points = [*metric.sum.data_points, *metric.gauge.data_points]
        total = 0.0
        for point in points:
            told = {each.key: each.value.string_value for each in point.attributes}
            if labels.items() <= told.items():
                total += point.as_int if point.WhichOneof("value") == "as_int" else point.as_double
        return total

    def _export(self, request: ExportMetricsServiceRequest, _: grpc.ServicerContext) -> ExportMetricsServiceResponse:
        with self._lock:
            self._received.extend(request.resource_metrics)
        return ExportMetricsServiceResponse()
