"""Phoenix's annotations: which answers are worth another try, and what it does not know.

`sync=true` has Phoenix answer when it has them, or 404 with the ids that it does not know, and then it takes none of
the request. Without that it answers 200 at once, and drops in silence what it cannot place.
"""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from weaklink_processor.emit.annotation import PATHS
from weaklink_processor.emit.http_client import HttpClient
from weaklink_processor.emit.settings import ExportSettings
from weaklink_processor.emit.transport import Response
from weaklink_processor.endpoint import Endpoint

JSON = "application/json"


class PhoenixTransport:
    """Connections to one Phoenix."""

    def __init__(self, endpoint: Endpoint, settings: ExportSettings) -> None:
        self._base = endpoint.path
        self._client = HttpClient(endpoint, settings, JSON)

    def send(self, request: bytes) -> Response:
        """Make one attempt, and one more without what Phoenix does not know; Failed, if it takes none of it."""
        annotations: Sequence[Mapping[str, str]] = json.loads(request)["data"]
        kind = next(kind for kind in PATHS if kind in annotations[0])
        left, unknown = request, set[int]()
        while len(unknown) < len(annotations):
            answer = self._client.post(f"{self._base}{PATHS[kind]}?sync=true", left)
            if answer.is_success:
                break
            named = {
                place
                for place, each in enumerate(annotations)
                if answer.status == HTTPStatus.NOT_FOUND and place not in unknown and each[kind] in answer.text
            }
            if not named:
                # What could not be read may have named those that it does not know.
                may_name = answer.status == HTTPStatus.NOT_FOUND and not answer.readable
                raise answer.failed(retryable=may_name or is_retryable(answer.status))
            unknown |= named
            known = [each for place, each in enumerate(annotations) if place not in unknown]
            left = json.dumps({"data": known}, ensure_ascii=False).encode()
        return Response(unknown=tuple(sorted(unknown)))

    def close(self) -> None:
        """Hang up, also on what is in flight."""
        self._client.close()


def is_retryable(status: int) -> bool:
    """Tell whether Phoenix may take the same request later.

    As OTLP has it, and besides whatever a server says of itself: Phoenix answers 500 while its database is locked or
    away, and 507 while that is full.
    """
    return status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
