"""Where a source is and with which account: whose it is to say, what is refused when it is saved, and what mends it.

The source is on a server of its own, set up word for word as the how-to says; its account is no superuser.
"""

from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import Permission, User
from django.core.management import call_command

from audit.actions import Action
from audit.models import Entry
from authz.people.units import add_member, create_unit
from authz.permissions import Right
from authz.principal import Principal
from business.connections.identity import SourceRefused
from business.execute import Access
from business.guard.policy import AllowedTable, TablePolicy
from business.models import DataSource
from business.sandbox import sql_views
from business.sandbox.setup import build_source_setup_sql
from business.semantic_layer.model import SemanticModel, UnitRule
from business.semantic_layer.yaml_io import read_layer
from business.sources.checks import check_source
from business.sources.connection_rights import FIELDS, LIMITS
from business.sources.grants import grant
from business.sources.services import open_source, open_sources, redraft_layer, save_layer
from business.statements.run_query import run_query
from copilot_site.lib.errors import InvalidInput
from tests.factories import make_user
from tests.integration.business.conftest import Elsewhere
from tests.integration.business.test_bad_input import said
from tests.integration.governance.world import client_of, staff
from tests.sharing import Share

ADD = "/admin/business/datasource/add/"
SECRET = "a-secret-that-no-log-shows"


@pytest.fixture(scope="module")
def shared_sales(
    share: Share, shared_source: Callable[[], DataSource], elsewhere: Elsewhere
) -> Callable[[], DataSource]:
    return share(lambda: make_sales(elsewhere))


def make_sales(elsewhere: Elsewhere) -> DataSource:
    """Made in the admin, as the how-to says, with a drafted layer."""
    client = client_of(make_user("maker", is_superuser=True))
    answer = client.post(ADD, elsewhere.fields())
    assert answer.status_code == 302, answer.context["adminform"].form.errors
    source = DataSource.unscoped.get(name="sales")
    save_layer(None, source, redraft_layer(None, source))
    return source


@pytest.fixture
def sales(shared_sales: Callable[[], DataSource], elsewhere: Elsewhere, db: None) -> Iterator[DataSource]:
    """The source of the how-to, beside the shop."""
    yield shared_sales()
    sql_views.drop_all_sandboxes(elsewhere.account)


@pytest.fixture
def seller(sales: DataSource) -> User:
    person = make_user("nora")
    unit = create_unit(None, name="North")
    add_member(None, unit, user=person)
    grant(None, sales, to=unit.group)
    return person


def connector(name: str = "cora") -> User:
    """Staff that may say where sources are, and manages none."""
    person = staff(name)
    person.user_permissions.add(Permission.objects.get(codename="change_connection"))
    return User.objects.get(pk=person.pk)


def change(source: DataSource) -> str:
    return f"/admin/business/datasource/{source.pk}/change/"


def connection_of(source: DataSource) -> dict[str, object]:
    row: dict[str, Any] = (
        DataSource.unscoped.filter(pk=source.pk).values(*FIELDS, "encrypted_password", "is_embedded").get()
    )
    return row | {"encrypted_password": bytes(row["encrypted_password"])}


def test_a_source_set_up_as_the_how_to_says_answers(sales: DataSource, seller: User, elsewhere: Elsewhere) -> None:
    told = said(seller)  # in words, over the API
    assert (told["stop_reason"], "75" in told["content"]) == ("ok", True), told
    for dedicated in (False, True):
        if dedicated:
            elsewhere.run(build_source_setup_sql("copilot_source", "sales", ["public"], only_business_data=True))
            DataSource.unscoped.filter(pk=sales.pk).update(is_dedicated=True)
        principal = Principal.of(seller)
        opened = open_source(principal, "sales")
        rows = async_to_sync(run_query)(principal, opened, "SELECT count(*) FROM customer").answer.rows
        assert rows is not None
        assert rows.rows == ((75,),)
        assert check_source(DataSource.unscoped.get(pk=sales.pk)) == []


