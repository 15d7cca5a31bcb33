"""How a request that failed is answered: one table for both protocols.

https://opentelemetry.io/docs/specs/otlp/#failures and #failures-1; https://cloud.google.com/apis/design/errors
"""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from weaklink_processor.errors import BadData, BrokenStore, Overloaded, Refused, TooLarge, WeaklinkError
from weaklink_processor.receive.credentials import Unauthenticated

RETRY_SECONDS: Final = 1
"""When an overloaded receiver may be tried again; clients back off further on their own."""


class NoSuchPath(Refused):
    """Nothing is served at this path."""


class WrongMethod(Refused):
    """The path is served, by other methods."""

    def __init__(self, message: str, allowed: Sequence[str]) -> None:
        super().__init__(message)
        self.allowed = allowed


class WrongType(Refused):
    """The content type or content encoding is not one that OTLP names."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The status of a refusal in both protocols."""

    grpc: grpc.StatusCode
    http: HTTPStatus
    retryable: bool


ANSWERS: Final[dict[type[BaseException], Answer]] = {
    BadData: Answer(grpc.StatusCode.INVALID_ARGUMENT, HTTPStatus.BAD_REQUEST, retryable=False),
    TooLarge: Answer(grpc.StatusCode.RESOURCE_EXHAUSTED, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, retryable=False),
    Overloaded: Answer(grpc.StatusCode.UNAVAILABLE, HTTPStatus.SERVICE_UNAVAILABLE, retryable=True),
    BrokenStore: Answer(grpc.StatusCode.UNAVAILABLE, HTTPStatus.SERVICE_UNAVAILABLE, retryable=True),
    Unauthenticated: Answer(grpc.StatusCode.UNAUTHENTICATED, HTTPStatus.UNAUTHORIZED, retryable=False),
    NoSuchPath: Answer(grpc.StatusCode.UNIMPLEMENTED, HTTPStatus.NOT_FOUND, retryable=False),
    WrongMethod: Answer(grpc.StatusCode.UNIMPLEMENTED, HTTPStatus.METHOD_NOT_ALLOWED, retryable=False),
    WrongType: Answer(grpc.StatusCode.INVALID_ARGUMENT, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, retryable=False),
    Exception: Answer(grpc.StatusCode.INTERNAL, HTTPStatus.INTERNAL_SERVER_ERROR, retryable=False),
}


def answer_to(error: Exception) -> Answer:
    """Look up the answer of the nearest class that has one."""
    return next(ANSWERS[kind] for kind in type(error).__mro__ if kind in ANSWERS)


def status_of(error: Exception) -> Status:
    """Put `error` as a google.rpc.Status: with RetryInfo where trying again makes sense, and only there."""
    answer = answer_to(error)
    message = str(error) if isinstance(error, WeaklinkError) else "internal error"
    status = Status(code=answer.grpc.value[0], message=message)
    if answer.retryable:
        detail = Any()
        detail.Pack(RetryInfo(retry_delay=Duration(seconds=RETRY_SECONDS)))
        status.details.append(detail)
    return status
