"""Logging: structlog to standard error, the standard library's loggers (grpc, uvicorn) through the same renderer."""

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from weaklink_processor.config import Log


def configure(settings: Log, process: str) -> None:
    """Route everything this process logs to standard error; `process` is named on each line."""

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
    logging.basicConfig(handlers=[handler], level=settings.level.upper(), force=True)
    logging.captureWarnings(capture=True)


def _renderers(settings: Log) -> list[Processor]:
    if settings.format == "json":
        return [structlog.processors.dict_tracebacks, structlog.processors.JSONRenderer()]
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
