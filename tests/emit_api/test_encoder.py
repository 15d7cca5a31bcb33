"""JSON of records: what the standard library's encoder writes, whichever way it is had."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weaklink_analysis.emit.encoder import encoder

KNOWN = json.JSONEncoder(allow_nan=False, check_circular=False, ensure_ascii=False, separators=(",", ":"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.integers() | st.none(), inner),
)
FAST, WITHOUT = encoder(), KNOWN.encode


def says_no(*_: object) -> None:
    raise TypeError("one argument more")


@given(VALUES)
def test_it_writes_what_the_librarys_encoder_writes(value: object) -> None:
    """To the letter, for all that JSON has a form for."""
    assert FAST(value) == KNOWN.encode(value)


def test_it_is_not_the_librarys_own() -> None:
    """On this Python there is the faster way: else nothing here tests it."""
    assert getattr(FAST, "__self__", None) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), [b"x"]])
def test_what_has_no_form_is_refused(value: object) -> None:
    """As there: not a number, and what is no JSON."""
    for encode in (FAST, KNOWN.encode):
        with pytest.raises((ValueError, TypeError)):
            encode(value)


def test_what_contains_itself_ends() -> None:
    """In an error, and not in a crash."""
    value: list[object] = []
    value.append(value)
    with pytest.raises(RecursionError):
        FAST(value)


@pytest.mark.parametrize("made", [None, says_no, lambda *_: lambda *_: ("[", "]")], ids=["none", "refuses", "differs"])
def test_without_it_the_librarys_own_is_taken(
    monkeypatch: pytest.MonkeyPatch, made: Callable[..., object] | None
) -> None:
    """It is no documented part of Python: it may be missing, or be made or answer in another way."""
    monkeypatch.setattr("json.encoder.c_make_encoder", made)
    assert isinstance(getattr(encoder(), "__self__", None), json.JSONEncoder)
