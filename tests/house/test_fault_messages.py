"""What a fault's message says: which entry it is of, in words of the settings, and never a secret."""

from pathlib import Path

import pytest

from weaklink_processor.errors import UsageError
from weaklink_processor.sources import load_config

STRING = "(not shown): expected a valid string, in quotes if it is a number"
HEADERS = "expected names of letters, digits and - _ ., and values of ASCII that can be printed"
CHARACTERS = "digits and - _ ., beginning with a letter or a digit"
MESSAGES = {
    "forward: {headers: {key: 1, b: [1]}}": [f"forward.headers.key: {STRING}", f"forward.headers.b: {STRING}"],
    "forward: {headers: {x-api key: 1}}": [f"forward.headers.x-api...: {STRING}"],
    "forward: {headers: {authorization=Bearer s3cret}}": [f"forward.headers.authorization...: {STRING}"],
    "forward: {headers: 'a=b,Bearer s3cret=='}": [f"forward.headers: (not shown): {HEADERS}; not so 'Bearer...'"],
    "receiver: {auth: {users: {a: b, c: 12345}}}": [f"receiver.auth.users.c: {STRING}"],
    "receiver: {auth: {users: {a: b, 'c:s3cret': d}}}": [
        "receiver.auth.users: (not shown): expected names without a colon, each with a password; not so 'c...'"
    ],
    "forward: {destinations: {bad name!: {endpoint: 'a:1'}}}": [
        f"forward.destinations.bad name!: (not shown): expected a name of letters, {CHARACTERS}"
    ],
    "forward: {destinations: {a: s3cret}}": ["forward.destinations.a: (not shown): expected a section of settings"],
    "data_dir: 5": ["data_dir: 5: expected the path of a folder"],
    "forward: {tls: {ca_file: 5}}": ["forward.tls.ca_file: 5: expected the path of a file that exists"],
    "forward: {destinations: {a: {endpoint: 'a:1', timeot: 4, tls: {ca_fle: s3cret}}}}": [
        "forward.destinations.a.tls.ca_fle: (not shown): no such setting; did you mean ca_file?",
        "forward.destinations.a.timeot: (not shown): no such setting; did you mean timeout?",
    ],
    "forward: {destinations: {tls: {endpoint: 'a:1', heders: {a: s3cret}}}}": [
        "forward.destinations.tls.heders: (not shown): no such setting; did you mean headers?"
    ],
    "analysis: {services: {a: {flag_treshold: 1}}}": [
        "analysis.services.a.flag_treshold: 1: no such setting; did you mean flag_threshold?"
    ],
    "analysis: {conventions: [{name: a b, names: [c], sql: d}]}": [
        f"analysis.conventions.0.name: 'a b': expected a name of small letters, {CHARACTERS}"
    ],
}


@pytest.mark.parametrize(("text", "messages"), MESSAGES.items())
def test_a_message_tells_the_entry(tmp_path: Path, text: str, messages: list[str]) -> None:
    """Names of headers, users and destinations are told as far as they are names; values are not."""
    file = tmp_path / "weaklink.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_config(file, {}, {})
    assert str(caught.value).splitlines() == [f"{file}: {message}" for message in messages]
    assert "s3cret" not in str(caught.value)
