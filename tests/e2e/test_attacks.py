"""What someone who means harm sends to one real service, and the answer.

Through all of it the receiver and the analyst stay small, and an honest client beside is served.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import grpc
import psutil
import pytest
from google.rpc import code_pb2

from e2e.attackers import HEAD, MIB, Honest, connect, crowd, drip, flood, gzip_bomb, idle_channels, is_closed
from e2e.clients import grpc_export, http, otlp_json, post
from otlp import S, payload, read, write
from receive.harness import JSON, PROTOBUF
from weaklink_processor.receive.pieces import inside
from weaklink_service import Service, wait_until

MOST_MEMORY = {"receiver": 640 * MIB, "analyst": 640 * MIB}
"""Resident at the most, ever: ten times the largest request. Idle they have about 80 and 200 MiB."""
MOST_LATENCY = 10.0
"""Seconds that an honest request may take beside an attack, on a busy machine."""
HEAD_SECONDS, BODY_SECONDS, WRITE_SECONDS = 2, 3, 2
HUNG_UP = r"(?i)reset|broken pipe"
IMPATIENT = {
    "WEAKLINK_RECEIVER__HTTP__READ_HEADER_TIMEOUT": str(HEAD_SECONDS),
    "WEAKLINK_RECEIVER__HTTP__READ_TIMEOUT": str(BODY_SECONDS),
    "WEAKLINK_RECEIVER__HTTP__WRITE_TIMEOUT": str(WRITE_SECONDS),
}
TRACES = count(1000)
HONEST: list[Honest] = []


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """It must be the same two processes to the end, and never have grown beyond their measure."""
    with Service(tmp_path_factory.mktemp("attacked") / "data", settings=IMPATIENT) as service:
        before = {name: service.child(name) for name in MOST_MEMORY}
        yield service
        acknowledged = sum(honest.acknowledged for honest in HONEST)
        wait_until(lambda: service.count("spans WHERE name = 'honest'") == acknowledged, "all honest spans")
        assert {name: service.child(name) for name in MOST_MEMORY} == before
        peaks = {name: _peak(process) for name, process in before.items() if process}
        print({name: f"{peak >> 20} MiB" for name, peak in peaks.items()})  # noqa: T201
        assert all(peaks[name] < most for name, most in MOST_MEMORY.items()), peaks


def _peak(process: psutil.Process) -> int:
    (line,) = (line for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if "VmHWM" in line)
    return int(line.split()[1]) << 10


@contextmanager
def honest_beside(service: Service) -> Iterator[None]:
    """An honest client is served all the while."""
    with Honest(service, next(TRACES)) as honest:
        yield
    HONEST.append(honest)
    print(f"{honest.acknowledged} honest requests, {honest.longest:.2f} s at most")  # noqa: T201
    assert honest.longest < MOST_LATENCY


def tag(number: int) -> bytes:
    """A field of this number, without contents."""
    return bytes([number << 3 | 2, 0])


SPAN = payload([S(1, 1, "bad")])
IN_SPANS, IN_A_SPAN = (1, 2), (1, 2, 2)
EMPTY = 63 * MIB // 2
DEEP = b'{"resourceSpans":' + b"[" * 100_000
TEN_MB = payload([S(1, 2, "bad", attributes={"prompt": "x" * 10 * 10**6})])
MILLION_ATTRIBUTES = payload([S(1, 3, "bad", attributes={f"key.{i}": i for i in range(10**6)})])
MILLION_EVENTS = inside(IN_A_SPAN, tag(11) * 10**6)
BAD_TEXT = inside(IN_A_SPAN, inside((5,), b"\xff\xfe"))

# name -> body, the limit that the refusal names
FLOODS: dict[str, tuple[Callable[[], bytes], str]] = {
    "1 M attributes": (lambda: MILLION_ATTRIBUTES, "receiver.limits.span_attributes"),
    "1 M events": (lambda: MILLION_EVENTS, "receiver.limits.span_events"),
    "10 MB attribute": (lambda: TEN_MB, "receiver.limits.attribute_size"),
    "invalid UTF-8": (lambda: BAD_TEXT, "not an ExportTraceServiceRequest"),
    "empty resources": (lambda: tag(1) * EMPTY, "receiver.limits.spans"),
    "empty spans": (lambda: inside(IN_SPANS, tag(2) * EMPTY), "receiver.limits.spans"),
    "empty events": (lambda: inside(IN_A_SPAN, tag(11) * EMPTY), "receiver.limits.span_events"),
    "empty attributes of many spans": (
        lambda: inside(IN_SPANS, inside((2,), tag(9) * 16_000) * 2000),
        "receiver.limits.items",
    ),
    "empty values of many arrays": (
        lambda: inside(IN_A_SPAN, inside((9, 2, 5), tag(1) * 2_000_000) * 15),
        "receiver.limits.items",
    ),
}


@pytest.mark.parametrize(("body", "limit"), FLOODS.values(), ids=FLOODS)
def test_too_much_of_something(service: Service, body: Callable[[], bytes], limit: str) -> None:
    """Both doors refuse it as bad data and name the limit; nobody is invited to try again."""
    sent = body()
    with honest_beside(service):
        answer = post(service, sent)
        with grpc_export(service) as export, pytest.raises(grpc.RpcError) as caught:
            export(sent, timeout=60)
    assert (answer.status, answer.error.code) == (400, code_pb2.INVALID_ARGUMENT)
    assert "retry-after" not in answer.headers
    assert limit in answer.error.message
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert limit in str(caught.value.details())
    assert service.count("spans WHERE name = 'bad'") == 0


JSON_ATTACKS: dict[str, tuple[Callable[[], bytes], str]] = {
    "100,000 deep": (lambda: DEEP, "receiver.limits.depth"),
    "100,000 deep and closed": (lambda: DEEP + b"]" * 100_000 + b"}", "receiver.limits.depth"),
    "empty objects": (lambda: b'{"x":[' + b"{}," * (20 * MIB) + b"{}]}", "receiver.limits.json_elements"),
    "invalid UTF-8": (lambda: b'{"x":"\xff\xfe"}', "not JSON"),
    "10 MB attribute": (lambda: otlp_json(TEN_MB), "receiver.limits.attribute_size"),
}


@pytest.mark.parametrize(("body", "limit"), JSON_ATTACKS.values(), ids=JSON_ATTACKS)
def test_json(service: Service, body: Callable[[], bytes], limit: str) -> None:
    """JSON that would take the parser down, or the memory, is bad data."""
    with honest_beside(service):
        answer = post(service, body(), JSON)
    assert (answer.status, answer.error.code) == (400, code_pb2.INVALID_ARGUMENT)
    assert limit in answer.error.message


GZIP = {"content_encoding": "gzip"}


@pytest.mark.parametrize("media_type", [PROTOBUF, JSON])
def test_gzip_bomb(service: Service, media_type: str) -> None:
    """1 GB in 1 MB is decompressed as far as the limit and no further."""
    with honest_beside(service):
        answer = post(service, gzip_bomb(1024 * MIB), media_type, **GZIP)
    assert (answer.status, answer.error.code) == (413, code_pb2.RESOURCE_EXHAUSTED)


def test_gzip_bomb_by_grpc(service: Service) -> None:
    """gRPC stops at its limit too."""
    with honest_beside(service), grpc_export(service) as export, pytest.raises(grpc.RpcError) as caught:
        export(bytes(130 * MIB), timeout=60, compression=grpc.Compression.Gzip)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_zstd_is_not_spoken(service: Service) -> None:
    """An encoding that OTLP does not name is refused before anything is decompressed."""
    assert post(service, b"\x28\xb5\x2f\xfd", content_encoding="zstd").status == 415


def test_a_body_without_end(service: Service) -> None:
    """Chunks that go on for ever get their answer at the limit; soon after, the connection is closed."""
    with honest_beside(service), connect(service.http) as attacker:
        attacker.sendall(f"{HEAD}transfer-encoding: chunked\r\n\r\n".encode())
        with pytest.raises(OSError, match=HUNG_UP):
            flood(attacker, b"%x\r\n%s\r\n" % (MIB, bytes(MIB)), 100_000 * MIB)


def test_chunk_extensions_without_end(service: Service) -> None:
    """What is no body is bounded too."""
    with connect(service.http) as attacker:
        attacker.sendall(f"{HEAD}transfer-encoding: chunked\r\n\r\n1;".encode())
        with pytest.raises(OSError, match=HUNG_UP):
            flood(attacker, b"x" * MIB, 1000 * MIB)


def test_a_head_without_end(service: Service) -> None:
    """So is a head."""
    with connect(service.http) as attacker:
        attacker.sendall(HEAD.encode())
        with pytest.raises(OSError, match=HUNG_UP):
            flood(attacker, b"x" * MIB, 1000 * MIB)


SLOW = {
    "silent": (b"", b"", HEAD_SECONDS),
    "head": (b"POST /v1/traces HTTP/1.1\r\nx: ", b"x", HEAD_SECONDS),
    "body": (f"{HEAD}content-length: 1000000\r\n\r\n".encode(), b"x", BODY_SECONDS),
    "chunks": (f"{HEAD}transfer-encoding: chunked\r\n\r\n".encode(), b"1\r\nx\r\n", BODY_SECONDS),
}


@pytest.mark.parametrize(("greeting", "more", "seconds"), SLOW.values(), ids=SLOW)
def test_slow_loris(service: Service, greeting: bytes, more: bytes, seconds: float) -> None:
    """Hundreds that send a byte now and then are hung up on in time, however often they do."""
    with honest_beside(service), crowd(service.http, 300, greeting) as attackers:
        drip(attackers, more, seconds)
        wait_until(lambda: all(map(is_closed, attackers)), "the end of all slow connections")


def test_large_bodies_that_wait(service: Service) -> None:
    """Twenty that send most of a large body and then wait do not get room for all of it."""
    head = f"{HEAD}content-length: {64 * MIB}\r\n\r\n".encode()
    with honest_beside(service), crowd(service.http, 20, head) as attackers:
        for attacker in attackers:
            attacker.settimeout(5)
            with suppress(OSError):
                flood(attacker, bytes(MIB), 30 * MIB)
        wait_until(lambda: all(map(is_closed, attackers)), "the end of all of them")


def test_many_requests_within_the_limits(service: Service) -> None:
    """What the analyst reads of them at once is bounded too."""
    with honest_beside(service):
        for number in range(4):
            ids = (b"\x0a\x10" + bytes([9] * 15 + [n]) + b"\x12\x08" + bytes([number + 1] * 8) for n in range(32))
            body = inside(IN_SPANS, b"".join(inside((2,), each + tag(9) * 16_000) for each in ids))
            assert post(service, body).status == 200
        wait_until(lambda: service.count("spans WHERE trace_id LIKE '09090909%'") == 4 * 32, "their spans")


def test_a_thousand_idle_connections(service: Service) -> None:
    """Those over HTTP that never say anything are closed; gRPC's are kept, and cost little."""
    with honest_beside(service), crowd(service.http, 1000) as attackers:
        wait_until(lambda: all(map(is_closed, attackers)), "the end of all idle connections")
    with honest_beside(service), crowd(service.grpc, 1000):
        pass
    with honest_beside(service), idle_channels(service.grpc, 100):
        pass


