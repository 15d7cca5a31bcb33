"""The dashboards of docker/grafana/dashboards, made of the cookbook's questions and of the service's metrics.

    python docker/grafana/make.py

writes them anew. A panel asks the cookbook's question of the period, the environments and the services that are chosen.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from panels import Json, Metric, Panel, dashboard

FOLDER = Path(__file__).parent / "dashboards"

TRACE_MATRIX: Json = {
    "id": "groupingToMatrix",
    "options": {"columnField": "author", "rowField": "reader", "valueField": "relied_on"},
}
SHARES = dict.fromkeys(("inflated", "failing", "share", "pass_rate", "success_rate", "filtered"), "percentunit")
GAPS = {f"without_{what}": "percentunit" for what in ("id", "confidence", "agent", "session", "run")}

DASHBOARDS: Mapping[str, tuple[str, Sequence[Panel | Metric]]] = {
    "mai": (
        "weaklink: MAI",
        [
            Panel("mai_over_time", "timeseries", width=14),
            Panel("changed_since_yesterday", width=10, own_period=True),
            Panel("pass_rate_over_time", "timeseries", unit="percentunit", width=14),
            Panel("environments_compared", width=10, units=SHARES),
            Panel("worst_traces_today", width=24),
            Panel("weakest_sessions"),
            Panel("verdicts_that_changed"),
        ],
    ),
    "contamination": (
        "weaklink: contamination",
        [
            Panel("contamination_leaderboard"),
            Panel("untrustworthy_and_read"),
            Panel("declared_and_effective", "timeseries"),
            Panel("gate_counts", "timeseries", stacked=True),
            Panel("sound_only_on_paper", width=24),
            Panel("chain_depths", "barchart"),
            Panel("replaced_and_read"),
            Panel("stale_reads", width=24),
        ],
    ),
    "agents": (
        "weaklink: agents and memories",
        [
            Panel("inflated_claims", units=SHARES),
            Panel("agents_judged", units=SHARES),
            Panel("readers_and_authors", width=24, transformations=[TRACE_MATRIX]),
            Panel("memory_types", units=SHARES),
            Panel("feedback", units=SHARES),
            Panel("confidence_sources", width=24),
        ],
    ),
    "instrumentation": (
        "weaklink: instrumentation",
        [
            Panel("findings_over_time", "timeseries", stacked=True),
            Panel("failing_checks"),
            Panel("instrumentation_gaps", width=24, units=GAPS),
            Panel("not_evaluable", units=SHARES),
            Panel("unresolved_parents"),
            Panel("traffic", "timeseries"),
            Panel("memory_latency", units={f"{name}_ms": "ms" for name in ("p50", "p95", "max")}),
        ],
    ),
    "operations": (
        "weaklink: operations",
        [
            Metric(
                "Spans a second",
                "What is acknowledged, refused and analysed.",
                {
                    "acknowledged": "sum(rate(otelcol_receiver_accepted_spans[$__rate_interval]))",
                    "refused": "sum(rate(otelcol_receiver_refused_spans[$__rate_interval]))",
                    "analysed": "sum(rate(weaklink_analysed_spans[$__rate_interval]))",
                },
            ),
            Metric(
                "Requests a second",
                "By outcome: success, refused, or a fault of weaklink.",
                {"{{outcome}}": "sum by (outcome) (rate(otelcol_receiver_requests[$__rate_interval]))"},
                stacked=True,
            ),
            Metric(
                "How long the oldest waits",
                "Of what the analysis, or a destination, has still before it.",
                {"{{consumer}}": "max by (consumer) (weaklink_lag_seconds)"},
                unit="s",
            ),
            Metric(
                "Spans that wait",
                "An estimate from the bytes that wait.",
                {"{{consumer}}": "max by (consumer) (weaklink_lag_spans)"},
            ),
            Metric(
                "Queue",
                "Compressed bytes.",
                {"queue": "max(weaklink_queue_bytes)", "capacity": "max(otelcol_exporter_queue_capacity)"},
                unit="bytes",
            ),
            Metric(
                "A step of the analysis",
                "How long it takes to apply queue rows.",
                {
                    f"p{percent}": f"histogram_quantile({percent / 100}, "
                    "sum by (le) (rate(weaklink_step_duration_seconds_bucket[$__rate_interval])))"
                    for percent in (50, 95)
                },
                unit="s",
            ),
            Metric(
                "Evaluations a second",
                "New revisions by verdict.",
                {"{{scope}} {{verdict}}": "sum by (scope, verdict) (rate(weaklink_evaluations[$__rate_interval]))"},
                stacked=True,
            ),
            Metric(
                "Sent on, a second",
                "Spans and annotations that destinations took, or refused for good.",
                {
                    f"{{{{exporter}}}} {done}": "sum by (exporter) "
                    f"(rate(otelcol_exporter_{done}_spans[$__rate_interval]))"
                    for done in ("sent", "send_failed")
                },
            ),
            Metric(
                "Processor",
                "Cores in use.",
                {"{{process}}": "sum by (process) (rate(otelcol_process_cpu_seconds[$__rate_interval]))"},
                stacked=True,
            ),
            Metric(
                "Memory",
                "Resident.",
                {"{{process}}": "max by (process) (otelcol_process_memory_rss)"},
                unit="bytes",
                stacked=True,
            ),
            Metric(
                "Errors in the period",
                "Log lines of level error.",
                {"{{process}}": "sum by (process) (increase(weaklink_errors[$__range]))"},
                kind="stat",
            ),
            Metric(
                "Set aside", "Rows that could not be used.", {"rows": "max(weaklink_quarantined_rows)"}, kind="stat"
            ),
        ],
    ),
}
"""Title and panels of each file."""


def dashboards() -> Mapping[str, str]:
    """The text of each file."""
    return {
        f"{name}.json": json.dumps(dashboard(name, title, panels), indent=2, ensure_ascii=False) + "\n"
        for name, (title, panels) in DASHBOARDS.items()
    }


if __name__ == "__main__":
    for name, text in dashboards().items():
        (FOLDER / name).write_text(text, "utf-8")
