"""A data folder with a lake of real parts, made in a moment: the views of `spans` and of a table whose rows change."""

from datetime import date
from pathlib import Path

import pyarrow as pa

from weaklink_processor.lake.lake import Lake

DAY = date(2026, 9, 1)
VIEWS = ("CREATE VIEW spans AS FROM lake.spans", "CREATE VIEW memories AS FROM lake.memories")
SCHEMA = pa.schema([("memory_id", pa.string()), ("effective_confidence", pa.float64())])


class LakeFolder:
    """`publish` adds a memory and lets readers see it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lake = Lake(path, {"spans": (), "memories": ("memory_id",)}, VIEWS, {})
        spans = pa.table({"trace_id": ["t1", "t2"], "name": ["copy", "query"]})
        self._parts = [
            self._lake.append("spans", spans, seq=1, day=DAY),
            self._lake.base("memories", SCHEMA.empty_table(), seq=1, day=DAY),
        ]
        self.publish("triage-1", 0.3)

    def publish(self, memory_id: str, confidence: float) -> None:
        rows = pa.table({"memory_id": [memory_id], "effective_confidence": [confidence]}, schema=SCHEMA)
        rows = rows.append_column("known", pa.array([False]))
        gone = pa.table({"memory_id": pa.array([], pa.string())})
        self._parts.append(self._lake.delta("memories", rows, gone, seq=len(self._parts), day=DAY))
        self._lake.publish(self._parts)

    def content(self) -> dict[str, bytes]:
        """Every file and its bytes."""
        return {str(file): file.read_bytes() for file in sorted(self.path.rglob("*")) if file.is_file()}
