"""OTLP JSON in a file: a request a line, as the Collector's file exporter writes them, or one over many lines."""

import io
import json
from collections.abc import Iterator

from weaklink_processor.errors import BadData
from weaklink_processor.receive import otlp_json
from weaklink_processor.receive.faults import fault
from weaklink_processor.receive.limits import Limits


def read(name: str, stream: io.BufferedReader, limits: Limits) -> Iterator[bytes]:
    """Give the requests of a JSON file; UsageError with file and line."""
    most = limits.max_recv_bytes
    number = 0
    whole = False  # whether the first text was found to be one line of many
    while text := stream.readline(most + 1):
        number += 1
        if not text.strip():
            continue
        if not whole and _goes_on(text):
            text += stream.read(most + 1 - len(text))
        whole = True
        place = f"{name}:{number}"
        if len(text) > most:
            raise fault(place, f"more than {most} bytes of JSON in one request")
        yield _to_protobuf(name, number, text, limits)


def _goes_on(line: bytes) -> bool:
    """Whether this is JSON that its line does not end: no fault in it but that more is missing."""
    try:
        otlp_json.parse(line)
    except BadData as error:
        match error.__cause__:
            case json.JSONDecodeError(doc=text, pos=position):
                return position >= len(text.rstrip())
    return False


def _to_protobuf(name: str, number: int, text: bytes, limits: Limits) -> bytes:
    try:
        return otlp_json.to_protobuf(text, limits)
    except BadData as error:
        place, what = f"{name}:{number}", str(error)
        match error.__cause__:
            case json.JSONDecodeError(msg=what, lineno=line, colno=column):
                place, what = f"{name}:{number + line - 1}", f"not JSON: {what} at column {column}"
        raise fault(place, what) from error
