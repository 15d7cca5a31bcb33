"""Credentials and keys are in no log, no answer and no list of processes."""

import base64
from pathlib import Path

from e2e.clients import post
from otlp import S, payload
from weaklink_service import Service

TOKEN, PASSWORD, KEY, WRONG = "sesame-of-bearers", "sesame-of-ann", "sesame-of-the-next", "sesame-that-is-wrong"
BASIC = base64.b64encode(f"ann:{PASSWORD}".encode()).decode()
SETTINGS = {
    "WEAKLINK_RECEIVER__AUTH__TOKENS": TOKEN,
    "WEAKLINK_RECEIVER__AUTH__USERS": f'{{"ann": "{PASSWORD}"}}',
    "WEAKLINK_FORWARD__HEADERS": f"x-api-key={KEY}",
    "WEAKLINK_LOG__LEVEL": "debug",
}


def test_no_secret_is_told(tmp_path: Path) -> None:
    """Not even at the lowest level, where requests are refused, and forwarded in vain."""
    body = payload([S(1, 1)])
    with Service(tmp_path / "data", forward="127.0.0.1:1", settings=SETTINGS) as service:
        taken = [post(service, body, authorization=each) for each in (f"Bearer {TOKEN}", f"Basic {BASIC}")]
        refused = [post(service, body, authorization=each) for each in (f"Bearer {WRONG}", f"Basic {WRONG}", WRONG)]
        children = [child for name in ("receiver", "analyst") if (child := service.child(name))]
        commands = " ".join(word for child in children for word in child.cmdline())
    assert [answer.status for answer in taken + refused] == [200] * 2 + [401] * 3
    told = [service.log.read_text(), service.greeting, commands, *(str(answer.body) for answer in refused)]
    assert len(children) == 2
    assert not [text for text in told for secret in (TOKEN, PASSWORD, BASIC, KEY, WRONG) if secret in text]
