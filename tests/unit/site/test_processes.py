"""What the processes of a system load, which connections they keep, and what they share."""

import dbm
import gc
import os
import shelve
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from celery import Celery, current_app
from celery.signals import worker_before_create_process
from django.apps import apps

from agent.run_state import threads
from copilot_site import celery
from copilot_site.beat import Schedule, app
from copilot_site.celery import BULK_RELEASE_S
from copilot_site.lib.load import web_process
from copilot_site.lib.load.web_process import POOL
from copilot_site.pools import build_shares
from tests.homes import ROOT

CORES = os.cpu_count() or 1
LANES = (threads._front, threads._beside, threads._at_work)
# As `celery -A copilot_site.beat beat` begins.
BEAT = """
from copilot_site.beat import app
app.loader.init_worker()
from django.apps import apps
print(apps.ready, sorted(app.conf.beat_schedule))
"""
PRINT_POOL = "from django.conf import settings; print(settings.DATABASES['default']['OPTIONS'].get('pool'))"
PRINT_LOADED = "import django, sys; django.setup(); print('openai' in sys.modules)"
PRINT_EVALS = "from copilot_site.settings import INSTALLED_APPS; print('evals' in INSTALLED_APPS)"


def printed(program: str, **environment: str) -> str:
    """What a process of its own prints."""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, env=os.environ | environment, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def test_beat_knows_what_to_send_and_loads_no_app_of_django() -> None:
    ready, _, schedule = printed(BEAT).partition(" ")
    assert ready == "False"
    assert "heartbeat" in schedule


def test_a_web_process_keeps_its_connections() -> None:
    assert f"'max_size': {POOL}" in printed(f"import copilot_site.asgi\n{PRINT_POOL}")


def test_another_process_keeps_no_connections_and_loads_no_client_of_models() -> None:
    """Forked children of a worker would share a pool; the client is loaded when a model is first asked."""
    assert printed(f"{PRINT_LOADED}\n{PRINT_POOL}").split() == ["False", "None"]


def test_a_site_behind_https_loads_no_evaluations_and_its_image_holds_none() -> None:
    assert apps.is_installed("evals"), "they are loaded in development"
    assert printed(PRINT_EVALS, COPILOT_HTTPS="true").strip() == "False"
    assert "evals" in (ROOT / ".dockerignore").read_text(encoding="utf-8").split()


def test_threads_and_seats_that_may_hold_a_connection_add_up_to_the_pool() -> None:
    on_the_way = {id(next(threads._on_the_way)) for _number in range(10)}
    runs = sum(lane._max_workers for lane in LANES) + len(on_the_way)
    assert runs == web_process.RUNS
    seats = sum(share.queue.places for share in build_shares().values())
    assert runs + seats + web_process.SOCKETS + web_process.HEALTH == POOL


def test_workers_keep_what_they_loaded_out_of_the_garbage_collection_of_their_children() -> None:
    gc.unfreeze()  # what the tests themselves keep out of it
    try:
        worker_before_create_process.send(sender=None)
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


@pytest.fixture
def current() -> Iterator[None]:
    """A worker makes its app the current one: the app of the product takes its place again."""
    yield
    celery.app.set_current()
    celery.app.set_default()


@pytest.mark.usefixtures("current")
@pytest.mark.filterwarnings("ignore::celery.exceptions.SecurityWarning")
@pytest.mark.parametrize(
    ("queues", "processes", "threads_each", "release_after"),
    [
        ("interactive,watch", 1, CORES, None),
        ("bulk,maintenance,watch", CORES, 1, BULK_RELEASE_S),
        ("bulk", CORES + 1, 1, BULK_RELEASE_S),
    ],
)
def test_a_worker_shares_the_cores_among_its_processes(
    settings: Any, queues: str, processes: int, threads_each: int, release_after: float | None
) -> None:
    settings.EMBEDDER_OPTIONS = settings.EMBEDDER_OPTIONS | {"threads": CORES, "release_after": None}
    worker_app = Celery("cores", broker="memory://", set_as_current=False)  # the queues of ours stay as they are
    worker_app.Worker(queues=queues, concurrency=processes)
    options = settings.EMBEDDER_OPTIONS
    assert (options["threads"], options["release_after"]) == (threads_each, release_after)


def test_beat_begins_anew_with_a_file_whose_entries_were_cut_short(tmp_path: Path) -> None:
    name = str(tmp_path / "beat-schedule")
    with shelve.open(name) as store:
        store["entries"] = {}
    with dbm.open(name, "w") as raw:
        raw[b"entries"] = b""
    schedule = Schedule(app, schedule_filename=name, lazy=True)
    schedule.setup_schedule()
    assert "copilot_site.heartbeat" in schedule.schedule
    schedule.close()


def test_the_app_of_beat_does_not_take_the_place_of_the_app_that_has_the_tasks() -> None:
    assert current_app == celery.app
