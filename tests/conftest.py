"""What all tests share: services of their own, and no way out to the internet."""

import faulthandler
import gc
import os
import sys
import threading
from collections.abc import Generator
from contextlib import ExitStack

import django
import jiter  # noqa: F401 - openai loads it at the first question; a worker with hundreds of libraries was once aborted at that
import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.test import TransactionTestCase
from django.utils import translation
from hypothesis import settings as hypothesis
from pytest_django import DjangoDbBlocker
from pytest_socket import socket_allow_hosts

from tests import database, services

pytest_plugins = ("tests.programs", "tests.tiers")
STACK = pytest.StashKey[ExitStack]()
USUAL = gc.get_threshold()
MAX_S = 900  # of a test with what is set up for it: five times what the longest takes on a busy machine
# Files with tests that take long come first, in this order: at the end one worker would wait for the other. The first loads torch, for
# which a young process is best. The rest are in their own order.
LONG = (
    "tests/contract/test_embedders.py",
    "tests/integration/routes/test_routes.py",
    "tests/property/test_visibility.py",
    "tests/property/test_mutants.py",
    "tests/integration/site/",
    "tests/integration/authz/test_races.py",
    "tests/integration/business/",
    "tests/integration/answers/",
    "tests/integration/parsers/test_odd_docs.py",
    "tests/integration/agent/test_killed.py",
)
hypothesis.register_profile("house", deadline=None)  # a busy machine takes its time
hypothesis.load_profile("house")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the services, then load Django with their addresses; pytest-django finds it loaded."""
    gc.set_threshold(50_000)  # what is loaded and collected stays: to look for garbage in it takes a fifth of that time
    config.stash[STACK] = ExitStack()
    services.start(config.stash[STACK])
    django.setup()
    TransactionTestCase._fixture_teardown = staticmethod(database.empty_tables)  # type: ignore[attr-defined]  # after a test that commits
    PBKDF2PasswordHasher.iterations = 1  # no password of a test is a secret; a real one takes longer than most tests


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """A worker that finds settings named would load them at once: with the Valkey of this process, not with its own."""
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)


def pytest_collection_finish() -> None:
    """From here on garbage is looked for as always, in what the tests make alone."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*USUAL)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long comes first."""
    places = range(len(LONG))
    items.sort(key=lambda item: next((n for n in places if item.nodeid.startswith(LONG[n])), len(LONG)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test that takes longer than MAX_S, whatever it waits for, ends its process with what each thread was at.

    pytest-timeout stops its clock where a test fails, and what then waited in a teardown waited until whoever ran the tests gave up.
    """
    clock = threading.Timer(MAX_S, _give_up, [item])
    clock.daemon = True
    clock.start()
    try:
        return (yield)
    finally:
        clock.cancel()


def _give_up(item: pytest.Item) -> None:
    item.config.pluginmanager.getplugin("capturemanager").suspend_global_capture()
    print(f"\n{item.nodeid} has taken {MAX_S} s, and waits here:", file=sys.stderr, flush=True)
    faulthandler.dump_traceback(file=sys.stderr)
    os._exit(1)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what this process started."""
    config.stash[STACK].close()


@pytest.fixture(autouse=True)
def no_outside() -> None:
    """No test reaches the internet; this machine and Unix sockets are open."""
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


@pytest.fixture(autouse=True)
def english() -> None:
    """No test begins in the language of a page that an earlier one asked for."""
    translation.deactivate()


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Give each process a clone of the migrated database; it goes with the services of the run."""
    with django_db_blocker.unblock():
        database.clone_template()
