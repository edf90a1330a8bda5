"""Beat begins whatever state its file is in."""

import dbm
import shelve
from pathlib import Path

from celery import current_app

from copilot_site import celery
from copilot_site.beat import Schedule, app


def test_a_file_whose_entries_were_cut_short_is_begun_anew(tmp_path: Path) -> None:
    name = str(tmp_path / "beat-schedule")
    with shelve.open(name) as store:
        store["entries"] = {}
    with dbm.open(name, "w") as raw:
        raw[b"entries"] = b""
    schedule = Schedule(app, schedule_filename=name, lazy=True)
    schedule.setup_schedule()
    assert "heartbeat" in schedule.schedule
    schedule.close()


def test_its_app_does_not_take_the_place_of_the_app_that_has_the_tasks() -> None:
    assert current_app == celery.app
