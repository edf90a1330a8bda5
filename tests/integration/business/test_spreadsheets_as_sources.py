"""A spreadsheet of a knowledge base is asked as a table, by whoever may read its document, and by nobody else."""

from collections.abc import Callable
from decimal import Decimal
from io import BytesIO
from typing import Any

import openpyxl
import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agent.events import References
from authz.permissions import Right
from authz.principal import Principal
from authz.rights.grants import deny_rights, grant_rights, revoke_rights
from business.guard.refusal import SqlRefused
from business.models import DataSource, SavedQuery
from business.pipeline import add_source_name
from business.results.visibility import Queried
from business.sources.data_scope import DataScope
from business.sources.grants import grant, managed_sources
from business.sources.services import (
    find_still_visible,
    open_source,
    open_sources,
    redraft_layer,
    save_layer,
    select_named_source,
)
from business.spreadsheets.sources import describe_published_version
from business.statements.run_query import QueryResult, run_query
from business.tasks import tend_spreadsheets
from copilot_site.celery import app
from copilot_site.lib.errors import InvalidInput, NotFound
from knowledge.models import Document, KnowledgeBase
from knowledge.retrieval.search import Scope
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.conversations import asked, words
from tests.sharing import Share
from tests.tooling import called

ORDERS = """订单号,地区,金额,下单日期
1,华东,"1,200.50",2026-01-05
2,华南,800,2026-02-06
3,华东,700,2026-02-10
4,华北,700,2026-03-01
"""


@pytest.fixture(scope="module")
def shared_orders(share: Share) -> Callable[[], Document]:
    return share(lambda: made(make_base("Sales"), "订单.csv", ORDERS))


@pytest.fixture
def orders(shared_orders: Callable[[], Document], db: None) -> Document:
    return shared_orders()


@pytest.fixture
def reader(db: None) -> User:
    return make_user("rita")


@pytest.fixture
def opened_to(reader: User, orders: Document) -> User:
    allow(reader, orders.knowledge_base)
    return reader


def made(base: KnowledgeBase, filename: str, content: str | bytes) -> Document:
    document = make_document(base, filename, content, ingested=True)
    describe_published_version(document.pk)
    return document


def source_of(document: Document) -> DataSource:
    return DataSource.unscoped.get(document=document)


def ran(person: User, document: Document, statement: str) -> QueryResult:
    principal = Principal.of(person)
    return async_to_sync(run_query)(principal, open_source(principal, source_of(document).name), statement)


def rows(person: User, document: Document, statement: str) -> list[tuple[Any, ...]]:
    found = ran(person, document, statement).answer.rows
    assert found is not None
    return list(found.rows)


def test_columns_are_drafted_with_types_and_values_and_come_back_exact(opened_to: User, orders: Document) -> None:
    (model,) = source_of(orders).semantic_layer.semantic_models
    assert (model.table_schema, model.name) == ("main", "订单")
    assert model.org_unit is not None
    assert model.org_unit.shared_with == "everyone"
    assert {d.name: (d.type, len(d.values)) for d in model.dimensions} == {
        "订单号": ("number", 0), "地区": ("categorical", 3), "金额": ("number", 0), "下单日期": ("time", 0),
    }  # fmt: skip
    assert model.defaults.agg_time_dimension == "下单日期"
    statement = 'SELECT "地区", sum("金额"::text::numeric), max("下单日期") FROM "订单" GROUP BY 1 ORDER BY 2 DESC, 1'
    assert [(*values, str(day)) for *values, day in rows(opened_to, orders, statement)] == [
        ("华东", Decimal("1900.5"), "2026-02-10"), ("华南", 800, "2026-02-06"), ("华北", 700, "2026-03-01"),
    ]  # fmt: skip


def test_who_may_read_the_document_may_ask_it_and_nobody_else(opened_to: User, orders: Document) -> None:
    principal, stranger = Principal.of(opened_to), Principal.of(make_user("stan"))
    root = Principal.of(make_user("root", is_superuser=True))
    told = {item.username: {one.title for one in open_sources(item)} for item in (principal, stranger, root)}
    assert told == {"rita": {orders.title}, "stan": set(), "root": set()}
    with pytest.raises(NotFound):
        open_source(stranger, source_of(orders).name)
    assert open_sources(principal, scope=DataScope(documents=Scope(document_ids=(orders.pk,))))
    assert open_sources(principal, scope=DataScope(documents=Scope(knowledge_base_ids=(make_base().pk,)))) == []
    deny_rights(None, [Right.VIEW], orders.folder, to=opened_to)
    assert open_sources(principal) == []


def test_a_right_that_ends_ends_with_the_next_question(opened_to: User, orders: Document) -> None:
    statement = 'SELECT count(*) FROM "订单"'
    principal = Principal.of(opened_to)
    before = open_source(principal, source_of(orders).name)
    kept = Queried(source=before.source.name, reach=())
    assert rows(opened_to, orders, statement) == [(4,)]
    assert find_still_visible(principal, [kept]) == {kept}
    revoke_rights(None, [Right.VIEW], orders.knowledge_base, of=opened_to)
    assert find_still_visible(principal, [kept]) == set()
    with pytest.raises(NotFound):  # opened a moment ago, and asked again when the rows are read
        async_to_sync(run_query)(principal, before, statement)
    assert open_sources(principal) == []


