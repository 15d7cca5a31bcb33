"""A real Phoenix gets the spans from one destination and what weaklink says of them from another.

    make unit ARGS="-n 0 -s tests/e2e/test_phoenix.py"

prints what arrived. Most of the test's time is that of Phoenix's two starts.
"""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest

from collector import agent
from e2e.clients import send_by_grpc
from otlp import S, payload, read, write
from phoenix_server.process import HEADERS, Phoenix
from pinned.install import PHOENIX
from weaklink_processor.emit.annotation import PATHS
from weaklink_processor.emit.grpc_transport import EXPORT
from weaklink_processor.emit.phoenix_transport import PhoenixTransport
from weaklink_processor.emit.settings import ExportSettings
from weaklink_processor.emit.transport import Failed, Response
from weaklink_processor.endpoint import parse_endpoint
from weaklink_service import Service, wait_until

TRACES = 60
"""Of each agent; every second has memory operations."""
ROOT = S(7, 1, "root", attributes={"session.id": "s-9"})
AWAY_SECONDS = 3.0
PATIENCE = 90.0
SCOPES = {"trace": ("trace", "trace_id"), "decision": ("span", "span_id"), "session": ("session", "session_id")}
"""Scope -> Phoenix's word for the kind of target, and the column that names it."""


class Told(NamedTuple):
    """What an evaluation and its annotation have in common."""

    scope: str
    target: str
    name: str
    identifier: str
    annotator_kind: str
    label: str
    score: float | None
    explanation: str | None
    revision: int


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Phoenix]:
    if reason := PHOENIX.missing():
        pytest.skip(reason)
    PHOENIX.python()
    with Phoenix(tmp_path_factory.mktemp("phoenix")) as running:
        yield running


@pytest.mark.timeout(900)  # most of it for installing Phoenix, where nobody has yet
def test_what_phoenix_does_not_know_is_told(backend: Phoenix) -> None:
    """Of a request it takes what is about what it knows, and the others are named; without the key it takes nothing.

    What is sent again replaces, also a score by none.
    """
    header = ("authorization", HEADERS["authorization"])
    spans = payload([S(5, 8, "known", attributes={"session.id": "s-1"})])
    with grpc.insecure_channel(backend.grpc) as channel:
        channel.unary_unary(EXPORT, None, None)(spans, metadata=(header,))
    known = {"trace_id": f"{5:032x}", "span_id": f"{8:016x}", "session_id": "s-1"}
    unknown = {"trace_id": "f" * 32, "span_id": "e" * 16, "session_id": "s-2"}
    address = parse_endpoint(backend.url, "phoenix")
    friend = PhoenixTransport(address, ExportSettings("phoenix", headers=(header,)))
    stranger = PhoenixTransport(address, ExportSettings("phoenix"))
    with closing(friend), closing(stranger):
        for kind in PATHS:
            wait_until(lambda kind=kind: not friend.send(about(kind, known[kind])).unknown, kind)  # type: ignore[misc]
            mixed = about(kind, unknown[kind], known[kind], unknown[kind])
            assert friend.send(mixed).unknown == (0, 2)
            with pytest.raises(Failed, match="401"):
                stranger.send(mixed)
            (taken,) = backend.annotations(kind.removesuffix("_id"), ["by-hand"])
            assert (taken[kind], taken["result"]["score"]) == (known[kind], 0.5)
            assert friend.send(about(kind, known[kind], score=None)) == Response()
            (taken_back,) = backend.annotations(kind.removesuffix("_id"), ["by-hand"])
            assert (taken_back["id"], taken_back["result"]["score"]) == (taken["id"], None)


def about(kind: str, *targets: str, score: float | None = 0.5) -> bytes:
    """A request with the same verdict on each of them."""
    verdict = {"name": "n", "annotator_kind": "CODE", "identifier": "by-hand", "result": {"score": score}}
    return json.dumps({"data": [{kind: target, **verdict} for target in targets]}).encode()


