"""Every route says which pool of seats it waits for, and no client holds a whole pool."""

from collections import Counter
from collections.abc import Iterator

import pytest
from django.http import HttpRequest, HttpResponse
from django.urls import get_resolver, include, path

from copilot_site.pools import DECLARED, LISTS, PAGE, PER_ADDRESS, TRANSFER, build_shares, find_declared_pool, find_pool


def view(_request: HttpRequest) -> HttpResponse:
    return HttpResponse()


urlpatterns = [path("known/", view, name="library"), path("new/", include(([path("", view, name="heavy")], "api")))]


def routes(resolver: object, prefix: str = "") -> Iterator[str]:
    """The names that requests go by, with namespaces."""
    for pattern in getattr(resolver, "url_patterns", ()):
        if hasattr(pattern, "url_patterns"):
            inner = pattern.namespace or ""
            yield from routes(pattern, f"{prefix}{inner}:" if inner else prefix)
        else:
            yield prefix + (pattern.name or pattern.lookup_str)


def undeclared(urlconf: str | None = None) -> set[str]:
    return {name for name in routes(get_resolver(urlconf)) if find_declared_pool("GET", name) is None}


def test_every_route_declares_its_pool() -> None:
    assert undeclared() == set(), "say in copilot_site/pools.py which pool it waits for"


def test_a_new_route_is_found_and_takes_no_seat_of_a_page_until_it_is_declared() -> None:
    assert undeclared(__name__) == {"api:heavy"}
    assert (find_pool("GET", "api:heavy"), find_pool("GET", "")) == (TRANSFER, PAGE)


def test_what_is_declared_exists_and_is_declared_once() -> None:
    known = set(routes(get_resolver()))
    assert {name.removeprefix("POST ") for name in DECLARED} <= known
    names = [name for _pool, method, names in LISTS for name in names.split() if not method]
    assert [name for name, count in Counter(names).items() if count > 1] == []


@pytest.mark.parametrize(
    ("method", "route"),
    [("POST", "openai-embeddings"), ("GET", "versions-compare"), ("PATCH", "scim"), ("GET", "api:schema"),
     ("GET", "explore"), ("POST", "model-try"), ("POST", "attachments"), ("POST", "document-replace")],
)  # fmt: skip
def test_slow_work_takes_no_seat_of_a_page(method: str, route: str) -> None:
    assert find_pool(method, route) == TRANSFER


def test_a_person_and_the_strangers_of_their_address_leave_a_seat_of_each_pool() -> None:
    for pool in ("pages", "transfers", "exports"):
        queue = build_shares()[pool].queue
        taken = [queue.enter(party) for party in (7, "10.0.0.1") for _number in range(queue.places)]
        other = queue.enter(8)
        assert other.is_served, pool
        assert sum(ticket.is_served for ticket in taken) == queue.own_places(7) + PER_ADDRESS < queue.places, pool
