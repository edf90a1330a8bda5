"""MariaDB as a data source: the guard on the text, the account that sees only views, and the same rows as PostgreSQL gives."""

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pymysql
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import call_command

from authz.people.units import add_member, create_unit
from authz.principal import Principal
from business.connections.address import Address, Tls
from business.connections.identity import SourceRefused
from business.dialects import DialectAccess
from business.guard.policy import AllowedTable, TablePolicy
from business.guard.refusal import SqlRefused
from business.limits import StatementLimits
from business.models import DataSource, SourceEngine
from business.mysql import build_access
from business.semantic_layer.model import SemanticLayer
from business.sources.checks import check_source
from business.sources.grants import grant
from business.sources.services import open_source, redraft_layer, save_layer
from business.statements.run_query import run_query
from tests.factories import make_user
from tests.integration.business import mariadb
from tests.integration.business.mariadb import MariaDb
from tests.integration.business.test_dialects import BOTH, COLUMNS, ROWS, postgres, told  # noqa: F401
from tests.tooling import called

pytestmark = pytest.mark.needs("MariaDB")
CASES = Path(__file__).parents[2] / "evaluation"
SHOP = """
CREATE DATABASE shop CHARACTER SET utf8mb4;
CREATE TABLE shop.customer (customer_id int PRIMARY KEY, org_unit varchar(40), name varchar(40), region varchar(20), salary int);
INSERT INTO shop.customer VALUES (1, 'North', 'Ann', 'East', 10), (2, 'North', 'Bob', 'West', 20), (3, 'South', 'Cy', 'East', 30),
    (4, 'north', 'Dee', 'East', 40), (5, 'North ', 'Eve', 'East', 50);
CREATE TABLE shop.sale (sale_id int PRIMARY KEY, org_unit varchar(40), customer_id int, amount decimal(10, 2), sold_at datetime);
INSERT INTO shop.sale VALUES (1, 'North', 1, 10.50, '2026-01-05 10:00:00'), (2, 'North', 1, 4, '2026-02-05 10:00:00'),
    (3, 'South', 3, 100, '2026-02-06 10:00:00'), (4, 'North', 2, 7, '2026-02-07 23:59:59');
CREATE DATABASE other;
CREATE TABLE other.secret (word varchar(20));
INSERT INTO other.secret VALUES ('never shown');
CREATE USER 'copilot_source'@'%' IDENTIFIED BY 'a long one of your own';
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    with mariadb.running(tmp_path_factory.mktemp("maria")) as made:
        made.run(SHOP)
        made.run(printed())
        yield made


def printed() -> str:
    """What the command of the how-to prints."""
    out = StringIO()
    given = ["--account", "copilot_source", "--database", "shop", "--views", "shop_views"]
    tables = ["--table", "customer(customer_id, org_unit, name, region)", "--table", "sale"]
    call_command("data_source", "setup-mysql", *given, *tables, stdout=out)
    return out.getvalue()


@pytest.fixture
def sales(db: None, server: MariaDb) -> DataSource:
    source = DataSource(
        name="sales", engine=SourceEngine.MYSQL, host="127.0.0.1", port=server.port, database="shop_views", schemas=["shop_views"],
        username="copilot_source", tls=Tls.DISABLE,
    )  # fmt: skip
    source.set_password(mariadb.PASSWORD)
    source.save()
    save_layer(None, source, redraft_layer(None, source))
    return source


@pytest.fixture
def nora(sales: DataSource) -> User:
    person = make_user("nora")
    unit = create_unit(None, name="North")
    add_member(None, unit, user=person)
    grant(None, sales, to=unit.group)
    return person


def rows(person: User, statement: str) -> list[tuple[Any, ...]]:
    principal = Principal.of(person)
    found = async_to_sync(run_query)(principal, open_source(principal, "sales"), statement).answer.rows
    assert found is not None
    return list(found.rows)


def test_views_are_drafted_with_keys_times_and_units(sales: DataSource) -> None:
    models = {model.name: model for model in sales.semantic_layer.semantic_models}
    assert {name: (m.table_schema, m.org_unit and m.org_unit.column) for name, m in models.items()} == {
        "customer": ("shop_views", "org_unit"), "sale": ("shop_views", "org_unit"),
    }  # fmt: skip
    assert "salary" not in models["customer"].columns
    assert ("foreign", "customer") in {(entity.type, entity.name) for entity in models["sale"].entities}
    assert models["sale"].defaults.agg_time_dimension == "sold_at"
    assert check_source(sales) == []


def test_a_question_is_answered_within_the_person_s_units(nora: User) -> None:
    """Texts are compared byte by byte there: neither “north” nor “North ” is North."""
    assert rows(nora, "SELECT name FROM customer ORDER BY 1") == [("Ann",), ("Bob",)]
    outcome = called(nora, "database_query", {"question": "total amount by region in February 2026"})
    assert outcome.result.success, outcome.result.error
    assert outcome.result.data["rows"] == [["West", 7], ["East", 4]]


def test_without_the_binary_collation_it_would_read_others(nora: User, monkeypatch: pytest.MonkeyPatch) -> None:
    from business import mysql as session

    plain = session._OF_MARIADB.replace("utf8mb4_nopad_bin", "utf8mb4_general_ci")
    monkeypatch.setattr(session, "_OF_MARIADB", plain)
    assert len(rows(nora, "SELECT name FROM customer")) == 4


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT max(sold_at) - min(sold_at) FROM sale",
        "SELECT sold_at::date + 7 FROM sale",
        "SELECT b - a FROM (SELECT x AS a, x AS b FROM (SELECT sold_at AS x FROM sale) AS s) AS t",
        "WITH w (a) AS (SELECT sold_at FROM sale) SELECT sum(a) FROM w",
    ],
)
def test_a_sum_of_times_is_refused_that_mysql_would_make_of_their_digits(nora: User, statement: str) -> None:
    with pytest.raises(SqlRefused, match="no equal"):
        rows(nora, statement)


@pytest.mark.parametrize("unit", ["\\", "\\' OR 1=1 -- ", "' OR ''='", "`", "\\\\", "/*! x */", "%s", "\x1a", "'\\''"])
def test_no_name_of_a_unit_lets_other_rows_through(server: MariaDb, unit: str) -> None:
    table = AllowedTable("shop_views", "customer", ("name", "org_unit"), "org_unit", (unit,))
    access = build_access(address_of(server), TablePolicy((table,)), SemanticLayer(name="sales"), StatementLimits())
    assert ran(access, "SELECT count(*) AS n FROM customer") == [(0,)]


def address_of(server: MariaDb) -> Address:
    return Address("127.0.0.1", server.port, "shop_views", "copilot_source", mariadb.PASSWORD, Tls.DISABLE)


def ran(access: DialectAccess, statement: str) -> list[tuple[Any, ...]]:
    from business.dialects import run_translated

    answer = async_to_sync(run_translated)(access, statement)
    assert answer.rows is not None
    return list(answer.rows.rows)


FORBIDDEN = [
    "SELECT * FROM shop.customer", "SELECT salary FROM shop_views.customer", "SELECT * FROM other.secret",
    "SELECT * FROM mysql.user", "SELECT 1 INTO OUTFILE '/tmp/files-x'",
    "INSERT INTO shop_views.sale VALUES (9, 'North', 1, 1, NULL)", "SET SESSION max_statement_time = 0; SELECT 1",
    "UPDATE shop.sale SET amount = 0", "CREATE TABLE shop_views.x (a int)", "CREATE TEMPORARY TABLE t (a int)",
    "SELECT benchmark(1000000000, md5('x')) FROM shop_views.sale, shop_views.sale a, shop_views.sale b",
]  # fmt: skip


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_past_the_guard_the_account_sees_only_views(server: MariaDb, statement: str) -> None:
    """With the guard off: what the account cannot do by itself. That it filters no rows is said in the decision."""
    access = build_access(address_of(server), TablePolicy(()), SemanticLayer(name="sales"), StatementLimits(seconds=1))
    with pytest.raises(SqlRefused):
        async_to_sync(access.fetch)(statement, None)


def harmful() -> list[str]:
    texts = [(CASES / f"{name}.jsonl").read_text() for name in ("sql_attacks", "sql_statements")]
    cases = [json.loads(line) for text in texts for line in text.splitlines()]
    return [case["sql"] for case in cases if case["expect"] == "deny"]


def test_the_attacks_on_postgresql_give_nothing_here(server: MariaDb) -> None:
    """Refused, or answered with the person's rows alone: nothing that stands in rows of others, or in hidden columns."""
    server.run(
        "CREATE OR REPLACE TABLE shop.customers (id int, org_unit varchar(40), name varchar(40), notes text, salary int);\n"
        "INSERT INTO shop.customers VALUES (1, 'team-a', 'ours', 'ours', 1), (2, 'team-b', 'SECRET-B', 'SECRET-B', 987654);\n"
        "CREATE OR REPLACE VIEW shop_views.customers AS SELECT id, org_unit, name, notes, salary FROM shop.customers;\n"
    )
    table = AllowedTable("shop_views", "customers", ("id", "org_unit", "name", "notes"), "org_unit", ("team-a",))
    access = build_access(
        address_of(server), TablePolicy((table,)), SemanticLayer(name="sales"), StatementLimits(seconds=2)
    )
    statements, answered = harmful(), 0
    for statement in statements:
        try:
            found = ran(access, statement)
        except SqlRefused:
            continue
        answered += 1
        assert "SECRET-B" not in str(found), statement
        assert "987654" not in str(found), statement
    assert len(statements) > 300
    assert answered < len(statements) / 4


