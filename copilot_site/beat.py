"""The Celery app of beat, which sends tasks by their names and runs none: without Django it takes 65 MB instead of 155."""

import logging.config
from typing import Any

from celery import Celery
from celery.beat import PersistentScheduler
from celery.signals import beat_init, setup_logging

from copilot_site.embedded.services import announce

announce()  # before the settings are read: a beat started by hand beside a running `up`

# Celery's own fixup would load every app of Django. Who only imports this keeps the app that it has.
app = Celery("copilot", fixups=[], set_as_current=False)
app.config_from_object("copilot_site.settings", namespace="CELERY")


@beat_init.connect
def _first_beat(**_: Any) -> None:
    """Who starts the system waits for the heartbeat; do not let it wait for its turn."""
    heartbeat = app.conf.beat_schedule["heartbeat"]
    app.send_task(heartbeat["task"], **heartbeat["options"])


@setup_logging.connect
def _log_as_everybody(**_: Any) -> None:
    """What Django would do."""
    from copilot_site.settings import LOGGING

    logging.config.dictConfig(LOGGING)


class Schedule(PersistentScheduler):
    """When each task was last sent. Celery's own begins anew with a file that it cannot open; one whose entries were cut short (a full
    disk, a power cut) ended it at every start.
    """

    def setup_schedule(self) -> None:
        try:
            super().setup_schedule()
        except EOFError as error:
            self._store = self._destroy_open_corrupted_schedule(error)  # type: ignore[attr-defined]  # Celery's own, not in its stubs
            super().setup_schedule()