def test_clients_that_never_read(service: Service) -> None:
    """Whoever sends and sends, and never reads an answer, is left alone with it."""
    one = f"{HEAD}content-length: {len(SPAN)}\r\n\r\n".encode() + SPAN.replace(b"bad", b"new")
    with honest_beside(service), crowd(service.http, 50) as attackers:
        for attacker in attackers:
            attacker.settimeout(0.2)
            with pytest.raises(OSError, match=rf"{HUNG_UP}|timed out"):
                flood(attacker, one * 100, 1000 * MIB)


EVIL = (
    "'; DROP TABLE spans; --",
    "../../../../etc/passwd",
    "/absolute/path",
    "x' OR '1'='1",
    '"quoted" \\ back',
    "a\x00b",
    "..",
    "line\nbreak",
    "${HOME} $(id) `id` {{x}} %s",
    "C:\\x:y|z*?",
    "x" * 5000,
)


def test_names_are_data(service: Service) -> None:
    """SQL and paths in memory ids, sessions, agents and services are found again as they came, and do nothing."""
    outside = _files(service.data_dir.parent)
    spans = [
        touch(7000, 2 * number + second, text, 0.9, at=second, session=text, agent=text, service=text, environment=text)
        for number, text in enumerate(EVIL, start=1)
        for second, touch in enumerate((write, read))
    ]
    with honest_beside(service):
        assert post(service, payload(spans)).status == 200
        wait_until(lambda: service.count(f"spans WHERE trace_id = '{7000:032x}'") == len(spans), "the spans")
    for relation, columns, each in (
        ("spans", ("service_name", "environment"), 2),
        ("memory_operations", ("memory_id", "session_id", "agent_id"), 2),
        ("memories", ("memory_id",), 1),
    ):
        rows = _sql(service, f"SELECT {', '.join(columns)} FROM {relation}")
        for column in columns:
            found = [row[column] for row in rows]
            assert [found.count(text) for text in EVIL] == [each] * len(EVIL), (relation, column)
    assert _files(service.data_dir.parent) == outside


