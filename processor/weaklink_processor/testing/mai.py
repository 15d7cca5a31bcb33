"""What a test asks of the spans that it captured."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from weaklink_analysis.gate.verdict import Tier, Verdict
from weaklink_processor.config import Config
from weaklink_processor.testing.capture import Capture, TakesProcessors, own_provider
from weaklink_processor.testing.rules import checked

if TYPE_CHECKING:
    import duckdb

_UNBOUNDED: Mapping[str, int] = MappingProxyType({})


class Mai:
    """The spans of one test, and what weaklink makes of them. Each question is about all that have ended by then."""

    def __init__(self, capture: Capture, config: Config, min_score: float) -> None:
        """`min_score`: where a question gives none."""
        self._capture, self._config, self._min_score = capture, config, min_score
        self._catalogue: duckdb.DuckDBPyConnection | None = None
        self._analysed = 0
        """How many spans are in it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        """The spans that began while the test ran and have ended, in the order in which they did."""
        return self._capture.spans

    @cached_property
    def tracer_provider(self) -> TracerProvider:
        """A tracer provider of this test alone, for code that is given one."""
        provider = own_provider()
        self._capture.watch(provider)
        return provider

    def watch(self, tracer_provider: object) -> None:
        """Capture the spans of this provider too, from now on: one of the OpenTelemetry SDK.

        Raises:
            TypeError: it takes no span processor.
        """
        if not isinstance(tracer_provider, TakesProcessors):
            kind = type(tracer_provider)
            raise TypeError(
                f"{kind.__module__}.{kind.__qualname__}: expected a tracer provider of the OpenTelemetry SDK"
            )
        self._capture.watch(tracer_provider)

    def sql(self, query: str, parameters: object = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query on the views that `weaklink sql` has; parameters are as DuckDB takes them."""
        return self._views().execute(query, parameters).fetchall()

    def evaluations(self) -> list[dict[str, Any]]:
        """Return the rows of the view `evaluations`: of decisions, of sessions and of traces."""
        found = self._views().execute("FROM evaluations ORDER BY scope, trace_id, span_id, rubric")
        names = [name for name, *_ in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def verdict(
        self,
        *,
        min_score: float | None = None,
        tier: int | Tier = "both",
        max_findings: Mapping[str, int] = _UNBOUNDED,
        min_pass_rate: float = 1.0,
        min_traces: int = 1,
    ) -> Verdict:
        """Judge as `weaklink gate` does; the arguments are its options.

        Raises:
            ValueError: an argument has a value that there is none of.
        """
        from weaklink_analysis.gate.judging import judge
        from weaklink_analysis.selection import Selection
        from weaklink_processor.wiring.analysing import attribution, gate_rubric

        rules = checked(
            tier=tier,
            min_score=self._min_score if min_score is None else min_score,
            min_pass_rate=min_pass_rate,
            min_traces=min_traces,
            max_findings=max_findings,
            rubric=gate_rubric(self._config),
            attribution=attribution(self._config),
        )
        return judge(self._views(), Selection(), rules)

    def assert_passes(
        self,
        *,
        min_score: float | None = None,
        tier: int | Tier = "both",
        max_findings: Mapping[str, int] = _UNBOUNDED,
        min_pass_rate: float = 1.0,
        min_traces: int = 1,
    ) -> None:
        """Fail where the verdict that these arguments ask for is not passed, or where there is nothing to judge.

        Raises:
            AssertionError: it is so: which memory is at fault, its author and its chain, why, and what to do.
            ValueError: an argument has a value that there is none of.
        """
        __tracebackhide__ = True
        from weaklink_processor.testing.message import told

        verdict = self.verdict(
            min_score=min_score,
            tier=tier,
            max_findings=max_findings,
            min_pass_rate=min_pass_rate,
            min_traces=min_traces,
        )
        if not verdict.passed:
            raise AssertionError(told(verdict, self._views(), self._capture))

    def _views(self) -> "duckdb.DuckDBPyConnection":
        from weaklink_processor.wiring.in_memory import catalogue_in_memory

        spans = self.spans
        if self._catalogue is None or len(spans) != self._analysed:
            self._close()
            self._catalogue = catalogue_in_memory(self._config, encode_spans(spans).SerializeToString())
            self._analysed = len(spans)
        return self._catalogue

    def _close(self) -> None:
        if self._catalogue is not None:
            self._catalogue.close()
            self._catalogue = None
