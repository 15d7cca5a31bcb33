"""A setting that is given twice in one source: which of the two counts would be anybody's guess."""

from pathlib import Path

import pytest

from weaklink_processor.errors import UsageError
from weaklink_processor.sources import load_config


def refused(text: str, tmp_path: Path) -> list[str]:
    file = tmp_path / "weaklink.yaml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_config(file, {}, {})
    return str(caught.value).removeprefix(f"{file}: ").split(f"\n{file}: ")


def test_a_section_is_there_once(tmp_path: Path) -> None:
    """A second section of one name would take the first one's credentials away; both lines are told, no value."""
    text = "receiver:\n  auth: {tokens: [s3cret]}\nlog: {level: info}\nreceiver:\n  http: {endpoint: '127.0.0.1:0'}\n"
    assert refused(text, tmp_path) == ["receiver: lines 1 and 4: expected once in its section"]


def test_a_key_is_there_once_at_any_depth(tmp_path: Path) -> None:
    """In lists and in mappings of one's own as well; all of them are told at once, beside what else is wrong."""
    text = """
analysis:
  max_hops: 99
  decisions:
    - {span_name: a, span_name: b}
forward:
  destinations:
    a: {endpoint: 'a:1'}
    b: {endpoint: 'b:1'}
    "a": {endpoint: 'c:1'}
"""
    assert refused(text, tmp_path) == [
        "span_name: lines 5 and 5: expected once in its section",
        "a: lines 8 and 10: expected once in its section",
        "analysis.max_hops: 99: expected less than or equal to 16",
    ]


def test_one_setting_is_written_one_way(tmp_path: Path) -> None:
    """A key with dots and the same one in sections are one setting."""
    text = "receiver.auth.tokens: [s3cret]\nreceiver: {auth: {tokens: [other]}}\n"
    assert refused(text, tmp_path) == ["receiver.auth.tokens: (not shown): expected once, and it is there in two ways"]


def test_merging_is_no_repetition(tmp_path: Path) -> None:
    """What `<<` brings in gives way to the mapping's own keys, also where that one is merged into another."""
    file = tmp_path / "weaklink.yaml"
    file.write_text("""
forward:
  destinations:
    a: &a {endpoint: 'a:1', timeout: 3, headers: {k: v}}
    b: &b {<<: *a, endpoint: 'b:1'}
    c: {<<: *b, timeout: 4}
    d: {<<: [*a, *b], timeout: 5}
""")
    found = load_config(file, {}, {}).forward.destinations
    assert [(name, own.endpoint, own.timeout, own.headers) for name, own in found.items()] == [
        ("a", "a:1", 3.0, {"k": "v"}),
        ("b", "b:1", 3.0, {"k": "v"}),
        ("c", "b:1", 4.0, {"k": "v"}),
        ("d", "a:1", 5.0, {"k": "v"}),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("FORWARD__DESTINATIONS", '{"a": {"endpoint": "a:1", "headers": {"k": "s3cret"}}, "a": {"endpoint": "b:1"}}'),
        ("RECEIVER__AUTH__USERS", '{"a": "s3cret", "a": "also s3cret"}'),
        ("ANALYSIS__DECISIONS", '[{"span_name": "b", "a": 1, "a": 2}]'),
    ],
)
def test_a_variable_has_each_name_once(name: str, text: str) -> None:
    """JSON in a variable is held to the same; its values are not shown."""
    with pytest.raises(UsageError, match="expected each name once; 'a' is there twice") as caught:
        load_config(None, {f"WEAKLINK_{name}": text}, {})
    assert "s3cret" not in str(caught.value)


def test_what_is_no_yaml_is_not_shown(tmp_path: Path) -> None:
    """A file that cannot be read is told by line and column: the line itself may hold a secret."""
    (fault,) = refused("receiver: {auth: {tokens: [s3cret}}\n", tmp_path)
    assert "line 1, column" in fault
    assert "s3cret" not in fault


def test_a_folder_is_no_file_of_settings(tmp_path: Path) -> None:
    """What cannot be opened is told in words."""
    with pytest.raises(UsageError) as caught:
        load_config(tmp_path, {}, {})
    assert str(caught.value) == f"{tmp_path}: Is a directory; expected a file of settings"
