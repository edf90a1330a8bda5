"""Structured logs."""

from typing import Any

import structlog

from copilot_site.lib.logs import LEVELS, format_exception_without_values
from copilot_site.settings.base import config
from copilot_site.startup_checks import is_exposed

DJANGO_STRUCTLOG_CELERY_ENABLED = True
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = (
    False  # copilot_site.lib.http.client_address binds the address: this one believes any header
)
_shared: list[Any] = [
    structlog.contextvars.merge_contextvars,  # request and task ids
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
_renderer: Any = (
    structlog.processors.JSONRenderer(ensure_ascii=False)
    if is_exposed(config)  # collectors read JSON; people read a site of this machine alone
    else structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0)
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "structured": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": _shared,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                format_exception_without_values,
                _renderer,
            ],
        },
    },
    "filters": {"quiet": {"()": "copilot_site.lib.logs.Quiet"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured", "filters": ["quiet"]}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": LEVELS,
}
structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        *_shared,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.StackInfoRenderer(),
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
