"""Database roles and schemas of rights that nobody has any more are removed; those in use stay."""

import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from structlog.testing import capture_logs

from audit.actions import Action
from audit.models import Entry
from authz.principal import Principal
from business.connections.address import Address
from business.execute import Access
from business.models import DataSource
from business.sandbox.sql_views import PREFIX, build_sandbox_name
from business.sources.grants import grant, revoke_right
from business.sources.services import open_source
from business.statements.run_query import run_query
from business.tasks import sweep
from tests.factories import make_user


def ask(person: User, sql: str = "SELECT count(*) FROM customer") -> str:
    """Ask, and the name of the sandbox that was asked through."""
    opened = open_source(Principal.of(person), "shop")
    async_to_sync(run_query)(Principal.of(person), opened, sql)
    assert isinstance(opened.access, Access)
    return build_sandbox_name(opened.access.admin, opened.access.policy)


def sandboxes(address: Address) -> set[str]:
    """Names that are both a schema of the database and a role of the server."""
    with psycopg.connect(**address.keywords()) as connection:
        rows = connection.execute(
            "SELECT nspname FROM pg_namespace JOIN pg_roles ON rolname = nspname WHERE starts_with(nspname, %s)",
            [PREFIX],
        )
        return {name for (name,) in rows}


@pytest.fixture
def seller(source: DataSource) -> User:
    person = make_user("sal")
    grant(None, source, to=person, table="sale")
    return person


def test_sandboxes_go_with_the_last_right_to_them(
    source: DataSource, northerner: User, seller: User, shop: Address
) -> None:
    kept, lost = ask(northerner), ask(seller, "SELECT count(*) FROM sale")
    assert {kept, lost} <= sandboxes(shop)
    sweep()
    assert {kept, lost} <= sandboxes(shop)
    revoke_right(None, source, of=seller, table="sale")
    sweep()
    assert kept in sandboxes(shop)
    assert lost not in sandboxes(shop)
    assert Entry.objects.filter(action=Action.SANDBOXES_REMOVED, target_id=str(source.pk)).exists()
    grant(None, source, to=seller, table="sale")
    assert ask(seller, "SELECT count(*) FROM sale") == lost  # built again
    assert lost in sandboxes(shop)


def test_the_sandboxes_of_the_disabled_go_too(source: DataSource, seller: User, shop: Address) -> None:
    name = ask(seller, "SELECT count(*) FROM sale")
    User.objects.filter(pk=seller.pk).update(is_active=False)
    sweep()
    assert name not in sandboxes(shop)


def test_a_role_that_no_database_knows_any_more_goes(source: DataSource, shop: Address) -> None:
    orphan = f"{PREFIX}{'0' * 24}"  # of a database that is gone
    with psycopg.connect(**shop.keywords(), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {orphan}")
    sweep()
    with psycopg.connect(**shop.keywords()) as connection:
        assert connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [orphan]).fetchone() is None


def test_a_source_that_does_not_answer_is_named_and_the_others_are_swept(
    source: DataSource, seller: User, shop: Address
) -> None:
    DataSource.unscoped.create(name="away", database="x", host="127.0.0.1", port=1)
    name = ask(seller, "SELECT count(*) FROM sale")
    revoke_right(None, source, of=seller, table="sale")
    with capture_logs() as logged:
        sweep()
    assert name not in sandboxes(shop)
    assert [entry["source"] for entry in logged if entry["event"] == "sandboxes.unreached"] == ["away"]