# Statements that make an account unfit, with the sentence that names it: one of each kind, and the others.
UNFIT = {
    "ALTER ROLE copilot_source SUPERUSER": "is a superuser",
    "GRANT pg_read_all_data TO copilot_source": "is a member of pg_read_all_data",
    "GRANT SELECT (rolpassword) ON pg_authid TO copilot_source": "can read pg_catalog.pg_authid",
    "GRANT EXECUTE ON FUNCTION pg_read_file(text) TO copilot_source": "can run functions that read files",
    "ALTER TABLE sale OWNER TO copilot_source": "owns public.sale",
    "REVOKE CREATE ON DATABASE sales FROM copilot_source": "cannot create schemas",
    "REVOKE SELECT ON customer FROM copilot_source": "cannot read the table public.customer",
}
OTHERWISE = {
    "ALTER ROLE copilot_source CREATEROLE": "can create roles",
    "ALTER ROLE copilot_source BYPASSRLS": "bypasses row security",
    "ALTER ROLE copilot_source REPLICATION": "can copy the whole server",
    "GRANT pg_execute_server_program TO copilot_source": "is a member of pg_execute_server_program",
    "GRANT pg_read_server_files TO copilot_source": "is a member of pg_read_server_files",
    "GRANT copilot TO copilot_source": "is a member of copilot",
    "GRANT SELECT ON pg_authid TO copilot_source": "can read pg_catalog.pg_authid",
    "GRANT SELECT ON pg_shadow TO PUBLIC": "can read pg_catalog.pg_shadow",
    "GRANT EXECUTE ON FUNCTION lo_import(text), pg_ls_dir(text) TO PUBLIC": "can run functions that read files",
    "ALTER DATABASE sales OWNER TO copilot_source": "owns sales",
    "CREATE SCHEMA AUTHORIZATION copilot_source": "owns copilot_source",
    "REVOKE USAGE ON SCHEMA public FROM PUBLIC, copilot_source": "cannot use the schema public",
}


@pytest.mark.parametrize("unfit", [UNFIT, OTHERWISE], ids=["each kind", "others"])
def test_what_makes_an_account_unfit_is_named_with_the_statement_that_mends_it(
    sales: DataSource, seller: User, elsewhere: Elsewhere, unfit: dict[str, str]
) -> None:
    for spoiled, sentence in unfit.items():
        elsewhere.run(spoiled)
        source = DataSource.unscoped.get(pk=sales.pk)
        faults = check_source(source)
        assert any(sentence in fault.sentence for fault in faults), (spoiled, faults)
        sql_views.forget_sandbox(source.address, open_source(Principal.of(seller), "sales").access.policy)
        opened = open_source(Principal.of(seller), "sales")
        with pytest.raises(SourceRefused):  # whoever asks is not answered until it is mended
            async_to_sync(run_query)(Principal.of(seller), opened, "SELECT count(*) FROM customer, sale")
        for _round in range(3):  # one mend can show the next: what a superuser owned
            elsewhere.run(" ".join(fault.statement for fault in faults))
            faults = check_source(source)
            if not faults:
                break
        assert faults == [], spoiled


