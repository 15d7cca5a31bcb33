"""Logging: structlog to standard error, the standard library's loggers (grpc, uvicorn) through the same renderer."""

import logging
import sys
from collections.abc import Callable

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from weaklink_processor.config import Log

OnError = Callable[[str], None]
MOST_TEXT = 500  # characters
_COMMON = ("level", "logger", "timestamp", "process")  # that every message has


def configure(settings: Log, process: str, on_error: OnError | None = None) -> None:
    """Route everything this process logs to standard error; `process` is named on each line.

    `on_error` hears a short text of each message of level error, on any thread.
    """

    def named(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event["process"] = process
        return event

    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        named,
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_renderers(settings)],
        )
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,  # a module's logger made before this call must follow it
    )
    handlers = [handler, *([_Listener(on_error)] if on_error else [])]
    logging.basicConfig(handlers=handlers, level=settings.level.upper(), force=True)
    logging.captureWarnings(capture=True)


def _renderers(settings: Log) -> list[Processor]:
    """Tracebacks go without the values of local variables: those are spans, and credentials."""
    if settings.format == "json":
        tracebacks = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        return [structlog.processors.ExceptionRenderer(tracebacks), structlog.processors.JSONRenderer()]
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)]


class _Listener(logging.Handler):
    """Passes errors on, each in one line."""

    def __init__(self, on_error: OnError) -> None:
        super().__init__(logging.ERROR)
        self._on_error = on_error

    def emit(self, record: logging.LogRecord) -> None:
        self._on_error(_short(record)[:MOST_TEXT])


def _short(record: logging.LogRecord) -> str:
    """`event: key=value key=value`, and what was raised."""
    fields = dict(record.msg) if isinstance(record.msg, dict) else {"event": record.getMessage()}
    event, raised = fields.pop("event", ""), fields.pop("exc_info", None) or record.exc_info
    told = [f"{key}={value}" for key, value in fields.items() if key not in _COMMON and value is not None]
    error = sys.exc_info()[1] if raised is True else raised[1] if isinstance(raised, tuple) else raised
    if isinstance(error, BaseException):
        told.append(f"{type(error).__name__}: {error}".splitlines()[0])
    return f"{event}: {' '.join(told)}" if told else str(event)
