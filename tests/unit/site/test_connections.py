"""What may hold a connection adds up to the pool."""

import pytest

from agent import threads
from copilot_site.config import Config
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


def test_a_pool_that_is_too_small_stops_the_start() -> None:
    with pytest.raises(ValueError, match=f"holds up to {POOL} connections"):
        Config(db_pool=POOL - 1)
    assert Config(db_pool=POOL).db_pool == POOL
    assert Config(db_pool=0).db_pool == 0