@pytest.mark.timeout(300)
def test_phoenix_says_what_weaklink_says(tmp_path: Path, backend: Phoenix) -> None:
    """Each evaluation of a trace, a decision and a session is an annotation of its target, once, with the same name,
    label, score and explanation: also of spans that came while Phoenix was away, and weaklink was killed meanwhile.
    """
    began = time.monotonic()
    with Service(tmp_path / "data", settings=destinations(backend)) as weaklink:
        remember(weaklink, 0, tmp_path)
        send_by_grpc(weaklink, [payload([ROOT, write(7, 2, "fact", 0.9, 1, parent=1, session=None)])])
        arrived(backend, weaklink, traces=TRACES // 2 + 1)
        send_by_grpc(weaklink, [payload([read(7, 3, "fact", 0.2, 60, parent=1, session=None)])])
        wait_until(lambda: weaklink.count("evaluation_history WHERE revision = 2"), "a second revision")
        arrived(backend, weaklink, traces=TRACES // 2 + 1)

        backend.stop()
        gone = time.monotonic()
        remember(weaklink, 1, tmp_path)
        wait_until(
            lambda: weaklink.count("evaluations WHERE scope = 'trace'") == TRACES + 1, "all verdicts in the lake"
        )
        weaklink.kill_all()
        weaklink.start()
        time.sleep(max(0.0, gone + AWAY_SECONDS - time.monotonic()))
        away = time.monotonic() - gone
        backend.start()

        told = arrived(backend, weaklink, traces=TRACES + 1)
        took = time.monotonic() - began
        kinds = Counter(each.scope for each in told)
        print({"seconds": round(took), "away": round(away), **kinds, "revised": sum(t.revision > 1 for t in told)})  # noqa: T201
        assert len(set(told)) == len(told)
        assert set(kinds) == set(SCOPES)
        (late,) = [each for each in told if each.scope == "trace" and each.target == f"{7:032x}"]
        assert (late.revision, late.label) == (2, "fail")


def destinations(backend: Phoenix) -> dict[str, str]:
    brisk = {"headers": HEADERS, "retry_on_failure": {"initial_interval": 0.5, "max_interval": 2.0}}
    both = {
        "spans": {"endpoint": backend.grpc, "evaluations": False, **brisk},
        "verdicts": {"protocol": "phoenix", "endpoint": backend.url, "sessions": True, **brisk},
    }
    return {"WEAKLINK_FORWARD__DESTINATIONS": json.dumps(both)}


def remember(weaklink: Service, number: int, folder: Path) -> None:
    """Let an agent with OpenTelemetry's SDK and its stock exporter work, to its end."""
    arguments = [str(number), str(TRACES), "grpc", weaklink.grpc, str(folder / f"agent-{number}.ids")]
    subprocess.run([sys.executable, str(agent.__file__), *arguments], check=True, timeout=PATIENCE)


def arrived(backend: Phoenix, weaklink: Service, *, traces: int) -> list[Told]:
    """Wait until Phoenix says what weaklink says, of so many traces, and return that."""
    wait_until(lambda: weaklink.count("evaluations WHERE scope = 'trace'") == traces, "the verdicts in the lake")
    wait_until(lambda: annotated(backend, weaklink) == evaluated(weaklink), "the annotations in Phoenix", PATIENCE)
    return annotated(backend, weaklink)


def evaluated(weaklink: Service) -> list[Told]:
    rows = weaklink.query("""
        SELECT
            scope, CASE scope WHEN 'trace' THEN trace_id WHEN 'decision' THEN span_id ELSE session_id END, name, rubric,
            annotator_kind, label, score, nullif(explanation, ''), revision
        FROM evaluations WHERE score IS NOT NULL
    """)
    return sorted(Told(*row) for row in rows)  # type: ignore[arg-type]


def annotated(backend: Phoenix, weaklink: Service) -> list[Told]:
    """Ask Phoenix for whatever has the identifier of a rubric."""
    rubrics = [str(rubric) for (rubric,) in weaklink.query("SELECT DISTINCT rubric FROM evaluations")]
    found = []
    for scope, (kind, column) in SCOPES.items():
        for each in backend.annotations(kind, rubrics):
            result, names = each["result"], (each[column], each["name"], each["identifier"], each["annotator_kind"])
            said = (result["label"], result["score"], result["explanation"], each["metadata"]["revision"])
            found.append(Told(scope, *names, *said))
    return sorted(found)
