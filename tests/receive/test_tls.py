"""TLS on both protocols: who is spoken to, client certificates, and certificates that are replaced on disk."""

import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path

import grpc
import pytest
import trustme
from structlog.testing import capture_logs

from receive.harness import ANY_PORTS, EXPORT, GOOD, PROTOBUF, Receiver, running
from weaklink_processor.errors import UsageError
from weaklink_processor.receive.process import Bound
from weaklink_processor.receive.tls import Tls, TlsFiles

HOST = "localhost"


class Issuer:
    """An authority, the certificate of a server in files, and that of a client."""

    def __init__(self, folder: Path) -> None:
        self.authority = trustme.CA()
        self.files = TlsFiles(folder / "cert.pem", folder / "key.pem")
        self.client_ca = folder / "ca.pem"
        self.authority.cert_pem.write_to_path(self.client_ca)
        self.issue()

    def issue(self, authority: trustme.CA | None = None) -> None:
        """Write a new certificate and its key in place of the old ones."""
        made = (authority or self.authority).issue_cert(HOST)
        self.files.cert.write_bytes(b"".join(blob.bytes() for blob in made.cert_chain_pems))
        self.files.key.write_bytes(made.private_key_pem.bytes())


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    return Issuer(tmp_path)


def serial_of(port: int, authority: trustme.CA) -> str:
    """The serial number of the certificate that a server shows to a new connection."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with socket.create_connection((HOST, port)) as plain, context.wrap_socket(plain, server_hostname=HOST) as secured:
        shown = secured.getpeercert()
        assert shown
        return str(shown["serialNumber"])


def by_http(bound: Bound, authority: trustme.CA, client: trustme.LeafCert | None = None) -> int:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    if client:
        client.configure_cert(context)
    with closing(HTTPSConnection(HOST, bound.http.port, context=context, timeout=30)) as connection:
        connection.request("POST", "/v1/traces", GOOD, {"content-type": PROTOBUF})
        return connection.getresponse().status


def channel(bound: Bound, authority: trustme.CA, client: trustme.LeafCert | None = None) -> grpc.Channel:
    pair = (client.private_key_pem.bytes(), client.cert_chain_pems[0].bytes()) if client else (None, None)
    return grpc.secure_channel(
        f"{HOST}:{bound.grpc.port}", grpc.ssl_channel_credentials(authority.cert_pem.bytes(), *pair)
    )


def by_grpc(bound: Bound, authority: trustme.CA, client: trustme.LeafCert | None = None) -> int:
    with channel(bound, authority, client) as opened:
        opened.unary_unary(EXPORT, bytes, bytes)(GOOD, timeout=30)
    return 200


CLIENTS = pytest.mark.parametrize("send", [by_http, by_grpc])
Send = Callable[..., int]


@CLIENTS
def test_spans_come_in_over_tls(issuer: Issuer, send: Send) -> None:
    """A client that trusts the authority is served; one that does not breaks off, and plain text gets no answer."""
    with running(replace(ANY_PORTS, grpc_tls=issuer.files, http_tls=issuer.files)) as receiver:
        assert send(receiver.bound, issuer.authority) == 200
        with pytest.raises((ssl.SSLError, grpc.RpcError)):
            send(receiver.bound, trustme.CA())
        with closing(HTTPConnection(*receiver.bound.http, timeout=5)) as plain:
            plain.request("POST", "/v1/traces", GOOD, {"content-type": PROTOBUF})
            with pytest.raises((ConnectionError, HTTPException)):
                plain.getresponse()
    assert receiver.names() == ["good"]


@CLIENTS
def test_clients_show_a_certificate_where_that_is_asked(issuer: Issuer, send: Send) -> None:
    """With authorities for clients, only a client with a certificate of one of them is served."""
    files = replace(issuer.files, client_ca=issuer.client_ca)
    with running(replace(ANY_PORTS, grpc_tls=files, http_tls=files)) as receiver:
        assert send(receiver.bound, issuer.authority, issuer.authority.issue_cert("agent")) == 200
        for client in (None, trustme.CA().issue_cert("stranger")):
            with pytest.raises((OSError, grpc.RpcError)):
                send(receiver.bound, issuer.authority, client)
    assert receiver.names() == ["good"]


def test_a_new_certificate_counts_from_the_next_connection_on(issuer: Issuer) -> None:
    """It needs no restart, and no request is dropped: clients send all the while, on connections old and new."""
    with running(replace(ANY_PORTS, grpc_tls=issuer.files, http_tls=issuer.files)) as receiver:
        stop, sent = threading.Event(), [0, 0]
        senders = [
            threading.Thread(target=keep_sending, args=(receiver, issuer, stop, sent)),
            threading.Thread(target=keep_connecting, args=(receiver, issuer, stop, sent)),
        ]
        for sender in senders:
            sender.start()
        for port in (receiver.bound.http.port, receiver.bound.grpc.port):
            shown = {serial_of(port, issuer.authority)}
            for _ in range(3):
                issuer.issue()
                shown.add(serial_of(port, issuer.authority))
            assert len(shown) == 4
        stop.set()
        for sender in senders:
            sender.join()
    assert all(sent), "no requests were sent"
    assert len(receiver.stored) == sum(sent)


def keep_sending(receiver: Receiver, issuer: Issuer, stop: threading.Event, sent: list[int]) -> None:
    """Over one gRPC connection."""
    with channel(receiver.bound, issuer.authority) as opened:
        call = opened.unary_unary(EXPORT, bytes, bytes)
        while not stop.is_set():
            call(GOOD, timeout=30)
            sent[0] += 1


def keep_connecting(receiver: Receiver, issuer: Issuer, stop: threading.Event, sent: list[int]) -> None:
    """Each time anew, over HTTP."""
    while not stop.is_set():
        assert by_http(receiver.bound, issuer.authority) == 200
        sent[1] += 1


def test_files_that_make_no_sense_change_nothing(issuer: Issuer) -> None:
    """Half a renewal or a missing file: the old certificate goes on, each server logs it once, mended ones count."""
    with running(replace(ANY_PORTS, grpc_tls=issuer.files, http_tls=issuer.files)) as receiver:
        before = serial_of(receiver.bound.http.port, issuer.authority)
        other = issuer.authority.issue_cert(HOST)
        with capture_logs() as logs:
            issuer.files.cert.write_bytes(other.cert_chain_pems[0].bytes())  # its key is still to come
            for port in (receiver.bound.http.port, receiver.bound.grpc.port, receiver.bound.http.port):
                assert serial_of(port, issuer.authority) == before
        assert [log["event"] for log in logs] == ["certificate not reloaded"] * 2
        issuer.files.cert.unlink()
        assert serial_of(receiver.bound.grpc.port, issuer.authority) == before
        issuer.issue()
        assert serial_of(receiver.bound.http.port, issuer.authority) != before


def test_a_key_of_another_certificate_is_refused_at_the_start(issuer: Issuer) -> None:
    """The message names both files."""
    issuer.files.key.write_bytes(trustme.CA().issue_cert(HOST).private_key_pem.bytes())
    with pytest.raises(UsageError, match=r"cert\.pem with the key .*key\.pem"):
        Tls(issuer.files)


def test_authorities_that_are_none_are_named(issuer: Issuer) -> None:
    """A fault of the clients' authorities is not put on the server's certificate."""
    with pytest.raises(UsageError) as caught:
        Tls(replace(issuer.files, client_ca=issuer.files.key))
    assert str(caught.value).startswith(f"cannot use the authorities of client_ca_file, {issuer.files.key}: ")
