"""OASIS' schema of SARIF 2.1.0: from its repository, once, into the cache; it is no part of this one."""

import hashlib
import os
from pathlib import Path

import pytest
import urllib3

COMMIT, SHA256 = (
    "a560296ca8c921f3bdb8d4a8db57ab83dae968a7",
    "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e",
)
URL = f"https://raw.githubusercontent.com/oasis-tcs/sarif-spec/{COMMIT}/sarif-2.1/schema/sarif-schema-2.1.0.json"


def sarif_schema() -> str:
    """Its text; without a network, and without an earlier one, the test is skipped."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    file = cache / "weaklink" / "sarif-schema-2.1.0.json"
    if not file.exists():
        try:
            answer = urllib3.request("GET", URL, retries=False, timeout=10)
        except urllib3.exceptions.HTTPError as error:
            pytest.skip(f"the schema of SARIF cannot be fetched: {error}")
        if answer.status != 200:
            pytest.skip(f"the schema of SARIF cannot be fetched: {answer.status}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(answer.data)
    text = file.read_bytes()
    assert hashlib.sha256(text).hexdigest() == SHA256
    return text.decode()
