"""A database of its own with two org units' rows, described and granted; and the demo company's.

Django is not loaded yet when pytest reads this file: what needs it is imported where it is used.
"""

import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.ports import own_port
from tests.sharing import Share

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from business.connections.address import Address
    from business.execute import Access
    from business.models import DataSource

SHOP = Path(__file__).parent / "shop.sql"
HOW_TO = Path(__file__).resolve().parents[3] / "docs/how-to/add-a-data-source.md"


@pytest.fixture(scope="session")
def shop(django_db_setup: None) -> "Iterator[Address]":
    """Address of the shop's database."""
    from business.sandbox.scratch_database import open_scratch_database

    with open_scratch_database(SHOP) as address:
        yield address


@pytest.fixture(scope="module")
def shared_source(share: Share, shop: "Address") -> "Callable[[], DataSource]":
    return share(lambda: make_source(shop))


@pytest.fixture
def source(shared_source: "Callable[[], DataSource]", db: None) -> "DataSource":
    """The shop as a data source with a drafted layer; nobody may ask it."""
    return shared_source()


def make_source(shop: "Address") -> "DataSource":
    from business.introspect import draft_layer
    from business.models import DataSource
    from business.sources.services import save_layer

    source = DataSource.unscoped.create(name="shop", database=shop.database, is_dedicated=True, is_embedded=True)
    save_layer(None, source, draft_layer(shop, "shop", time_zone="Asia/Shanghai"))
    return source


@pytest.fixture(scope="session")
def demo_data(django_db_setup: None) -> "Iterator[Address]":
    """Address of the demo company's sales database."""
    from business.sandbox.scratch_database import open_scratch_database
    from demo.business_data import FILES

    with open_scratch_database(FILES / "demo.sql") as address:
        yield address


@pytest.fixture(scope="module")
def shared_demo(share: Share, demo_data: "Address") -> "Callable[[], DataSource]":
    return share(lambda: make_demo(demo_data))


@pytest.fixture
def demo(shared_demo: "Callable[[], DataSource]", db: None) -> "DataSource":
    """The demo's people and its business data, which they may ask as in the demo."""
    return shared_demo()


def make_demo(demo_data: "Address") -> "DataSource":
    from demo.business_data import ASKERS, describe_business_data, grant_asking
    from demo.company import load_company
    from demo.seed import create_people, find_company_group

    company = load_company()
    create_people(company)
    source = describe_business_data(demo_data)
    grant_asking(source, [find_company_group(company, key) for key in ASKERS])
    return source


@pytest.fixture
def northerner(source: "DataSource") -> "User":
    """Belongs to North, and may ask the whole shop."""
    return make_northerner(source)


def make_northerner(source: "DataSource") -> "User":
    from authz.models import UnitKind
    from authz.people.units import add_member, create_unit
    from business.sources.grants import grant
    from tests.factories import make_user

    unit = create_unit(None, name="North", kind=UnitKind.DEPARTMENT, parent=None)
    person = make_user("nora")
    add_member(None, unit, user=person)
    grant(None, source, to=unit.group)
    return person


@pytest.fixture
def described(source: "DataSource") -> "DataSource":
    """The shop with the layer of the explore page's tests."""
    return describe(source)


def describe(source: "DataSource") -> "DataSource":
    from business.semantic_layer.yaml_io import read_layer
    from business.sources.services import save_layer
    from tests.integration.business.explored import LAYER

    save_layer(None, source, read_layer(LAYER))
    return source


@pytest.fixture
def nora(described: "DataSource", northerner: "User") -> "User":
    """Belongs to North, and may ask the whole shop."""
    return northerner


@pytest.fixture
def sam(described: "DataSource") -> "User":
    """Belongs to South, and may ask about sales and regions only."""
    return make_southerner(described)


def make_southerner(described: "DataSource") -> "User":
    from authz.models import UnitKind
    from authz.people.units import add_member, create_unit
    from business.sources.grants import grant
    from tests.factories import make_user

    person = make_user("sam")
    add_member(None, create_unit(None, name="South", kind=UnitKind.DEPARTMENT, parent=None), user=person)
    for table in ("sale", "region"):
        grant(None, described, to=person, table=table)
    return person


@dataclass(frozen=True)
class Askers:
    """The shop, described; Nora of North, who may ask all of it, and Sam of South, who may ask about sales and regions."""

    described: "DataSource"
    nora: "User"
    sam: "User"


