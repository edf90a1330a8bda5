"""Rows that the tests of a file share: made once, in a transaction around the transactions of the tests."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import TypeVar

from django.db import transaction
from pytest_django import DjangoDbBlocker

Made = TypeVar("Made")


@contextmanager
def shared(blocker: DjangoDbBlocker, make: Callable[[], Made]) -> Iterator[Callable[[], Made]]:
    """Calls `make` once; yields what gives each test a copy of its own. The rows are gone at the end.

    A test rolls back what it changed, to how the rows were made. For tests that commit this is nothing.
    """
    around = transaction.atomic()
    with blocker.unblock():
        around.__enter__()
    try:
        with blocker.unblock():
            made = make()
        yield lambda: deepcopy(made)
    finally:
        with blocker.unblock():
            transaction.set_rollback(True)
            around.__exit__(None, None, None)
