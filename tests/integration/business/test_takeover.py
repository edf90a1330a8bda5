"""The product's own database server is never a data source: not for whoever manages one, and by no address that leads to it."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from authz.permissions import Right
from authz.principal import Principal
from business.connections import identity
from business.connections.address import Address, Tls
from business.connections.identity import SourceRefused
from business.connections.postgres_session import connect_to_source
from business.execute import Access, run_sql
from business.models import DataSource
from business.sandbox import sql_views
from business.semantic_layer.yaml_io import read_layer
from business.sources.grants import grant
from business.sources.services import open_source, redraft_layer
from copilot_site.lib.errors import InvalidInput
from tests.factories import make_user
from tests.integration.governance.world import client_of, staff

ROOT = Path(__file__).resolve().parents[3]
LAYER = """
name: shop
semantic_models:
- name: auth_user
  table: auth_user
  org_unit: {shared_with: everyone}
  dimensions: [{name: username, expr: username}, {name: password, expr: password}]
- name: pg_authid
  schema: pg_catalog
  table: pg_authid
  org_unit: {shared_with: everyone}
  dimensions: [{name: rolname, expr: rolname}, {name: rolpassword, expr: rolpassword}]
"""
HASH = "pbkdf2_sha256$"


@pytest.fixture
def steward(source: DataSource) -> User:
    """Staff that manages the source, and no superuser."""
    person = staff("stew")
    person.set_password("a secret of the steward")
    person.save()
    grant(None, source, to=person, right=Right.MANAGE)
    grant(None, source, to=person)
    return person


def stored(source: DataSource) -> dict[str, object]:
    """Everything of a source that is not its layer, as it is now."""
    row = DataSource.unscoped.filter(pk=source.pk).values().get()
    return {name: value for name, value in row.items() if name not in ("layer", "changed_at")}


def test_whoever_manages_a_source_does_not_come_to_the_product_s_own_database(
    source: DataSource, steward: User
) -> None:
    before, own = stored(source), Address.of_django()
    client = client_of(steward)
    address = f"/admin/business/datasource/{source.pk}/change/"
    form = {"grants-TOTAL_FORMS": 0, "grants-INITIAL_FORMS": 0}
    typed = {
        "name": "shop",
        "host": "",
        "port": own.port,
        "database": own.database,
        "is_active": "on",
        "schemas": "public,pg_catalog",
    }
    client.post(address, form | typed | {"layer_yaml": LAYER})
    assert stored(source) == before
    client.post(f"/admin/data-sources/{source.pk}/layer/", {"text": LAYER})
    for table, column in (("auth_user", "password"), ("pg_authid", "rolpassword")):
        statement = f"SELECT {column} FROM {table}"
        asked = {"source": "shop", "person": "stew", "sql": statement, "protection": "guard", "execute": "on"}
        page = client.post("/admin/data-sources/check/", asked).content.decode()
        assert HASH not in page
        assert "SCRAM-SHA-256" not in page
        assert "Allowed" not in page


def own_as(host: str) -> dict[str, object]:
    """What a superuser would type to reach the product's own database."""
    own = Address.of_django()
    return {
        "name": "own", "host": host, "port": own.port, "database": own.database, "username": own.user,
        "password": own.password, "tls": "disable", "engine": "postgresql", "schemas": "public", "is_active": "on",
    }  # fmt: skip


HOSTS = {
    "": "the product&#x27;s own server is never a data source",
    "localhost": "leads to the product&#x27;s own database server",
    "0x7f000001": "is not a host. Give one name",
    "2130706433": "is not a host. Give one name",
}


def test_not_even_a_superuser_can_type_the_product_s_own_server(db: None) -> None:
    client = client_of(make_user("root", is_superuser=True))
    for host, sentence in HOSTS.items():
        page = client.post("/admin/business/datasource/add/", own_as(host)).content.decode()
        assert sentence in page, (host, page)
        assert not DataSource.unscoped.exists()


def led_home(source: DataSource) -> None:
    """The address as if a name led to the product's server since it was checked."""
    own = Address.of_django()
    source.is_embedded, source.host, source.port, source.username = False, "127.0.0.1", own.port, own.user
    source.tls = Tls.DISABLE
    source.set_password(own.password)
    source.save()


def test_a_name_that_leads_home_later_is_refused_on_every_connection(
    source: DataSource, northerner: User, access: Access
) -> None:
    principal = Principal.of(northerner)
    assert async_to_sync(run_sql)(access, "SELECT count(*) FROM customer").rows is not None
    led_home(source)
    home = open_source(principal, "shop").access
    assert isinstance(home, Access)
    with pytest.raises(InvalidInput, match="the product's own database server"):
        async_to_sync(run_sql)(home, "SELECT count(*) FROM customer")
    with pytest.raises(InvalidInput, match="the product's own database server"):
        redraft_layer(None, DataSource.unscoped.get(pk=source.pk))
    sql_views.built.add(
        (home.admin, sql_views.build_sandbox_name(home.admin, home.policy))
    )  # a sandbox that this process has seen
    with pytest.raises(InvalidInput, match=r"the product's own database server|does not say which one it is"):
        async_to_sync(run_sql)(home, "SELECT count(*) FROM customer")
    sql_views.forget_sandbox(home.admin, home.policy)


def test_a_made_database_is_never_the_product_s_own(source: DataSource) -> None:
    source.database = Address.of_django().database
    with pytest.raises(InvalidInput, match="The product's own database is never a data source"):
        _ = source.address


def test_no_file_makes_a_source(db: None, tmp_path: Path) -> None:
    file = tmp_path / "layer.yaml"
    file.write_text("name: own\n")
    with pytest.raises((CommandError, TypeError)):
        call_command("data_source", "import", str(file), database="copilot")
    with pytest.raises(CommandError, match="There is no data source own"):
        call_command("data_source", "import", str(file))
    for key in ("is_embedded: true", "host: x"):
        with pytest.raises(InvalidInput, match="unknown key"):
            read_layer(f"name: own\n{key}\n")


def test_guard_or_sandbox_alone_is_for_the_evaluation_command() -> None:
    """Who names one of the two, read from the source: nothing that a page, an address, a socket or a tool calls."""
    named = set()
    for app in ("agent", "business", "copilot_site", "demo", "evals"):
        for path in (ROOT / app).rglob("*.py"):
            text = path.read_text()
            if "rotection" not in text:  # to parse every file takes long
                continue
            tree = ast.parse(text)
            words = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
            names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
            if "Protection" in names or "protection" in words:
                named.add(str(path.relative_to(ROOT)))
    assert named == {"business/execute.py", "evals/guard_cases.py", "evals/management/commands/evaluate_sql_guard.py"}


def test_a_checked_statement_stands_before_guard_and_sandbox(source: DataSource, steward: User) -> None:
    asked = {"source": "shop", "person": "stew", "sql": "SELECT name FROM customer", "protection": "guard"}
    page = client_of(steward).post("/admin/data-sources/check/", asked).content.decode()
    assert "FROM copilot_wall_" in page
    assert 'name="protection"' not in page


def test_the_server_tells_itself_from_another(shop: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: what the other tests refuse is refused by the number of the server, and by nothing else."""
    stranger = replace(shop, tls=Tls.DISABLE)
    with pytest.raises(SourceRefused, match="own database server"):
        connect_to_source(stranger)
    monkeypatch.setattr(identity, "load_own_server_identifier", lambda: 0)
    connect_to_source(stranger).close()
