"""Retrieval spans by the OpenTelemetry GenAI conventions: documents as a JSON string, and as a structured value."""

import json

from capture.recorder import Recorder
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.util.types import AttributeValue

FOUND = [
    {"id": "mem-1", "score": 0.9, "metadata": {"confidence": 0.3, "created_by": "triage"}},
    {"id": "mem-2", "score": None},
]

recorder = Recorder("genai_retrieval")
tracer = recorder.provider.get_tracer("gen_ai.retrieval")


def retrieval(*, error: str = "", **attributes: AttributeValue) -> None:
    """A span of the data source `ops`; `__` in a name stands for a dot."""
    named = {f"gen_ai.{name.replace('__', '.')}": value for name, value in attributes.items()}
    common = {"gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": "ops"}
    with tracer.start_as_current_span("retrieval ops", kind=SpanKind.CLIENT, attributes=common | named) as span:
        if error:
            span.set_attribute("error.type", error)
            span.set_status(Status(StatusCode.ERROR))


retrieval(request__top_k=2, retrieval__query__text="pool", retrieval__documents=json.dumps(FOUND))
retrieval(retrieval__top_k=2, retrieval__query__text="pool", retrieval__documents=FOUND)
retrieval(request__top_k=2, retrieval__query__text="weather", retrieval__documents="[]")
retrieval(request__top_k=2)
retrieval(request__top_k=2, error="ConnectionError")
recorder.write()