FORBIDDEN = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM main.other",
    "SELECT * FROM duckdb_settings()",
    "SELECT getenv('PATH')",
    "SELECT 1; SELECT 2",
    "COPY (SELECT 1) TO '/tmp/x'",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT '订单'::regclass",
]


def test_the_guard_stands_before_it(opened_to: User, orders: Document) -> None:
    for statement in FORBIDDEN:
        with pytest.raises(SqlRefused):
            ran(opened_to, orders, statement)


def test_an_error_of_the_process_quotes_no_value_of_a_row(opened_to: User, orders: Document) -> None:
    with pytest.raises(InvalidInput) as refused:
        rows(opened_to, orders, 'SELECT "地区"::int AS n FROM "订单"')
    assert "Conversion Error" in str(refused.value)
    assert "华" not in str(refused.value)


def test_past_the_guard_the_process_reaches_nothing(opened_to: User, orders: Document) -> None:
    """With the guard off, the locked-down DuckDB alone refuses."""
    access = open_source(Principal.of(opened_to), source_of(orders).name).access
    for statement in ("SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM '/etc/passwd'", "ATTACH '/tmp/x.db'"):
        with pytest.raises(SqlRefused):
            async_to_sync(access.fetch)(statement, None)  # type: ignore[union-attr]


def test_every_sheet_of_a_workbook_is_a_table_of_one_source(reader: User) -> None:
    sheets: dict[str, list[list[Any]]] = {
        "Customers": [["customer id", "name", "region"], [1, "Ann", "North"], [2, "Bob", "South"], [3, "Cy", "North"]],
        "Orders 2026": [["order id", "customer id", "amount"], [1, 1, 10.5], [2, 1, 4], [3, 2, 6]],
        "many": [["n", "m"], *([n, "x"] for n in range(120))],
    }
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, lines in sheets.items():
        sheet = book.create_sheet(name)
        for line in lines:
            sheet.append(line)
    data = BytesIO()
    book.save(data)
    document = made(base := make_base(), "sales.xlsx", data.getvalue())
    allow(reader, base)
    models = source_of(document).semantic_layer.semantic_models
    keys = {m.name: {(e.type, e.name, e.expr) for e in m.entities} for m in models}
    assert keys["customers"] == {("primary", "customers", "customer_id")}
    assert ("foreign", "customers", "customer_id") in keys["orders_2026"]
    outcome = called(reader, "database_query", {"question": "total amount by region"})
    assert outcome.result.success, outcome.result.error
    assert outcome.result.data["rows"] == [["North", 14.5], ["South", 6]]
    answer = ran(reader, document, "SELECT n FROM many ORDER BY n").answer
    assert answer.rows is not None
    assert (len(answer.rows.rows), answer.total) == (50, 120)


def test_a_question_in_chat_is_answered_and_cites_the_document(opened_to: User, orders: Document) -> None:
    events = asked(Principal.of(opened_to), "华东有多少订单？")
    assert "2" in words(events)
    (reference,) = next(e for e in reversed(events) if isinstance(e, References)).query_references
    assert (reference.title, reference.source) == (orders.title, source_of(orders).name)
    stranger = asked(Principal.of(make_user("stan")), "华东有多少订单？")
    assert not any(isinstance(event, References) and event.query_references for event in stranger)


STATUS = "order,status\n1,open\n2,closed\n3,open\n"
STOCK = "article,on hand,checked on\nGX-7,0,2026-01-05\nGX-9,12,\nVL-2,,2026-02-06\n"


@pytest.mark.parametrize(
    ("name", "content", "answers"),
    [
        ("status.csv", STATUS, {
            "List the status": "2 statuses: closed; open[1]",
            "How many closed?": "1 status file (closed)[1]",
        }),
        ("articles.csv", STOCK, {
            "Which articles have no checked on?": "1 article (checked on is empty): GX-9[1]",
        }),
    ],
    ids=["status", "articles"],
)  # fmt: skip
def test_the_words_of_a_file_name_and_of_nothing_are_read(
    reader: User, name: str, content: str, answers: dict[str, str]
) -> None:
    """A file's name is no other word for its rows where a column is called so; none of a number is nothing or nought."""
    base = make_base()
    allow(reader, base)
    made(base, name, content)
    assert {question: words(asked(reader, question)) for question in answers} == answers


