"""An answer over HTTP as it comes in on a socket.

A server, or a proxy before it, may send any number of interim answers first, and http.client takes each but 100 for the
final one: https://www.rfc-editor.org/rfc/rfc9110#section-15.2
"""

import http.client
from http import HTTPStatus

INTERIM = range(HTTPStatus.PROCESSING, HTTPStatus.OK)
"""Those that http.client knows nothing of; 101 is final, and no success."""


class FinalAnswer(http.client.HTTPResponse):
    """What comes behind all interim answers."""

    def _read_status(self) -> tuple[str, int, str]:
        version, status, reason = super()._read_status()  # type: ignore[misc]  # not in its stubs
        return version, HTTPStatus.CONTINUE if status in INTERIM else status, reason
