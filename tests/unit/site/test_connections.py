"""What may hold a connection adds up to the pool."""

import os
import subprocess
import sys

from agent import threads
from copilot_site.config import BASE_DIR
from copilot_site.lib import web_process as connection_budget
from copilot_site.lib.web_process import POOL
from copilot_site.seats import shares

LANES = (threads._front, threads._beside, threads._at_work)


def test_threads_and_seats_that_may_hold_a_connection_add_up_to_the_pool() -> None:
    on_the_way = {id(next(threads._on_the_way)) for _number in range(10)}
    runs = sum(lane._max_workers for lane in LANES) + len(on_the_way)
    assert runs == connection_budget.RUNS
    seats = sum(share.queue.places for share in shares().values())
    assert runs + seats + connection_budget.SOCKETS + connection_budget.HEALTH == POOL


def test_a_web_process_keeps_these_connections_and_other_processes_keep_none() -> None:
    """Forked children of a worker would share a pool."""
    printing = "from django.conf import settings; print(settings.DATABASES['default']['OPTIONS'].get('pool'))"
    for first, kept in (("import copilot_site.asgi", f"'max_size': {POOL}"), ("", "None")):
        done = subprocess.run(
            [sys.executable, "-c", f"{first}\n{printing}"],
            cwd=BASE_DIR, env=os.environ, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert kept in done.stdout