@pytest.fixture(scope="module")
def maria_rows(server: MariaDb) -> Iterator[Any]:
    columns = COLUMNS.replace('"', "`").replace("timestamp", "datetime")
    server.run(f"CREATE OR REPLACE TABLE shop_views.t ({columns}) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")
    with pymysql.connect(unix_socket=str(server.socket), user="root", autocommit=True, charset="utf8mb4") as connection:
        connection.cursor().executemany("INSERT INTO shop_views.t VALUES (%s, %s, %s, %s, %s, %s, %s)", ROWS)
    access = build_access(address_of(server), TablePolicy(()), SemanticLayer(name="sales"), StatementLimits())
    yield lambda statement: list(async_to_sync(access.fetch)(statement, None)[0].rows)
    server.run("DROP TABLE shop_views.t")


@pytest.mark.parametrize("statement", BOTH)
def test_mariadb_gives_the_same_rows(postgres: Any, maria_rows: Any, statement: str) -> None:  # noqa: F811
    from business.dialects import translate_statement

    assert told(maria_rows(translate_statement(statement, "mysql")), statement) == told(postgres(statement), statement)


def test_what_takes_too_long_is_stopped(server: MariaDb) -> None:
    access = build_access(
        address_of(server), TablePolicy(()), SemanticLayer(name="sales"), StatementLimits(seconds=0.5)
    )
    with pytest.raises(SqlRefused, match="longer than"):
        async_to_sync(access.fetch)("SELECT sleep(20)", None)


def test_an_account_that_may_do_more_and_what_is_no_view_are_named(
    sales: DataSource, nora: User, server: MariaDb
) -> None:
    server.run("GRANT INSERT ON shop.* TO copilot_source;\nCREATE TABLE shop_views.base (a int)")
    try:
        faults = [fault.sentence for fault in check_source(sales)]
        with pytest.raises(SourceRefused, match="can do more"):  # on each connection, too
            rows(nora, "SELECT count(*) FROM customer")
    finally:
        server.run("REVOKE INSERT ON shop.* FROM copilot_source;\nDROP TABLE shop_views.base")
    assert any("can do more" in fault for fault in faults)
    assert any("base is not a view" in fault for fault in faults)
    assert check_source(sales) == []
