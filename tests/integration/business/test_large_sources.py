"""A source with 300 tables: opened from what was saved, under the rights of the moment."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from authz.models import UnitKind
from authz.people.units import add_member, create_unit
from authz.principal import Principal
from business.models import DataSource, SourceGrant
from business.semantic_layer.model import SemanticLayer, UnitRule
from business.sources.grants import grant, revoke_right
from business.sources.services import open_source, open_sources, save_layer
from tests.factories import make_user
from tests.large_layer import made_tables
from tests.sharing import Share


@pytest.fixture(scope="module")
def shared_large(share: Share) -> Callable[[], None]:
    return share(make_large)


def make_large() -> None:
    """Its first table has rows of org units, its second is only for who holds a right on it; Rita may ask it."""
    first, second, *others = made_tables(300, 30, is_labelled=False)
    owned = first.model_copy(update={"org_unit": UnitRule(column=first.dimensions[0].expr)})
    granted = second.model_copy(update={"org_unit": UnitRule(shared_with="granted")})
    source = DataSource.unscoped.create(name="large", database="nowhere", is_embedded=True)
    save_layer(None, source, SemanticLayer(name="large", semantic_models=(owned, granted, *others)))
    grant(None, source, to=make_user("rita"))


@pytest.fixture
def large(shared_large: Callable[[], None], db: None) -> DataSource:
    return DataSource.unscoped.get(name="large")


@pytest.fixture
def reader(large: DataSource) -> User:
    return User.objects.get(username="rita")


def test_opening_again_does_not_read_the_layer(large: DataSource, reader: User) -> None:
    principal = Principal.of(reader)
    first = open_source(principal, "large")
    assert len(first.layer.semantic_models) == 299
    with CaptureQueriesContext(connection) as queries:
        (again,) = open_sources(principal)
    assert again.layer is first.layer  # kept, and not made from its text once more
    assert len(queries) <= 3  # the sources, the rights, the spreadsheets
    assert not any('"layer"' in query["sql"] for query in queries)


def test_what_a_person_opens_follows_their_rights_of_the_moment(large: DataSource, reader: User) -> None:
    owned, granted, *_others = names = [model.name for model in large.semantic_layer.semantic_models]

    def opened() -> tuple[set[str], dict[str, tuple[str, ...]]]:
        found = open_source(Principal.of(reader), "large")
        tables = {model.name for model in found.layer.semantic_models}
        units = {table.name: table.units for table in found.access.policy.tables}
        assert set(units) == tables
        return tables, units

    assert opened()[0] == set(names) - {granted}
    assert opened()[1][owned] == ()
    north = create_unit(None, name="North", kind=UnitKind.DEPARTMENT, parent=None)
    add_member(None, north, user=reader)
    assert opened()[1][owned] == ("North",)
    grant(None, large, to=reader, table=granted)
    assert opened()[0] == set(names)
    revoke_right(None, large, of=reader)
    assert opened()[0] == {granted}
    grant(None, large, to=reader, table=owned, expires_at=timezone.now() + timedelta(hours=1))
    assert opened()[0] == {granted, owned}
    SourceGrant.objects.filter(table=owned).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert opened()[0] == {granted}
    DataSource.unscoped.filter(pk=large.pk).update(schemas=["other"])
    assert opened()[0] == set()
