"""Destinations from their settings."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from weaklink_processor.config import Config, Forwarding

if TYPE_CHECKING:
    from weaklink_analysis.operations import Settings
    from weaklink_processor.analyst.outbox import Destination
    from weaklink_processor.analyst.state import State
    from weaklink_processor.emit.settings import ExportSettings
    from weaklink_processor.emit.worker import Tell

_UNKNOWN_SECONDS = 300.0  # that Phoenix is given for spans which it does not know


def built_destinations(config: Config, state: "State", settings: "Settings") -> "Iterator[Destination]":
    """Build every destination that is configured."""
    from weaklink_processor.analyst.feeds import memory_numbers, no_numbers
    from weaklink_processor.analyst.outbox import Destination
    from weaklink_processor.analyst.step import SENT_SCOPES
    from weaklink_processor.emit.exporter import OtlpExporter

    most = config.queue.max_bytes // 2
    everywhere = config.forward.all
    for name, own in everywhere.items():
        scopes = (*SENT_SCOPES, "session") if own.sessions else SENT_SCOPES
        queue = own.sending_queue
        yield Destination(
            OtlpExporter(own.url, _export_settings(own), name),
            spans=own.takes_spans,
            numbers_of=memory_numbers(state, settings) if own.enrich and own.takes_spans else no_numbers,
            scopes=scopes if own.evaluations else (),
            tell=_tell(name, own, by_namespace=config.analysis.service_namespace),
            follows=bring_spans(own, everywhere),
            max_bytes=min(queue.max_bytes or most, most) if queue.on_full == "drop_oldest" else None,
        )


def _tell(name: str, own: Forwarding, *, by_namespace: bool) -> "Tell":
    from weaklink_processor.emit.patience import Patience, as_annotations
    from weaklink_processor.emit.worker import as_spans

    if own.protocol != "phoenix":
        return partial(as_spans, by_namespace=by_namespace)
    retry = own.retry_on_failure
    patience = Patience(
        retry.initial_interval, retry.max_interval, retry.multiplier, retry.max_elapsed_time or _UNKNOWN_SECONDS
    )
    return partial(as_annotations, name, patience)


def bring_spans(own: Forwarding, everywhere: Mapping[str, Forwarding]) -> list[str]:
    """Return the consumers of the queue that bring original spans to the Phoenix that this destination annotates."""
    if own.protocol != "phoenix":
        return []
    return [f"forward:{name}" for name, other in everywhere.items() if other.takes_spans and other.host == own.host]


def _export_settings(forward: Forwarding) -> "ExportSettings":
    from weaklink_processor.emit.retry import Backoff
    from weaklink_processor.emit.settings import ClientTls, ExportSettings

    retry, tls = forward.retry_on_failure, forward.tls
    return ExportSettings(
        protocol=forward.protocol,
        timeout_seconds=forward.timeout,
        headers=tuple(forward.headers.items()),
        gzip=forward.compression == "gzip",
        tls=ClientTls(tls.ca_file, tls.cert_file, tls.key_file),
        backoff=Backoff(
            initial_seconds=retry.initial_interval,
            max_seconds=retry.max_interval,
            multiplier=retry.multiplier,
            max_elapsed_seconds=retry.max_elapsed_time,
        ),
    )


def destinations(config: Config) -> dict[str, str]:
    """Return consumer of the queue -> name of the destination that it stands for."""
    return {f"{kind}:{name}": name for name in config.forward.all for kind in ("forward", "evaluations")}
