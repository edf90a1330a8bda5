"""Two starts of the demo that fill one empty database at once: a killed one may have left its seeding at work."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection, connections, transaction
from psycopg import sql

from agent.profile_choice import Assistant, list_assistants
from authz.principal import Principal
from business.connections.address import Address
from business.models import DataSource
from copilot_site.embedded.process import wait_until
from demo import seed
from demo.business_data import find_business_database
from demo.company import list_documents, load_company
from demo.logins import list_logins
from demo.wiki import list_page_names
from knowledge.models import Document

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_business_data_left() -> Iterator[None]:
    yield
    with psycopg.connect(**Address.of_django().keywords(), autocommit=True) as admin:
        name = sql.Identifier(find_business_database().database)
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))


def problems_of_two() -> list[BaseException]:
    """What went wrong when two seed: both look before either has made anything; reading the documents is left out."""
    with ThreadPoolExecutor(2) as threads:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("LOCK TABLE auth_group IN EXCLUSIVE MODE")  # nobody makes the first group meanwhile
            both = [threads.submit(_seeded) for _each in range(2)]
            both_came = wait_until(lambda: _waiting() == 2 or any(one.done() for one in both), timeout_s=60)
            assert both_came, "one of the two seeds has not come to its first group"
        return [problem for one in both if (problem := one.exception(60))]


def _seeded() -> None:
    try:
        seed.seed_company(lambda _version_ids: ())
    finally:
        connections.close_all()


def _waiting() -> int:
    """Connections to this database that wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_database d ON d.oid = database"
            " WHERE NOT granted AND datname = current_database()"
        )
        return int(cursor.fetchone()[0])


def offered_to(username: str) -> list[Assistant]:
    return list_assistants(Principal.of(User.objects.get(username=username)), "en")


def test_the_second_waits_and_finds_the_company_there() -> None:
    assert problems_of_two() == []
    assert User.objects.count() == len(list_logins())
    assert Document.unscoped.count() == len(list_documents(load_company())) + len(list_page_names())
    assert DataSource.unscoped.count() == 1
    assistants = {name: {one.name for one in offered_to(name)} for name in ("chen", "zhao")}
    assert assistants == {
        "chen": {"人事助手 | HR assistant", "运维助手 | Operations assistant"},
        "zhao": {"人事助手 | HR assistant"},
    }


def test_without_its_lock_the_second_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seed, "_hold_seed_lock", nullcontext)
    assert problems_of_two()
