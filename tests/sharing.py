"""Rows that the tests of a file share: made once, in a transaction around the transactions of the tests.

    @pytest.fixture(scope="module")
    def shared_house(share: Share) -> Callable[[], House]:
        return share(House)

    @pytest.fixture
    def house(shared_house: Callable[[], House], db: None) -> House:
        return shared_house()

The same in one line: `shared_house, house = share_world("house", House)`.

A test rolls back what it changed, to how the rows were made. A world is there from the first test that asks for it to the end of
the file: tests without it, those that commit among them, come first (`in_order`).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from inspect import Parameter, Signature
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from pytest_django import DjangoDbBlocker

Made = TypeVar("Made")
PREFIX = "shared_"  # of the fixtures that hold a world


class Share(Protocol):
    """The fixture `share`: calls what makes a world; returns what gives each test a copy of its own."""

    def __call__(self, make: Callable[[], Made], /) -> Callable[[], Made]: ...


def share_world(name: str, make: Callable[[], object]) -> tuple[Any, Any]:
    """Return the fixtures `shared_{name}`, which holds what `make` returns, and `{name}`, which gives a test its copy."""

    def hold(share: Share) -> Callable[[], object]:
        return share(make)

    def give(**held: Any) -> object:
        return held[PREFIX + name]()

    asked = [Parameter(one, Parameter.KEYWORD_ONLY) for one in (PREFIX + name, "db")]
    give.__signature__ = Signature(asked)  # type: ignore[attr-defined]  # pytest reads from it what to set up
    return pytest.fixture(scope="module", name=PREFIX + name)(hold), pytest.fixture(name=name)(give)


@contextmanager
def shared(blocker: DjangoDbBlocker, make: Callable[[], Made]) -> Iterator[Callable[[], Made]]:
    """Calls `make` once; yields what gives each test a copy of its own. The rows are gone at the end.

    Meanwhile nothing closes the connection: a response that is closed twice would, and end the world of all later tests.
    """
    around = transaction.atomic()
    with blocker.unblock():
        around.__enter__()
    try:
        with kept_open():
            yield from _made(blocker, make)
    finally:
        with blocker.unblock():
            transaction.set_rollback(True)
            around.__exit__(None, None, None)


def _made(blocker: DjangoDbBlocker, make: Callable[[], Made]) -> Iterator[Callable[[], Made]]:
    with blocker.unblock():
        made = make()
        connection.check_constraints()  # now, and not again after each test
    yield lambda: deepcopy(made)


@contextmanager
def kept_open() -> Iterator[None]:
    """Nothing closes the connection of this thread in the block; one block may stand in another."""
    held = vars(connections[DEFAULT_DB_ALIAS])
    is_outer = "close" not in held
    if is_outer:
        held["close"] = lambda: None
    try:
        yield
    finally:
        if is_outer:
            del held["close"]


def in_order(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """The tests of each file together, by the worlds that they ask for, those without one first; otherwise as they were.

    pytest-django puts all that commit last, where a worker that takes whole files (`--dist loadfile`) meets them with a world still there.

    Raises UsageError for a file with two worlds of which none holds the other: tests of the later one would see both. And for a test
    that commits what it shares.
    """
    found: list[pytest.Item] = []
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    for path, group in files.items():
        tests = sorted(group, key=lambda item: len(worlds_of(item)))
        asked = [worlds_of(item) for item in tests]
        for smaller, larger in pairwise(asked):
            if not smaller <= larger:
                raise pytest.UsageError(f"{path} has tests with {sorted(smaller)} and with {sorted(larger)}: split it.")
        for item in tests:
            if worlds_of(item) and commits(item):
                raise pytest.UsageError(f"{item.nodeid} commits: it needs a world of its own.")
        found += tests
    return found


def commits(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    asked = set(getattr(item, "fixturenames", ()))
    return bool(marker and marker.kwargs.get("transaction")) or not asked.isdisjoint(
        {"transactional_db", "live_server"}
    )


def worlds_of(item: pytest.Item) -> frozenset[str]:
    return frozenset(name for name in getattr(item, "fixturenames", ()) if name.startswith(PREFIX))
