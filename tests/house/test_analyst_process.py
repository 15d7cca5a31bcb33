"""The analyst's process, before it does anything."""

import os
from typing import Any

import pytest
from click.testing import CliRunner

from weaklink_processor.commands import analyst


def test_where_no_niceness_is_allowed_it_works_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some systems deny every change of it: that is no reason not to start."""

    def deny(_more: int) -> int:
        raise PermissionError

    def start(name: str, _run: Any) -> None:
        started.append(name)

    started: list[str] = []
    monkeypatch.setattr(os, "nice", deny)
    monkeypatch.setattr(analyst, "run_child", start)
    assert CliRunner().invoke(analyst.analyst).exit_code == 0
    assert started == ["analyst"]
