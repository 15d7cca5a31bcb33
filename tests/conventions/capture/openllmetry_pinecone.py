"""OpenLLMetry's Pinecone instrumentation on an index that a local stub of Pinecone's HTTP API answers for."""

import json
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from capture.recorder import Recorder
from opentelemetry.instrumentation.pinecone import PineconeInstrumentor
from pinecone import Pinecone
from pinecone.exceptions import PineconeException

FOUND = [
    {"id": "mem-1", "score": 0.9, "values": [], "metadata": {"confidence": 0.3, "created_by": "triage"}},
    {"id": "mem-2", "score": 0.8, "values": [], "metadata": {"confidence": 0.85, "created_by": "diagnosis"}},
]


class Api(BaseHTTPRequestHandler):
    """Answers a query in namespace `ops` with both records, in `fail` with an error, in any other with none."""

    def do_POST(self) -> None:
        """One request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        namespace = asked.get("namespace")
        answers: dict[str, Any] = {
            "/query": {
                "matches": FOUND if namespace == "ops" else [],
                "namespace": namespace,
                "usage": {"readUnits": 5},
            },
            "/vectors/upsert": {"upsertedCount": len(asked.get("vectors", ()))},
            "/vectors/delete": {},
        }
        body = json.dumps(answers[self.path]).encode()
        self.send_response(400 if namespace == "fail" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def work(index: Any) -> None:
    """A write of two, a read that finds both, one that finds none, a delete, a failure."""
    vectors = [{"id": each["id"], "values": [1.0, 0.0], "metadata": each["metadata"]} for each in FOUND]
    index.upsert(vectors=vectors, namespace="ops")
    for namespace in ("ops", "empty"):
        index.query(vector=[1.0, 0.0], top_k=2, namespace=namespace, include_metadata=True)
    index.delete(ids=["mem-1"], namespace="ops")
    with suppress(PineconeException):
        index.query(vector=[1.0, 0.0], top_k=2, namespace="fail")


recorder = Recorder("openllmetry_pinecone")
PineconeInstrumentor().instrument(tracer_provider=recorder.provider)
server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
threading.Thread(target=server.serve_forever, daemon=True).start()
work(Pinecone(api_key="none").Index(host=f"http://127.0.0.1:{server.server_port}"))
server.shutdown()
recorder.write()
