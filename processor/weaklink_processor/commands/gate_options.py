"""What options of the gate take, and what is said of anything else."""

import re
from typing import Any

import click

from weaklink_analysis.gate.verdict import SEVERITIES
from weaklink_analysis.views.codes import CODES


class _TraceId(click.ParamType[str]):
    name = "trace id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not re.fullmatch(r"[0-9a-fA-F]{32}", value):
            self.fail(f"{value!r}: expected 32 hex digits", param, ctx)
        return str(value).lower()


class _Bound(click.ParamType[tuple[str, int]]):
    name = "bound"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        if isinstance(value, tuple):
            return value
        name, _, number = str(value).partition("=")
        if name not in (*SEVERITIES, *CODES):
            self.fail(f"{value!r}: expected {', '.join(SEVERITIES)}, or a code: {', '.join(CODES)}", param, ctx)
        if not re.fullmatch(r"[0-9]{1,9}", number):
            self.fail(f"{value!r}: expected a whole number after the =", param, ctx)
        return name, int(number)


TRACE_ID, BOUND = _TraceId(), _Bound()
