"""The same requests give identical tables, whichever way they come in."""

import gzip
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zstandard

from e2e.clients import otlp_json, send_by_grpc, send_by_http, send_by_json
from e2e.settled import Tables, assert_equal, undisturbed, wait_for_tables
from e2e.workload import joined, keys, workload
from shell import weaklink
from weaklink_processor.queue import framing
from weaklink_service import Service, tables

REQUESTS = workload(seed=4, requests=60)

SENDERS: dict[str, Callable[[Service, Sequence[bytes]], None]] = {
    "grpc": send_by_grpc,
    "http protobuf": send_by_http,
    "http json": send_by_json,
}
FORMS: Mapping[str, Callable[[Sequence[bytes]], bytes]] = {
    "lines.jsonl": lambda requests: b"".join(otlp_json(payload) + b"\n" for payload in requests),
    "object.json": lambda requests: otlp_json(joined(requests)),
    "delimited.binpb": framing.join,
}
COMPRESSIONS: Mapping[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """What the plain .binpb file gives: something in every table."""
    expected = undisturbed(REQUESTS, tmp_path_factory.mktemp("expected"))
    assert {(trace_id, span_id) for trace_id, span_id, *_ in expected["spans"]} == keys(REQUESTS)
    assert all(len(rows) > 20 for rows in expected.values())
    return expected


@pytest.mark.parametrize("send", SENDERS.values(), ids=SENDERS)
def test_over_the_network(send: Callable[[Service, Sequence[bytes]], None], expected: Tables, tmp_path: Path) -> None:
    """gRPC, HTTP in protobuf and HTTP in JSON give what a replayed file gives."""
    with Service(tmp_path / "data") as service:
        send(service, REQUESTS)
        wait_for_tables(service, expected)


def test_from_files(expected: Tables, tmp_path: Path) -> None:
    """Each form of file gives the same, plain, gzip and zstd, and on standard input, where no name tells the form."""
    cases = [(form, compression, False) for form in FORMS for compression in COMPRESSIONS]
    cases += [(form, compression, True) for form, compression in zip(FORMS, COMPRESSIONS, strict=True)]
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda case: _replayed(tmp_path / str(cases.index(case)), *case), cases):
            assert_equal(found, expected)


def _replayed(folder: Path, form: str, compression: str, by_stdin: bool) -> Tables:  # noqa: FBT001
    folder.mkdir()
    file, content = folder / (form + compression), COMPRESSIONS[compression](FORMS[form](REQUESTS))
    if not by_stdin:
        file.write_bytes(content)
    source, stdin = ("-", content) if by_stdin else (file, b"")
    done = weaklink("replay", source, "--data-dir", folder / "data", stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    return tables(folder / "data")
