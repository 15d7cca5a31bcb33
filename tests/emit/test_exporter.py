"""The exporter against a real OTLP/gRPC server."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from structlog.testing import capture_logs

from sink import RETRYABLE, OtlpSink
from weaklink_processor.emit.exporter import Interrupted, OtlpExporter
from weaklink_processor.emit.retry import Backoff
from weaklink_processor.emit.settings import ClientTls, ExportSettings
from weaklink_processor.emit.transport import Response

QUICK = ExportSettings(backoff=Backoff(initial_seconds=0.02, max_seconds=0.1))
PATIENT = ExportSettings(backoff=Backoff(initial_seconds=60.0, max_seconds=60.0))
REQUEST = b"\n\x02\x1a\x00\xfa\x7f\x03new"  # a resource without spans, and a field that no version knows

CERTIFICATE = (
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1"
    " -subj /CN=localhost -addext subjectAltName=DNS:localhost"
)
PERMANENT = [
    code.name for code in grpc.StatusCode if code is not grpc.StatusCode.OK and code not in RETRYABLE
]  # RESOURCE_EXHAUSTED without RetryInfo among them


@pytest.fixture
def sink() -> Iterator[OtlpSink]:
    """Return a running sink."""
    with OtlpSink() as running:
        yield running


@pytest.fixture
def exporter(sink: OtlpSink) -> Iterator[OtlpExporter]:
    """Return an exporter to the sink that retries quickly."""
    made = OtlpExporter(sink.endpoint, QUICK)
    yield made
    made.close()


def test_bytes_arrive_as_they_are(sink: OtlpSink, exporter: OtlpExporter) -> None:
    """The request is not parsed and written anew."""
    assert exporter.export(REQUEST)
    assert exporter.export(b"")
    assert sink.requests == [REQUEST, b""]


def test_headers_and_gzip(sink: OtlpSink) -> None:
    """Headers go out with lower-case keys, as gRPC wants them; a compressed request reads the same."""
    exporter = OtlpExporter(sink.endpoint, ExportSettings(headers=(("Authorization", "Bearer x"),), gzip=True))
    assert exporter.export(REQUEST * 100)
    exporter.close()
    assert sink.requests == [REQUEST * 100]
    assert sink.attempts[0].metadata["authorization"] == "Bearer x"


def test_a_header_for_bytes(sink: OtlpSink) -> None:
    """One whose name ends so has bytes for its value, as gRPC has it, and ends no sending."""
    exporter = OtlpExporter(sink.endpoint, ExportSettings(headers=(("Tenant-Bin", "a-key"),)))
    assert exporter.export(REQUEST)
    exporter.close()
    assert sink.attempts[0].metadata["tenant-bin"] == b"a-key"


@pytest.mark.parametrize("code", PERMANENT)
def test_other_codes_are_dropped(sink: OtlpSink, code: str) -> None:
    """One attempt, one log line with code and message, one count."""
    sink.fail(grpc.StatusCode[code], "no, never")
    with capture_logs() as lines:
        dropped = OtlpExporter(sink.endpoint, QUICK)
        assert not dropped.export(REQUEST)
        dropped.close()
    assert len(sink.attempts) == 1
    (line,) = lines
    assert (line["event"], line["code"], line["message"]) == ("request_dropped", code, "no, never")
    assert (dropped.stats().failed, dropped.stats().retried) == (1, 0)


def test_resource_exhausted_with_retry_info_is_retried(sink: OtlpSink, exporter: OtlpExporter) -> None:
    """RetryInfo is the server's word that it will recover."""
    sink.fail(grpc.StatusCode.RESOURCE_EXHAUSTED, retry_after=0.01, times=1)
    assert exporter.export(REQUEST)


def test_given_up_after_max_elapsed(sink: OtlpSink) -> None:
    """With a limit of time, a request that never passes is dropped and counted."""
    sink.fail(grpc.StatusCode.UNAVAILABLE)
    backoff = Backoff(initial_seconds=0.02, max_seconds=0.05, max_elapsed_seconds=0.3)
    exporter = OtlpExporter(sink.endpoint, ExportSettings(backoff=backoff))
    assert not exporter.export(REQUEST)
    exporter.close()
    assert exporter.stats().failed == 1
    assert len(sink.attempts) > 2


