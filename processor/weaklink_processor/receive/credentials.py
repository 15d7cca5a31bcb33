"""Who may send spans: bearer tokens and basic credentials, as the Collector's exporters send them.

https://www.rfc-editor.org/rfc/rfc6750#section-2.1 and https://www.rfc-editor.org/rfc/rfc7617
"""

import hmac
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from weaklink_processor.errors import Refused

HEADER: Final = "authorization"
CHALLENGE: Final = 'Bearer realm="weaklink", Basic realm="weaklink", charset="UTF-8"'
"""What a refusal says one may send."""


class Unauthenticated(Refused):
    """The request has no credentials, or not ones that count."""


class Credentials:
    """Those that count; with none at all everybody may send."""

    def __init__(self, tokens: Iterable[str] = (), users: Mapping[str, str] | None = None) -> None:
        pairs = [b64encode(f"{name}:{password}".encode()).decode() for name, password in (users or {}).items()]
        known = [("bearer", token) for token in tokens] + [("basic", pair) for pair in pairs]
        self._known = [_digest(scheme, secret) for scheme, secret in known]

    def __bool__(self) -> bool:
        """Whether any are asked for."""
        return bool(self._known)

    def check(self, headers: Sequence[str]) -> None:
        """Refuse a request with these `authorization` headers unless they are one that counts.

        Raises:
            Unauthenticated: it has none, several, or another one; what it sent is not told.
        """
        if not self:
            return
        if len(headers) != 1:
            raise Unauthenticated(f"expected one {HEADER} header, got {len(headers)}")
        scheme, _, secret = headers[0].strip().partition(" ")
        sent = _digest(scheme.lower(), secret.strip())
        # Every one is compared, and each in constant time: how long it takes tells nothing.
        if not sum(hmac.compare_digest(sent, one) for one in self._known):
            raise Unauthenticated(f"the {HEADER} header is not one that counts here")


def _digest(scheme: str, secret: str) -> bytes:
    return sha256(f"{scheme} {secret}".encode(errors="surrogateescape")).digest()
