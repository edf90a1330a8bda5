"""Every address × everybody who may come gets what tests/golden/routes.txt says: a person reads its diff.

`REWRITE_GOLDEN=1 pytest tests/integration/routes` writes the table anew. `test_covering` tries each outcome of each address once, but
opens one page of an area of the administration; `test_whole_table` tries everybody.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import combinations
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from authz.scopes import TokenScope
from tests.integration.routes.addresses import Route, routes
from tests.integration.routes.table import area as area_of
from tests.integration.routes.table import areas, assert_lines, lines, rows, scopes
from tests.integration.routes.world import ROLES, World

pytestmark = pytest.mark.django_db
AREAS = areas()
each_area = pytest.mark.parametrize("area", AREAS)
ADMINISTRATION = "admin"  # in test_table_of_the_administration.py: one worker takes a file
ALONE = [(scope,) for scope in TokenScope.values]


def statuses(world: World, route: Route, roles: Iterable[str]) -> dict[str, int]:
    """What each role gets; nobody sees what an earlier one changed."""
    if route.method == "get":  # who looks changes nothing that another one looks at
        with rolled_back():
            return {role: status(world, role, route) for role in roles}
    found = {}
    for role in roles:
        with rolled_back():
            found[role] = status(world, role, route)
    return found


@contextmanager
def rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def status(world: World, role: str, route: Route) -> int:
    answer = world.send(world.clients[role], route)
    assert "no-store" in answer["Cache-Control"], f"{route}: what {role} gets may be kept"
    return answer.status_code


def opens(world: World, client: Client, route: Route) -> bool:
    """Whether a program with a token is let in."""
    with rolled_back():
        answer: Any = world.send(client, route)
    if answer.status_code != 403:
        return True
    refused = answer.json()
    return refused.get("error", refused).get("code") not in {"no_tokens", "missing_scope"}


def opening(lets_in: Callable[[Sequence[str]], bool]) -> list[str]:
    """The scopes of a token, each of which opens an address, or the pairs that do where no single one does."""
    for size in (1, 2):
        if found := ["+".join(chosen) for chosen in combinations(TokenScope.values, size) if lets_in(chosen)]:
            return found
    return ["-"]


def is_for_tokens(route: Route) -> bool:
    return route.path.startswith("api/v1/")


def outcomes(route: Route) -> set[int]:
    """Each outcome of an address; of the administration each refusal, and what the first address of an area shows."""
    found = set(rows()[route].values())
    if not route.path.startswith(ADMINISTRATION) or route == AREAS[area_of(route)][0]:
        return found
    return {outcome for outcome in found if outcome >= 300} or found


def representatives() -> Iterator[tuple[Route, list[str]]]:
    """For each address of the table one role for each of those outcomes: another one at each address."""
    for place, (route, got) in enumerate(rows().items()):
        alike = [[role for role in ROLES if got[role] == outcome] for outcome in outcomes(route)]
        yield route, [names[place % len(names)] for names in alike]


REPRESENTATIVES = dict(representatives())


@each_area
def test_covering(world: World, area: str) -> None:
    """Each outcome of each address; with a token each way in, and a scope that is none."""
    got = {route: statuses(world, route, roles) for route, roles in REPRESENTATIVES.items() if route in AREAS[area]}
    assert got == {route: {role: rows()[route][role] for role in REPRESENTATIVES[route]} for route in got}
    tokens = cache(world.with_token)
    for place, route in enumerate(item for item in AREAS[area] if is_for_tokens(item)):
        told = [tuple(words.split("+")) for words in scopes(route)]
        others = [chosen for chosen in ALONE if chosen not in told]
        for tried in (told, others):
            if tried:
                chosen = tried[place % len(tried)]
                assert opens(world, tokens(*chosen), route) is (chosen in told), (route, chosen)


def test_the_representatives_are_of_every_outcome_and_of_every_role() -> None:
    assert {route: {rows()[route][role] for role in roles} for route, roles in REPRESENTATIVES.items()} == {
        route: outcomes(route) for route in rows()
    }
    assert {outcome for got in rows().values() for outcome in got.values()} == set().union(*map(outcomes, rows()))
    assert {role for roles in REPRESENTATIVES.values() for role in roles} == set(ROLES)


def whole_lines(world: World, area: str) -> dict[Route, str]:
    """What everybody gets at the addresses of an area, and what each scope opens, as the table has it."""
    found = {}
    for route in AREAS[area]:
        found[route] = f"{route!s:<76}" + "".join(f"{got:>7}" for got in statuses(world, route, ROLES).values())
    tokens = cache(world.with_token)  # whom it makes a superuser is `all`: after everybody was asked
    for route in filter(is_for_tokens, found):
        found[route] += "  " + " ".join(opening(lambda chosen, route=route: opens(world, tokens(*chosen), route)))  # type: ignore[misc]
    return found


@pytest.mark.parametrize("area", [area for area in AREAS if not area.startswith(ADMINISTRATION)])
def test_whole_table(world: World, area: str) -> None:
    assert_lines(whole_lines(world, area))


def test_a_new_address_without_a_row_fails() -> None:
    assert missing_rows("tests.integration.routes.extra") == {Route("get", "backdoor/<document_id>/")}
    empty = f"{0:>7}" * len(ROLES)
    assert_lines(
        {route: f"{route!s:<76}{empty}" for route in missing_rows(None)}
    )  # REWRITE_GOLDEN=1 adds them: run it twice
    assert list(lines()) == list(routes()), "REWRITE_GOLDEN=1 adds what is new; read what it opens to whom"


def missing_rows(urlconf: str | None) -> set[Route]:
    return set(routes(urlconf)) - rows().keys()