def test_a_destination_that_refuses_is_not_away(sink: OtlpSink, exporter: OtlpExporter) -> None:
    """A refusal after an outage is an answer: the outage is over."""
    sink.fail(grpc.StatusCode.UNAVAILABLE)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(exporter.export, REQUEST)
        while not exporter.stats().away:
            time.sleep(0.01)
        sink.fail(grpc.StatusCode.UNAUTHENTICATED)
        assert not answer.result(5.0)
    assert not exporter.stats().away


def test_many_drops_are_one_line(sink: OtlpSink) -> None:
    """A destination that refuses everything does not flood the log; the count goes on."""
    sink.fail(grpc.StatusCode.UNIMPLEMENTED)
    with capture_logs() as lines:
        exporter = OtlpExporter(sink.endpoint, QUICK)
        assert not any(exporter.export(REQUEST) for _ in range(20))
        exporter.close()
    assert len(lines) == 1
    assert exporter.stats().failed == 20


def test_stop_interrupts_a_wait_at_once(sink: OtlpSink) -> None:
    """A request that waits for its retry is handed back unanswered, not dropped."""
    sink.fail(grpc.StatusCode.UNAVAILABLE)
    exporter = OtlpExporter(sink.endpoint, PATIENT)
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(exporter.export, REQUEST)
        while not exporter.stats().retried:
            time.sleep(0.01)
        exporter.stop()
        with pytest.raises(Interrupted):
            answer.result(1.0)
    exporter.close()
    assert len(sink.attempts) == 1
    assert exporter.stats().failed == 0


def test_stop_lets_an_attempt_finish(sink: OtlpSink) -> None:
    """After stop a request still gets its one attempt, so that a drain is possible."""
    sink.delay = 0.2
    exporter = OtlpExporter(sink.endpoint, PATIENT)
    exporter.stop()
    assert exporter.export(REQUEST)
    exporter.close()


@pytest.mark.parametrize("max_elapsed_seconds", [0.0, 0.001], ids=["for-ever", "its-time-was-up"])
def test_close_cancels_an_attempt(sink: OtlpSink, max_elapsed_seconds: float) -> None:
    """A call that hangs ends with the channel and counts as unanswered; so does every later one."""
    sink.delay = 3.0
    backoff = Backoff(initial_seconds=60.0, max_elapsed_seconds=max_elapsed_seconds)
    exporter = OtlpExporter(sink.endpoint, ExportSettings(backoff=backoff))
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(exporter.export, REQUEST)
        sink.wait_for(lambda it: len(it.attempts) == 1)
        exporter.close()
        with pytest.raises(Interrupted):
            answer.result(1.0)
    with pytest.raises(Interrupted):
        exporter.export(REQUEST)
    exporter.close()
    assert exporter.stats().failed == 0


def test_close_amid_traffic_loses_no_request(sink: OtlpSink) -> None:
    """Each request is either taken or interrupted, never dropped, wherever the close hits it."""
    outcomes: list[Response | None] = []
    exporter = OtlpExporter(sink.endpoint, QUICK)

    def send() -> None:
        while True:
            try:
                outcomes.append(exporter.export(REQUEST))
            except Interrupted:
                return

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    sink.wait_for(lambda it: len(it.requests) >= 20)
    exporter.close()
    for thread in threads:
        thread.join(5.0)
    assert not any(thread.is_alive() for thread in threads)
    assert all(outcomes)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_https_is_tls(tmp_path: Path) -> None:
    """An https:// endpoint is spoken to over TLS and its certificate is checked."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [*CERTIFICATE.split(), "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    pair = (key.read_bytes(), certificate.read_bytes())
    backoff = Backoff(initial_seconds=0.02, max_seconds=0.05, max_elapsed_seconds=0.2)
    with OtlpSink(credentials=grpc.ssl_server_credentials([pair])) as sink:
        trusting = ExportSettings(tls=ClientTls(ca_file=certificate), backoff=backoff)
        for settings, taken in ((trusting, True), (ExportSettings(backoff=backoff), False)):
            exporter = OtlpExporter(f"https://{sink.endpoint}", settings)
            assert (exporter.export(REQUEST) is not None) is taken
            exporter.close()
    assert sink.requests == [REQUEST]
