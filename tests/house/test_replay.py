import gzip
import os
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from shell import printed, refused, weaklink
from weaklink_processor import wiring
from weaklink_processor.analyst.state import State
from weaklink_processor.config import Config
from weaklink_processor.queue import framing
from weaklink_processor.queue.store import QueueStore
from weaklink_processor.supervise.lock import hold


def request(*names: str, trace_id: bytes = b"t" * 16) -> bytes:
    message = ExportTraceServiceRequest()
    spans = message.resource_spans.add().scope_spans.add().spans
    for name in names:
        spans.add(trace_id=trace_id, span_id=b"s" * 8, name=name)
    return message.SerializeToString()


@contextmanager
def service(data_dir: Path) -> Iterator[QueueStore]:
    """Stand in for a service: hold the folder's lock, and have rows applied as soon as they are there."""
    stop = threading.Event()
    with hold(data_dir), wiring.open_queue(Config(data_dir=data_dir)) as queue:

        def apply() -> None:
            while not stop.wait(0.05):
                queue.release(wiring.ANALYST, queue.stats().last_offset)

        applying = threading.Thread(target=apply)
        applying.start()
        try:
            yield queue
        finally:
            stop.set()
            applying.join()


def test_beside_a_service_requests_are_handed_to_it(tmp_path: Path) -> None:
    """All requests are in the queue in order, without bad spans, and the counts are told once all is applied."""
    requests = [request("a"), request("b", "c"), request("bad", trace_id=bytes(16)), request("d")]
    (tmp_path / "one.binpb").write_bytes(framing.join(requests[:3]))
    (tmp_path / "two.binpb.gz").write_bytes(gzip.compress(framing.join(requests[3:])))
    data_dir = tmp_path / "data"
    with service(data_dir) as queue:
        queue.register("onlooker")
        text = printed("replay", tmp_path / "one.binpb", tmp_path / "two.binpb.gz", "--data-dir", data_dir)
        assert text == "read 4 requests with 4 spans; rejected 1 spans\n"
        taken = [message for row in queue.read(0, 1 << 30) for message in row.requests]
        assert taken == [requests[0], requests[1], requests[3]]
        assert queue.progress(wiring.ANALYST) == queue.stats().last_offset


def test_standard_input_is_a_file(tmp_path: Path) -> None:
    """`-` is standard input."""
    with service(tmp_path):
        done = weaklink("replay", "-", "--data-dir", tmp_path, stdin=framing.join([request("a", "b")]))
    assert done.stdout == b"read 1 requests with 2 spans; rejected 0 spans\n"


@pytest.mark.parametrize("damage", [b"\x0a\xff\xff", b"{", b"nonsense"])
def test_an_unreadable_file_changes_nothing(tmp_path: Path, damage: bytes) -> None:
    """When any file is damaged anywhere, not one request of any file is taken."""
    (tmp_path / "good.binpb").write_bytes(framing.join([request("a")] * 3))
    (tmp_path / "bad.binpb").write_bytes(framing.join([request("b")]) + damage)
    data_dir = tmp_path / "data"
    with service(data_dir) as queue:
        message = refused("replay", tmp_path / "good.binpb", tmp_path / "bad.binpb", "--data-dir", data_dir)
        assert "bad.binpb" in message
        assert queue.stats().last_offset == 0
        assert "none.binpb" in refused("replay", tmp_path / "none.binpb", "--data-dir", data_dir)
    assert [path.name for path in data_dir.iterdir() if path.name.startswith("tmp")] == []


def test_a_full_queue_is_waited_for(tmp_path: Path) -> None:
    """More than the queue may hold is taken bit by bit."""
    large = [request(os.urandom(2 << 20).hex()) for _ in range(3)]
    (tmp_path / "large.binpb").write_bytes(framing.join(large))
    data_dir = tmp_path / "data"
    config = tmp_path / "weaklink.yaml"
    config.write_text("queue: {max_bytes: 1000}")
    with service(data_dir) as queue:
        assert printed("replay", tmp_path / "large.binpb", "--data-dir", data_dir, "--config", config).startswith(
            "read 3"
        )
        assert queue.stats().last_offset == 3


def test_a_destination_that_has_all_is_forgotten(tmp_path: Path) -> None:
    """Without a service a replay lets go of nothing that waits for its destinations, and is not held up by its own
    rows."""
    file, data_dir = tmp_path / "one.binpb", tmp_path / "data"
    file.write_bytes(framing.join([request("a")]))
    printed("replay", file, "--data-dir", data_dir)
    with wiring.open_queue(Config(data_dir=data_dir)) as queue:
        last = queue.stats().last_offset
        for consumer in ("forward:near", "evaluations:near"):
            queue.register(consumer)
            queue.release(consumer, last)
        with closing(State.open(data_dir / wiring.STATE_FILE)) as state:
            state.connection.execute("INSERT INTO outbox (span, service_name, environment) VALUES ('', '', '')")
        assert "1 evaluations of state.duckdb wait for" in refused("replay", file, "--data-dir", data_dir)
        assert queue.stats().last_offset == last
        queue.set_mark("forward:near", 1)
        printed("replay", file, "--data-dir", data_dir)
        assert set(queue.stats().consumers) == {wiring.ANALYST}
        assert queue.stats().rows == 0
