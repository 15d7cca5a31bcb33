"""Concrete ports in place of 0, so that a restarted child listens where its predecessor did."""

import socket


def concrete(host: str, port: int) -> str:
    """Return `HOST:PORT` with a port that was free a moment ago where `port` is 0; an IPv6 host is in brackets."""
    if port:
        return f"{host}:{port}"
    address = host.strip("[]")
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        probe.bind((address, 0))
        return f"{host}:{probe.getsockname()[1]}"
