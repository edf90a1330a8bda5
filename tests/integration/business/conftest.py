"""A database of its own with two org units' rows, described and granted; and the demo company's.

Django is not loaded yet when pytest reads this file: what needs it is imported where it is used.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from agent.business.address import Address
    from agent.business.execute import Access
    from agent.business.models import DataSource

SHOP = Path(__file__).parent / "shop.sql"


@pytest.fixture(scope="session")
def shop(django_db_setup: None) -> "Iterator[Address]":
    """Address of the shop's database."""
    from agent.business.scratch import scratch_database

    with scratch_database(SHOP) as address:
        yield address


@pytest.fixture
def source(db: None, shop: "Address") -> "DataSource":
    """The shop as a data source with a drafted layer; nobody may ask it."""
    from agent.business.introspect import draft_layer
    from agent.business.models import DataSource
    from agent.business.sources import save_layer

    source = DataSource.unscoped.create(name="shop", database=shop.database, is_dedicated=True)
    save_layer(None, source, draft_layer(shop, "shop", time_zone="Asia/Shanghai"))
    return source


@pytest.fixture(scope="session")
def demo_data(django_db_setup: None) -> "Iterator[Address]":
    """Address of the demo company's sales database."""
    from agent.business.scratch import scratch_database
    from demo.business_data import FILES

    with scratch_database(FILES / "demo.sql") as address:
        yield address


@pytest.fixture
def demo(db: None, demo_data: "Address") -> "DataSource":
    """The demo's people and its business data, which they may ask as in the demo."""
    from demo.business_data import ASKERS, describe_business_data, may_ask
    from demo.company import load_company
    from demo.seed import group_of, people

    company = load_company()
    people(company)
    source = describe_business_data(demo_data)
    may_ask(source, [group_of(company, key) for key in ASKERS])
    return source


@pytest.fixture
def northerner(source: "DataSource") -> "User":
    """Belongs to North, and may ask the whole shop."""
    from agent.business.sources import grant
    from authz.models import UnitKind
    from authz.units import create_unit, join
    from tests.factories import make_user

    unit = create_unit(None, name="North", kind=UnitKind.DEPARTMENT, parent=None)
    person = make_user("nora")
    join(None, unit, user=person)
    grant(None, source, to=unit.group)
    return person


@pytest.fixture
def access(source: "DataSource", northerner: "User") -> "Iterator[Access]":
    """What a northerner's statements run against; walls are made anew, for tests that change their settings."""
    from agent.business.sources import open_source
    from agent.business.wall import views
    from authz.principal import Principal

    opened = open_source(Principal.of(northerner), "shop").access
    views.drop_all(opened.admin)
    with psycopg.connect(**opened.admin.keywords()) as connection:
        connection.execute("ANALYZE")  # as autovacuum does: the gates stand on the planner's estimates
    yield opened
    views.drop_all(opened.admin)
