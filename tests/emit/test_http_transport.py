"""The exporter against a real OTLP/HTTP server."""

import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
import trustme
from structlog.testing import capture_logs

from http_sink import PROTOBUF, HttpSink
from weaklink_processor.emit.exporter import Interrupted, OtlpExporter
from weaklink_processor.emit.retry import Backoff
from weaklink_processor.emit.settings import ClientTls, ExportSettings
from weaklink_processor.errors import UsageError

HTTP = ExportSettings(protocol="http/protobuf")
QUICK = replace(HTTP, backoff=Backoff(initial_seconds=0.02, max_seconds=0.1))
PATIENT = replace(HTTP, backoff=Backoff(initial_seconds=60.0, max_seconds=60.0))
BRIEF = replace(HTTP, backoff=Backoff(initial_seconds=0.02, max_seconds=0.05, max_elapsed_seconds=0.2))
REQUEST = b"\n\x02\x1a\x00\xfa\x7f\x03new"  # a resource without spans, and a field that no version knows
PERMANENT = [300, 304, 307, 400, 401, 403, 404, 408, 413, 415, 500, 501, 505]


@pytest.fixture
def sink() -> Iterator[HttpSink]:
    """Return a running sink."""
    with HttpSink() as running:
        yield running


@pytest.fixture
def exporter(sink: HttpSink) -> Iterator[OtlpExporter]:
    """Return an exporter to the sink that retries quickly."""
    made = OtlpExporter(sink.endpoint, QUICK)
    yield made
    made.close()


def test_bytes_arrive_as_they_are(sink: HttpSink, exporter: OtlpExporter) -> None:
    """A POST of the request as it is, to the path of the traces, over one connection that is kept."""
    assert all(exporter.export(request) for request in (REQUEST, b"", REQUEST))
    assert sink.requests == [REQUEST, b"", REQUEST]
    told = [attempt.metadata for attempt in sink.attempts]
    assert {(each[":path"], each["content-type"]) for each in told} == {("/v1/traces", PROTOBUF)}
    assert len({each[":port"] for each in told}) == 1
    assert str(told[0]["user-agent"]).startswith("weaklink/")


def test_a_path_of_ones_own(sink: HttpSink) -> None:
    """The path of the traces follows that of the endpoint."""
    exporter = OtlpExporter(f"{sink.endpoint}/api/otel", QUICK)
    assert exporter.export(REQUEST)
    exporter.close()
    assert sink.attempts[0].metadata[":path"] == "/api/otel/v1/traces"


def test_headers_and_gzip(sink: HttpSink) -> None:
    """Headers go out beside OTLP's own, which they do not replace; a compressed request reads the same."""
    headers = (("Authorization", "Bearer x"), ("Content-Type", "text/plain"))
    exporter = OtlpExporter(sink.endpoint, replace(QUICK, headers=headers, gzip=True))
    assert exporter.export(REQUEST * 100)
    exporter.close()
    assert sink.requests == [REQUEST * 100]
    told = sink.attempts[0].metadata
    assert (told["authorization"], told["content-type"], told["content-encoding"]) == ("Bearer x", PROTOBUF, "gzip")
    assert int(told["content-length"]) < len(REQUEST * 100)


@pytest.mark.parametrize("code", PERMANENT)
def test_other_codes_are_dropped(sink: HttpSink, code: int) -> None:
    """One attempt, one log line with code and message, one count; a redirection is not followed."""
    sink.headers = {"location": f"{sink.endpoint}/elsewhere", "retry-after": "1"}
    sink.fail(code, "no, never")
    with capture_logs() as lines:
        dropped = OtlpExporter(sink.endpoint, QUICK)
        assert not dropped.export(REQUEST)
        dropped.close()
    assert len(sink.attempts) == 1
    (line,) = lines
    message = "" if code == 304 else "no, never"  # which has no content
    assert (line["event"], line["code"], line["message"]) == ("request_dropped", str(code), message)
    assert (dropped.stats().failed, dropped.stats().retried) == (1, 0)