def test_a_new_version_is_described_anew_and_keeps_what_people_wrote(opened_to: User, orders: Document) -> None:
    source = source_of(orders)
    layer = source.semantic_layer
    (model,) = layer.semantic_models
    written = model.model_copy(update={"synonyms": ("销售单",)})
    save_layer(None, source, layer.model_copy(update={"semantic_models": (written,)}))
    for content, kept in ((f"{ORDERS}5,华东,1,2026-03-02\n", ("销售单",)), ("a,b\n1,2\n", ())):
        make_document(orders.folder, "订单.csv", content, ingested=True)
        describe_published_version(orders.pk)
        (model,) = source_of(orders).semantic_layer.semantic_models
        assert model.synonyms[:1] == kept
    assert rows(opened_to, orders, 'SELECT a FROM "订单"') == [(1,)]


def test_a_worker_describes_what_is_published_and_what_was_lost_on_the_way(
    reader: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[tuple[str, Any]] = []
    monkeypatch.setattr(app, "send_task", lambda name, args=(), *_rest, **_more: sent.append((name, args)))
    base = make_base()
    allow(reader, base)
    with django_capture_on_commit_callbacks(execute=True):
        document = make_document(base, "x.csv", "a,b\n1,2\n", ingested=True)
    assert ("business.describe_spreadsheet", (str(document.pk),)) in sent
    make_document(base, "empty.csv", "\n", ingested=True)
    make_document(base, "x.md", "# no table", ingested=True)
    assert not DataSource.unscoped.filter(document=document).exists()
    tend_spreadsheets()
    tend_spreadsheets()
    found = DataSource.unscoped.filter(document__knowledge_base=base).values_list("document", "is_active")
    assert list(found) == [(document.pk, True)]
    assert [item.source.document_id for item in open_sources(Principal.of(reader))] == [document.pk]


def test_rights_on_a_spreadsheet_are_its_document_s(opened_to: User, orders: Document) -> None:
    source, principal = source_of(orders), Principal.of(opened_to)
    with pytest.raises(InvalidInput):
        grant(None, source, to=make_user("sam"))
    assert managed_sources(principal) == set()
    grant_rights(None, [Right.MANAGE], orders.knowledge_base, to=opened_to)
    assert managed_sources(principal) == {source.name}
    assert redraft_layer(principal, source) == source.semantic_layer
    SavedQuery.unscoped.create(source=source, owner=opened_to, name="mine", query={})
    assert SavedQuery.objects.visible_to(principal).count() == 1
    orders.delete()
    assert not DataSource.unscoped.exists()


def test_of_very_many_those_nearest_to_the_question_are_read(
    opened_to: User, monkeypatch: pytest.MonkeyPatch, orders: Document
) -> None:
    from business.linking.vectors import fill_source_vectors
    from business.sources import services as sources

    base = make_base("many")
    allow(opened_to, base)
    for name in ("penguins", "volcanoes"):
        made(base, f"{name}.csv", f"{name},height\nx,1\n")
    for source in DataSource.unscoped.all():
        fill_source_vectors(source.pk)
    monkeypatch.setattr(sources, "MAX_SHEETS", 1)
    principal = Principal.of(opened_to)
    assert [item.called for item in open_sources(principal, "How many penguins are there?")] == ["Penguins"]
    assert [item.called for item in open_sources(principal, "How many penguins? (volcanoes)")] == ["Volcanoes"]


def test_a_source_is_named_by_its_file_and_its_name_tells_of_no_namesake(reader: User) -> None:
    """Behind a question a file stands in brackets, by its source's name where two files are called alike.

    Whatever other files and databases are called, a source's name is the file's and an id; a time or a value in brackets names no source.
    """
    DataSource.unscoped.create(name="wages", host="db.internal", database="d", username="u")
    content = "region,amount\nnorth,1\nsouth,2\n"
    base, other = make_base("own"), make_base("other")
    for one in (base, other):
        allow(reader, one)
    for filename in ("订单 2026.csv", "2024.csv", "north.csv"):
        made(base, filename, content)
    for place in (base, other):
        document = made(place, "wages.csv", content)
        assert source_of(document).name == f"wages-{document.pk.hex[:8]}"
    opened = open_sources(Principal.of(reader))
    asked_of = [add_source_name("How many?", item, opened) for item in opened]
    assert "How many (订单 2026)?" in asked_of
    assert len(set(asked_of)) == len(opened) == 5
    assert [select_named_source(text, opened) for text in asked_of] == [("How many", [item]) for item in opened]
    for bracketed in ("Amount by region (2024)", "Amount by region (north)"):
        assert select_named_source(bracketed, opened) == (bracketed, opened)


def test_whoever_manages_spreadsheets_alone_is_offered_no_databases(orders: Document) -> None:
    databases = reverse("admin:business_datasource_changelist")

    def is_offered(person: User) -> tuple[bool, int]:
        User.objects.filter(pk=person.pk).update(is_staff=True)
        client = Client()
        client.force_login(person)
        page = client.get(reverse("rights-tree")).content.decode()
        return f'href="{reverse("data-sources")}"' in page, client.get(databases).status_code

    manager = make_user("mona")
    allow(manager, orders.knowledge_base, Right.MANAGE)
    assert is_offered(manager) == (False, 403)
    assert is_offered(make_user("root", is_superuser=True)) == (True, 200)
