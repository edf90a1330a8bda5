"""The Celery app of beat, which sends tasks by their names and runs none: without Django it takes 65 MB instead of 155."""

import logging.config
from typing import Any

from celery import Celery
from celery.beat import PersistentScheduler
from celery.signals import beat_init, setup_logging

from copilot_site.embedded.services import export_service_addresses

export_service_addresses()  # before the settings are read: a beat started by hand beside a running `up`

# Celery's own fixup would load every app of Django. Importing this does not replace the current app.
app = Celery("copilot", fixups=[], set_as_current=False)
app.config_from_object("copilot_site.settings", namespace="CELERY")


@beat_init.connect
def _first_beat(**_: Any) -> None:
    """Send the first heartbeat at once: whoever starts the system waits for it."""
    heartbeat = app.conf.beat_schedule["copilot_site.heartbeat"]
    app.send_task(heartbeat["task"], **heartbeat["options"])


@setup_logging.connect
def _log_as_everybody(**_: Any) -> None:
    """Set up logging as Django would."""
    from copilot_site.settings import LOGGING

    logging.config.dictConfig(LOGGING)


class Schedule(PersistentScheduler):
    """The schedule with each task's last run. Celery's own starts anew if its file cannot be opened; one with truncated entries (a full
    disk, a power cut) ended it at every start.
    """

    def setup_schedule(self) -> None:
        try:
            super().setup_schedule()
        except EOFError as error:
            self._store = self._destroy_open_corrupted_schedule(error)  # type: ignore[attr-defined]  # Celery's own, not in its stubs
            super().setup_schedule()