def _sql(service: Service, statement: str) -> list[dict[str, object]]:
    command = [sys.executable, "-m", "weaklink_processor", "sql", "--data-dir", str(service.data_dir)]
    done = subprocess.run([*command, "--format", "jsonl", statement], capture_output=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def _files(folder: Path) -> set[str]:
    """Everything in it but what the service writes for a moment, and the days and parts of the lake."""
    found = {re.sub(r"lake/.*", "lake", str(path.relative_to(folder))) for path in folder.rglob("*")}
    return {name for name in found if not name.endswith((".tmp", ".wal", "-wal", "-shm"))}


def test_no_other_site_may_send(service: Service) -> None:
    """A browser that asks whether a page of another site may send spans is told no."""
    origin = {"origin": "https://elsewhere.example", "access-control-request-method": "POST"}
    asked = http(service, "OPTIONS", "/v1/traces", headers=origin)
    sent = http(service, "POST", "/v1/traces", payload([S(1, 9, "good")]), {"content-type": PROTOBUF, **origin})
    assert (asked.status, sent.status) == (405, 200)
    assert not [name for answer in (asked, sent) for name in answer.headers if name.startswith("access-control")]


def test_the_folder_is_for_its_owner_only(service: Service) -> None:
    """Nobody else may look into the data folder, however open the mask is."""
    assert service.data_dir.stat().st_mode & 0o777 == 0o700