@pytest.fixture(scope="module")
def shared_askers(share: Share, shared_source: "Callable[[], DataSource]") -> "Callable[[], Askers]":
    def make() -> Askers:
        source = describe(shared_source())
        return Askers(source, make_northerner(source), make_southerner(source))

    return share(make)


@pytest.fixture
def askers(shared_askers: "Callable[[], Askers]", db: None) -> Askers:
    """`described`, `nora` and `sam`, made once for a file that overrides these fixtures by it."""
    return shared_askers()


@pytest.fixture
def access(source: "DataSource", northerner: "User") -> "Iterator[Access]":
    """What a northerner's statements run against; sandboxes are made anew, for tests that change their settings."""
    from authz.principal import Principal
    from business.execute import Access
    from business.sandbox import sql_views
    from business.sources.services import open_source

    opened = open_source(Principal.of(northerner), "shop").access
    assert isinstance(opened, Access)
    sql_views.drop_all_sandboxes(opened.admin)
    with psycopg.connect(**opened.admin.keywords()) as connection:
        connection.execute("ANALYZE")  # as autovacuum does: the gates stand on the planner's estimates
    yield opened
    sql_views.drop_all_sandboxes(opened.admin)


@pytest.fixture
def root(db: None) -> "User":
    """A superuser."""
    from tests.factories import make_user

    return make_user("root", is_superuser=True)


@pytest.fixture
def steward(source: "DataSource") -> "User":
    """Staff that manages the shop and may ask it, and may not look through other people's eyes."""
    from authz.permissions import Right
    from business.sources.grants import grant
    from tests.integration.governance.world import staff

    person = staff("stew")
    grant(None, source, to=person, right=Right.MANAGE)
    grant(None, source, to=person)
    return person


@contextmanager
def one_more_customer(shop: "Address") -> "Iterator[None]":
    """A customer of North, while the block lasts."""
    with psycopg.connect(**shop.keywords(), autocommit=True) as connection:
        connection.execute("INSERT INTO customer (id, org_unit) VALUES (1000, 'North')")
        try:
            yield
        finally:
            connection.execute("DELETE FROM customer WHERE id = 1000")


@dataclass(frozen=True)
class Elsewhere:
    """Another server with the shop in a database `sales`: its administrator, and the account that the how-to makes."""

    administrator: "Address"
    account: "Address"

    def run(self, statements: str) -> None:
        """As the administrator."""
        with psycopg.connect(**self.administrator.keywords(), autocommit=True) as connection:
            connection.execute(statements)

    def fields(self, **more: object) -> "dict[str, object]":
        """What one types into the form of a data source."""
        there = self.account
        return {
            "name": "sales", "host": there.host, "port": there.port, "database": there.database, "username": there.user,
            "password": there.password, "tls": "disable", "engine": "postgresql", "schemas": "public", "is_active": "on",
        } | more  # fmt: skip


def how_to() -> tuple[str, list[str]]:
    """The SQL of `docs/how-to/add-a-data-source.md`, and the words of its command up to the pipe."""
    text = HOW_TO.read_text()
    (block,) = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    (line,) = re.findall(r"manage\.py (data_source setup [^|]*)\|", text)
    return block, shlex.split(line)


@pytest.fixture(scope="session")
def elsewhere() -> "Iterator[Elsewhere]":
    """A server of its own, set up word for word as the how-to says."""
    from business.connections.address import Address, Tls
    from copilot_site.embedded import postgres
    from copilot_site.home import Home

    folder = Path(tempfile.mkdtemp(prefix="elsewhere-"))
    folder.chmod(0o755)
    home = Home(folder).create()
    try:
        port = own_port()
        postgres.launch_server(home, port, durable=False)
        server = Address("127.0.0.1", port, "postgres", postgres.USER, home.secret("postgres"), Tls.DISABLE)
        with psycopg.connect(**server.keywords(), autocommit=True) as connection:
            connection.execute("CREATE DATABASE sales TEMPLATE template0")
        block, words = how_to()
        password = re.findall(r"PASSWORD '([^']*)'", block)[0]
        account = Address("127.0.0.1", port, "sales", "copilot_source", password, Tls.DISABLE)
        place = Elsewhere(server.at("sales"), account)
        place.run(SHOP.read_text())
        place.run(block)
        place.run(printed(*words))
        yield place
    finally:
        if pid := postgres.read_running_pid(home):
            postgres.stop_server(home, pid)
        shutil.rmtree(folder, ignore_errors=True)


def printed(*words: str) -> str:
    """What a command prints."""
    from django.core.management import call_command

    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()
