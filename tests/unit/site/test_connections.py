"""What may hold a connection adds up to the pool, and every route that takes long is one that exists."""

import pytest
from django.urls import get_resolver

from agent import threads
from copilot_site.config import Config
from copilot_site.lib import connection_budget
from copilot_site.lib.connection_budget import POOL
from copilot_site.seats import KINDS, shares

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


def test_every_route_that_takes_long_exists() -> None:
    assert {name for _method, name in KINDS} <= set(_names(get_resolver()))


def _names(resolver: object, prefix: str = "") -> list[str]:
    found = []
    for pattern in getattr(resolver, "url_patterns", ()):
        if hasattr(pattern, "url_patterns"):
            inner = pattern.namespace or ""
            found += _names(pattern, f"{prefix}{inner}:" if inner else prefix)
        elif pattern.name:
            found.append(prefix + pattern.name)
    return found