def test_a_delay_may_be_a_date(sink: HttpSink) -> None:
    """Retry-After has seconds, or the time to come back at; what is neither counts as none."""
    exporter = OtlpExporter(sink.endpoint, QUICK)
    sink.headers = {"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)}
    sink.fail(429, times=1)
    assert exporter.export(REQUEST)
    sink.headers = {"retry-after": "tomorrow"}
    sink.fail(429, times=1)
    assert exporter.export(REQUEST)
    exporter.close()
    times = [attempt.time for attempt in sink.attempts]
    assert 0.9 < times[1] - times[0] < 5.0
    assert times[3] - times[2] < 0.9


@pytest.mark.parametrize("page", [b"", b"{}", b"<html>" * 200_000], ids=["empty", "json", "large"])
def test_a_success_that_is_not_otlps_is_one(sink: HttpSink, exporter: OtlpExporter, page: bytes) -> None:
    """The code decides; of a large answer only the beginning is read."""
    sink.page = page
    assert exporter.export(REQUEST)
    assert exporter.export(REQUEST)
    assert len(sink.requests) == 2


def secured(authority: trustme.CA, folder: Path, *, ask: bool = False) -> tuple[ssl.SSLContext, ClientTls]:
    """A server's context, and the files of a client that it knows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    if ask:
        authority.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    client = authority.issue_cert("client@example.org")
    ca_file, cert_file, key_file = folder / "ca.pem", folder / "cert.pem", folder / "key.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    cert_file.write_bytes(b"".join(blob.bytes() for blob in client.cert_chain_pems))
    client.private_key_pem.write_to_path(str(key_file))
    return context, ClientTls(ca_file, cert_file, key_file)


def test_https_is_tls(tmp_path: Path) -> None:
    """The server's certificate is checked: against the authorities given, else against the system's."""
    context, files = secured(trustme.CA(), tmp_path)
    with HttpSink(tls=context) as sink:
        for tls, taken in ((ClientTls(ca_file=files.ca_file), True), (ClientTls(), False)):
            exporter = OtlpExporter(sink.endpoint, replace(BRIEF, tls=tls))
            assert (exporter.export(REQUEST) is not None) is taken
            exporter.close()
    assert sink.requests == [REQUEST]


def test_a_client_certificate_is_shown(tmp_path: Path) -> None:
    """A server that asks for one takes the request with it, and does not without it."""
    context, files = secured(trustme.CA(), tmp_path, ask=True)
    with HttpSink(tls=context) as sink:
        for tls, taken in ((files, True), (ClientTls(ca_file=files.ca_file), False)):
            exporter = OtlpExporter(sink.endpoint, replace(BRIEF, tls=tls))
            assert (exporter.export(REQUEST) is not None) is taken
            exporter.close()
    assert sink.requests == [REQUEST]


@pytest.mark.parametrize("protocol", ["grpc", "http/protobuf"])
def test_a_file_that_is_no_certificate_is_told(tmp_path: Path, protocol: str) -> None:
    """It is found out before anything is sent, and the message names it."""
    file = tmp_path / "ca.pem"
    file.write_text("nothing")
    settings = ExportSettings(protocol=protocol, tls=ClientTls(ca_file=file))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=str(file)):
        OtlpExporter("https://localhost:1", settings)


@pytest.mark.parametrize("over", ["plain", "tls"])
def test_close_cancels_an_attempt(tmp_path: Path, over: str) -> None:
    """A call that hangs ends at once and counts as unanswered; so does every later one."""
    context, files = secured(trustme.CA(), tmp_path)
    with HttpSink(tls=context if over == "tls" else None, delay=5.0) as sink:
        exporter = OtlpExporter(sink.endpoint, replace(PATIENT, tls=files))
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


def test_a_fault_of_an_attempt_is_no_end_of_sending(sink: HttpSink) -> None:
    """What breaks an attempt off, as here a header that no library sends, is told, tried again and given up in time."""
    with capture_logs() as lines:
        exporter = OtlpExporter(sink.endpoint, replace(BRIEF, headers=(("a", "b\nc"),)))
        assert exporter.export(REQUEST) is None
        exporter.close()
    assert [(line["event"], line["code"]) for line in lines] == [
        ("destination_away", "ValueError"),
        ("request_dropped", "ValueError"),
    ]
    assert not sink.attempts
