"""What a source's keeper says of cost: its limits, how long a result is kept, and which indexes its tables lack."""

import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.urls import reverse

from audit.actions import Action
from audit.models import Entry
from authz.models import UnitKind
from authz.people.units import add_member, create_unit
from authz.principal import Principal
from business.connections.address import Address
from business.limits import StatementLimits
from business.models import DataSource
from business.sources import checks as source_checks
from business.sources.grants import grant
from business.sources.services import open_source
from business.statements.run_query import run_query
from tests.factories import make_user
from tests.integration.business.conftest import one_more_customer
from tests.integration.governance.world import client_of

COUNT = "SELECT count(*) AS n FROM customer"


def change(source: DataSource) -> str:
    return reverse("admin:business_datasource_change", args=[source.pk])


def test_limits_are_the_source_s_own_and_recorded(source: DataSource, root: User) -> None:
    client = client_of(root)
    rest = {"is_active": "on", "grants-TOTAL_FORMS": 0, "grants-INITIAL_FORMS": 0}
    client.post(change(source), rest | {"max_seconds": "30", "max_rows": "20", "max_gathered_mb": ""})
    assert DataSource.unscoped.get(pk=source.pk).limits == StatementLimits(30, 20, 64_000_000)
    entry = Entry.objects.filter(action=Action.SETTING_CHANGED).latest("pk")
    assert entry.detail["connection"] == ["max_rows", "max_seconds"]
    for unfit in ({"max_seconds": "0"}, {"max_rows": "51"}, {"max_gathered_mb": "2000"}):
        assert client.post(change(source), rest | unfit).status_code == 200  # the form again, with the reason
    assert DataSource.unscoped.get(pk=source.pk).limits.seconds == 30


def counted(person: User) -> int:
    principal = Principal.of(person)
    result = async_to_sync(run_query)(principal, open_source(principal, "shop"), COUNT)
    assert result.answer.rows is not None
    return int(result.answer.rows.rows[0][0])


def test_a_result_is_kept_for_one_person_and_their_rights(shop: Address, source: DataSource, northerner: User) -> None:
    """Results are kept only if the source sets it."""
    with one_more_customer(shop):
        assert counted(northerner) == 76
    assert counted(northerner) == 75
    DataSource.unscoped.update(kept_minutes=5)
    other = make_user("noel")
    add_member(None, northerner.groups.get().org_unit, user=other)
    grant(None, source, to=other)
    assert counted(northerner) == 75
    with one_more_customer(shop):
        assert counted(northerner) == 75
        assert counted(other) == 76
        assert "read_at" in Entry.objects.filter(action=Action.SQL_EXECUTED).latest("pk").detail
        DataSource.unscoped.get().save()  # with another layer, or other limits
        assert counted(northerner) == 76


def test_a_kept_result_is_out_of_reach_when_rights_change(source: DataSource, northerner: User) -> None:
    """Fails where the rights are left out of the key: the person, the statement and the layer stay the same."""
    DataSource.unscoped.update(kept_minutes=5)
    south = create_unit(None, name="South", kind=UnitKind.DEPARTMENT, parent=None)
    add_member(None, south, user=northerner)
    assert counted(northerner) == 150
    south.group.user_set.remove(northerner)
    assert counted(northerner) == 75


def test_indexes_that_large_tables_lack_are_named(
    source: DataSource, root: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(**source.address.keywords()) as connection:
        connection.execute("ANALYZE")
    page = reverse("source-connection", args=[source.pk])
    assert "CREATE INDEX" not in client_of(root).post(page).content.decode()
    monkeypatch.setattr(source_checks, "LARGE", 200)
    told = client_of(root).post(page).content.decode()
    lines = [line for line in told.replace("&quot;", '"').splitlines() if "CREATE INDEX" in line]
    assert [line.split("(")[1] for line in lines] == ['"customer_id");', '"sold_at");', '"org_unit");']
    assert all('"public"."sale"' in line for line in lines)