def test_a_server_that_does_not_say_who_it_is_is_refused(sales: DataSource, elsewhere: Elsewhere) -> None:
    elsewhere.run("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    with pytest.raises(SourceRefused, match=r"run (GRANT .* TO PUBLIC) in this database") as refused:
        check_source(sales)
    statement = str(refused.value).partition("run ")[2].partition(" in this")[0]
    elsewhere.run(statement)
    assert check_source(sales) == []


def test_an_unfit_account_is_refused_when_it_is_saved(root: User, elsewhere: Elsewhere) -> None:
    elsewhere.run("ALTER ROLE copilot_source CREATEROLE; ALTER DATABASE sales OWNER TO copilot_source")
    try:
        page = client_of(root).post(ADD, elsewhere.fields(is_dedicated="on")).content.decode()
        assert "ALTER ROLE &quot;copilot_source&quot; NOCREATEROLE;" in page
        assert "ALTER DATABASE sales OWNER TO copilot;" in page
        assert not DataSource.unscoped.exists()
    finally:
        elsewhere.run("ALTER ROLE copilot_source NOCREATEROLE; ALTER DATABASE sales OWNER TO copilot")
        elsewhere.run(
            build_source_setup_sql("copilot_source", "sales", ["public"])
        )  # what an owner had went with the database


def test_whoever_manages_a_source_changes_nothing_of_its_connection(sales: DataSource, elsewhere: Elsewhere) -> None:
    steward = staff("stew")
    grant(None, sales, to=steward, right=Right.MANAGE)
    before = connection_of(sales)
    client = client_of(steward)
    page = client.get(change(sales))
    assert set(page.context["adminform"].form.fields) == set()
    other = {
        "name": "other", "host": "127.0.0.9", "port": 1, "database": "x", "username": "y", "password": SECRET,
        "schemas": "public,secret", "is_dedicated": "on", "is_embedded": "on", "encrypted_password": "x",
    }  # fmt: skip
    for typed in ({"host": "127.0.0.9"}, {"is_embedded": "on"}, other):
        client.post(change(sales), typed | {"layer_yaml": "", "grants-TOTAL_FORMS": 0, "grants-INITIAL_FORMS": 0})
        assert connection_of(sales) == before, typed
    assert client.get(ADD).status_code == 403
    assert client.post(ADD, elsewhere.fields(name="second")).status_code == 403


def test_whoever_may_set_connections_changes_neither_words_nor_rights(sales: DataSource, elsewhere: Elsewhere) -> None:
    cora = connector()
    client = client_of(cora)
    layer = DataSource.unscoped.get(pk=sales.pk).layer
    form = client.get(change(sales)).context["adminform"].form
    assert set(form.fields) == {*FIELDS, "password"}
    typed = elsewhere.fields(port=elsewhere.account.port, layer_yaml="name: sales\n") | {
        "grants-TOTAL_FORMS": 1, "grants-INITIAL_FORMS": 0, "grants-0-user": cora.pk, "grants-0-right": "view",
    }  # fmt: skip
    assert client.post(change(sales), typed | {"is_active": ""}).status_code == 302
    assert DataSource.unscoped.get(pk=sales.pk).layer == layer
    assert open_sources(Principal.of(cora)) == []
    entry = Entry.objects.filter(action=Action.SETTING_CHANGED, actor_name="cora").latest("pk")
    assert entry.detail == {"connection": ["is_active", "password"], "password": "entered"}
    assert client.get(f"/admin/data-sources/{sales.pk}/layer/").status_code == 404
    assert client.post(change(sales).replace("change", "delete"), {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": str(sales.pk), "post": "yes"}
    client.post("/admin/business/datasource/", chosen)
    assert DataSource.unscoped.filter(pk=sales.pk).exists()


def test_whoever_manages_a_source_does_not_delete_it_and_whoever_does_is_recorded(
    source: DataSource, root: User, elsewhere: Elsewhere
) -> None:
    """With it go its address, its password, its verified answers and everybody's rights."""
    steward, both = staff("stew"), connector()
    for person in (steward, both):
        grant(None, source, to=person, right=Right.MANAGE)
    page = f"/admin/business/datasource/{source.pk}/delete/"
    listed = {"action": "delete_selected", "_selected_action": [source.pk], "post": "yes"}
    assert client_of(steward).post(page, {"post": "yes"}).status_code == 403
    client_of(steward).post("/admin/business/datasource/", listed)
    assert client_of(connector("cory")).post(page, {"post": "yes"}).status_code == 403
    assert DataSource.unscoped.filter(pk=source.pk).exists()
    assert client_of(both).post(page, {"post": "yes"}).status_code == 302
    other = DataSource.unscoped.create(name="other", database="x", host="127.0.0.1", port=1, tls="disable")
    client_of(root).post("/admin/business/datasource/", listed | {"_selected_action": [other.pk]})
    assert not DataSource.unscoped.exists()
    told = Entry.objects.filter(action=Action.SETTING_CHANGED, detail__deleted=True).order_by("pk")
    assert [(entry.actor_name, entry.target_name, entry.detail["address_before"]) for entry in told] == [
        ("cora", "shop", source.where), ("root", "other", other.where),
    ]  # fmt: skip


def test_the_log_names_what_changed_and_no_secret(root: User, elsewhere: Elsewhere) -> None:
    typed = elsewhere.fields(password=SECRET) | {"is_active": ""}
    assert client_of(root).post(ADD, typed).status_code == 302
    entry = Entry.objects.filter(action=Action.SETTING_CHANGED).latest("pk")
    assert (
        {"name", "host", "database", "username", "password"} <= set(entry.detail["connection"]) <= {*FIELDS, "password"}
    )
    assert all(SECRET not in str(values) for values in Entry.objects.values_list("detail", "reason", "target_name"))


def test_of_a_database_that_the_product_made_nothing_can_be_typed(source: DataSource, root: User) -> None:
    before = connection_of(source)
    client = client_of(root)
    assert set(client.get(change(source)).context["adminform"].form.fields) == {"is_active", *LIMITS}
    typed = {
        "host": "10.0.0.1",
        "database": "x",
        "username": "y",
        "password": SECRET,
        "is_active": "on",
        "schemas": "x",
    }
    client.post(change(source), typed | {"layer_yaml": "", "grants-TOTAL_FORMS": 0, "grants-INITIAL_FORMS": 0})
    assert connection_of(source) == before


SYSTEM = (
    "pg_catalog", "PG_CATALOG", '"pg_catalog"', " pg_catalog", "information_schema", "pg_toast", "pg_temp_3", "ｐg_catalog", "",
    "copilot_walls",
)  # fmt: skip


@pytest.mark.parametrize("schema", ["pg_catalog", "copilot_walls", "other"])
def test_a_layer_names_tables_of_its_schemas_only(source: DataSource, northerner: User, schema: str) -> None:
    secret = SemanticModel(
        name="secret", schema=schema, table="pg_authid", org_unit=UnitRule(shared_with="everyone"),
        dimensions=read_layer("name: x\nsemantic_models: [{name: a, table: a, dimensions: [{name: b, expr: rolname}]}]")
        .semantic_models[0].dimensions,
    )  # fmt: skip
    layer = source.semantic_layer.model_copy(
        update={"semantic_models": (*source.semantic_layer.semantic_models, secret)}
    )
    with pytest.raises(InvalidInput, match="is in no schema that this data source allows"):
        save_layer(None, source, layer)
    source.layer = layer.model_dump(mode="json", by_alias=True, exclude_defaults=True)  # as if it had come in before
    source.schemas = ["public", schema] if schema in SYSTEM else ["public"]
    source.save()
    opened = open_source(Principal.of(northerner), "shop")
    assert {m.name for m in opened.layer.semantic_models} == {"customer", "sale"}
    assert {table.name for table in opened.access.policy.tables} == {"customer", "sale"}


def test_no_sandbox_is_ever_told_of_a_system_schema() -> None:
    for schema in SYSTEM:
        with pytest.raises(ValueError, match="none of business data"):
            AllowedTable(schema, "pg_authid", ("rolname",), None)


def test_a_connection_cannot_allow_a_system_schema(root: User, elsewhere: Elsewhere) -> None:
    page = client_of(root).post(ADD, elsewhere.fields(schemas="public,pg_catalog")).content.decode()
    assert "pg_catalog is a system schema" in page
    assert not DataSource.unscoped.exists()


LEADING = {
    "CREATE VIEW leads AS SELECT rolname::text AS name FROM pg_authid": "leads to pg_catalog.pg_authid",
    "CREATE VIEW below AS SELECT rolname FROM pg_authid; CREATE VIEW leads AS SELECT rolname::text AS name FROM below":
        "leads to pg_catalog.pg_authid",
    "CREATE EXTENSION postgres_fdw; CREATE SERVER home FOREIGN DATA WRAPPER postgres_fdw;"
    "CREATE FOREIGN TABLE leads (name text) SERVER home": "leads to public.leads",
    "CREATE EXTENSION postgres_fdw; CREATE SERVER home FOREIGN DATA WRAPPER postgres_fdw; CREATE TABLE leads (name text)"
    " PARTITION BY LIST (name); CREATE FOREIGN TABLE part PARTITION OF leads FOR VALUES IN ('a') SERVER home":
        "leads to public.part",
    "CREATE EXTENSION dblink; CREATE VIEW leads AS SELECT * FROM dblink('dbname=x', 'SELECT 1') AS t(name text)":
        "connect elsewhere|leads to dblink",
}  # fmt: skip


def test_what_leads_elsewhere_is_no_table(sales: DataSource, elsewhere: Elsewhere) -> None:
    policy = TablePolicy.of([AllowedTable("public", "leads", ("name",), None)])
    for made, sentence in LEADING.items():
        elsewhere.run(made + "; GRANT SELECT ON leads TO copilot_source")
        try:
            with pytest.raises(SourceRefused, match=sentence):
                sql_views.ensure_sandbox(sales.address, policy)
        finally:
            elsewhere.run("DROP EXTENSION IF EXISTS postgres_fdw, dblink CASCADE; DROP VIEW IF EXISTS below CASCADE")
            elsewhere.run(
                "DO $$ BEGIN EXECUTE (SELECT format('DROP %s leads', CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END)"
                " FROM pg_class WHERE relname = 'leads'); EXCEPTION WHEN null_value_not_allowed THEN NULL; END $$"
            )


def test_a_sandbox_that_reaches_other_servers_is_refused(access: Access) -> None:
    with psycopg.connect(**access.admin.keywords(), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION dblink; GRANT USAGE ON SCHEMA public TO PUBLIC")  # everybody may call it
        try:
            with pytest.raises(InvalidInput, match=r"REVOKE EXECUTE ON FUNCTION .*dblink") as refused:
                sql_views.ensure_sandbox(access.admin, access.policy)
            connection.execute(str(refused.value).partition("Run: ")[2])
        finally:
            connection.execute("DROP EXTENSION dblink; REVOKE ALL ON SCHEMA public FROM PUBLIC")


def test_a_connection_is_checked_on_its_page(sales: DataSource, root: User, elsewhere: Elsewhere) -> None:
    address = f"/admin/data-sources/{sales.pk}/connection/"
    assert "It can be asked" in client_of(root).post(address).content.decode()
    elsewhere.run("ALTER ROLE copilot_source BYPASSRLS")
    try:
        page = client_of(connector()).post(address).content.decode()
    finally:
        elsewhere.run("ALTER ROLE copilot_source NOBYPASSRLS")
    assert "NOBYPASSRLS" in page
    assert client_of(staff("zoe")).post(address).status_code == 404
    entries = Entry.objects.filter(action=Action.SOURCE_CHECKED).order_by("pk")
    assert [(entry.actor_name, entry.detail) for entry in entries] == [("root", {"faults": 0}), ("cora", {"faults": 1})]


def test_the_doctor_has_a_line_for_every_source(sales: DataSource, source: DataSource, elsewhere: Elsewhere) -> None:
    from copilot_site.doctor import check_data_sources

    DataSource.unscoped.create(name="off", database="x", is_active=False)
    DataSource.unscoped.create(name="away", database="x", host="127.0.0.1", port=1, tls="disable")
    found = {finding.name: finding for finding in check_data_sources()}
    assert {name: finding.ok for name, finding in found.items()} == {
        "Data source away": False, "Data source off": False, "Data source sales": True, "Data source shop": True,
    }  # fmt: skip
    assert found["Data source off"].optional
    assert "does not answer" in found["Data source away"].detail
    elsewhere.run("ALTER TABLE customer RENAME TO client")
    try:
        finding = next(one for one in check_data_sources() if one.name == "Data source sales")
    finally:
        elsewhere.run("ALTER TABLE client RENAME TO customer")
    assert "The database has no table public.customer." in finding.detail
    assert "draft it anew" in finding.mend


def test_what_administrators_run_is_printed(elsewhere: Elsewhere) -> None:
    out = StringIO()
    call_command("data_source", "setup", "--account", 'o"dd', "--database", "sales", "--schema", "a b", stdout=out)
    assert 'GRANT USAGE ON SCHEMA "a b" TO "o""dd";' in out.getvalue()
