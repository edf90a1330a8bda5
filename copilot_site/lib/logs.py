"""What is not worth a line in the log."""

import logging

HEALTH_PATHS = ("/healthz", "/readyz")  # asked every few seconds; the answer says what fails


class Quiet(logging.Filter):
    """Drops lines about health probes and the first of two lines per request (the second has status and user)."""

    def filter(self, record: logging.LogRecord) -> bool:
        """False for a line to drop."""
        event = record.msg if isinstance(record.msg, dict) else {}
        if event.get("event") == "request_started":
            return False
        text = str(event.get("request", "")) or record.getMessage()
        return not text.endswith(HEALTH_PATHS)
