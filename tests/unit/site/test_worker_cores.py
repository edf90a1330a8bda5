"""A worker's processes share the cores, and those of imports drop an idle embedder."""

import os
from typing import Any

import pytest
from celery import Celery

from copilot_site.celery import BULK_RELEASE_S

CORES = os.cpu_count() or 1


@pytest.mark.filterwarnings("ignore::celery.exceptions.SecurityWarning")
@pytest.mark.parametrize(
    ("queues", "processes", "threads", "release_after"),
    [
        ("interactive,watch", 1, CORES, None),
        ("bulk,maintenance,watch", CORES, 1, BULK_RELEASE_S),
        ("bulk", CORES + 1, 1, BULK_RELEASE_S),
    ],
)
def test_a_worker_shares_the_cores_among_its_processes(
    settings: Any, queues: str, processes: int, threads: int, release_after: float | None
) -> None:
    settings.EMBEDDER_OPTIONS = settings.EMBEDDER_OPTIONS | {"threads": CORES, "release_after": None}
    app = Celery("cores", broker="memory://", set_as_current=False)  # the queues of ours stay as they are
    app.Worker(queues=queues, concurrency=processes)
    options = settings.EMBEDDER_OPTIONS
    assert (options["threads"], options["release_after"]) == (threads, release_after)
