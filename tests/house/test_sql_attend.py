"""A query at work."""

import io
import time

import duckdb
import pytest

from weaklink_processor.commands import sql_attend


class Stderr(io.StringIO):
    """What a bar is drawn on."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self.isatty = lambda: is_terminal  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("is_terminal", "bar", "shown"), [(True, True, True), (False, True, False), (True, False, False)]
)
def test_only_a_terminal_sees_a_bar(
    monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool, bar: bool, shown: bool
) -> None:
    """However long a query takes, a pipe gets nothing, and a terminal that something else is drawn on no bar."""
    stderr = Stderr(is_terminal=is_terminal)
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setattr(sql_attend, "PATIENCE", 0)
    with duckdb.connect() as catalogue:
        sql_attend.attended(catalogue, lambda: time.sleep(0.2), bar=bar)
    assert bool(stderr.getvalue()) is shown


def test_what_fails_beside_the_main_thread_is_raised_in_it() -> None:
    """Work is done when it returns, and its error is the caller's."""

    def fail() -> None:
        raise ValueError("midway")

    with duckdb.connect() as catalogue, pytest.raises(ValueError, match="midway"):
        sql_attend.attended(catalogue, fail, bar=False)
