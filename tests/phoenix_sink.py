"""A server that takes annotations as Phoenix does: one of each name, target and identifier, and 404 for the unknown."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from http_sink import HttpSink

TARGETS = {
    "/v1/trace_annotations": "trace_id",
    "/v1/span_annotations": "span_id",
    "/v1/session_annotations": "session_id",
}


@dataclass(slots=True)
class PhoenixSink(HttpSink):
    """`knows` has the ids of traces, spans and sessions; None: all of them."""

    knows: set[str] | None = None
    kept: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)

    def answer(self, request: bytes, metadata: dict[str, str | bytes]) -> tuple[int, dict[str, str], bytes]:
        code, headers, content = HttpSink.answer(self, request, metadata)
        if code != 200:
            return code, headers, content
        url = urlsplit(str(metadata[":path"]))
        assert (url.query, metadata["content-type"]) == ("sync=true", "application/json")
        target = TARGETS["/v1/" + url.path.rpartition("/v1/")[2]]
        annotations = json.loads(request)["data"]
        ids = {each[target] for each in annotations}
        missing = set() if self.knows is None else ids - self.knows
        plain = {"content-type": "text/plain; charset=utf-8"}
        if missing:
            return 404, plain, f"Spans with IDs {', '.join(missing)} do not exist.".encode()
        for each in annotations:
            self.kept[target, each[target], each["name"], each["identifier"]] = each
        return 200, {"content-type": "application/json"}, b'{"data":[]}'
