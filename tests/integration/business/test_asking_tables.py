"""A question that is asked of chosen tables: what is offered and accepted, and that nothing else of the data has a part in it."""

import json
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from agent import texts
from agent.conversations.sessions import create_session
from agent.models import AgentProfile, Session
from agent.palette.places import NOWHERE, find_places, list_scope_places
from agent.profiles.kept_scope import convert_scope_to_json, read_stored_tables
from agent.profiles.settings import Options
from agent.states.load_authz import OF_DOCUMENTS
from agent.tools.base import ToolContext
from agent.tools.calling import CallOutcome, call_tool
from authz.principal import Principal
from authz.scopes import TokenScope
from business.guard.refusal import SqlRefused
from business.models import DataSource, SourceGrant
from business.pipeline import explain_reading
from business.sources.data_scope import ALL_DATA, DataScope, TableName
from business.sources.services import open_source, open_sources
from business.spreadsheets.sources import describe_published_version
from business.statements.run_query import run_query
from copilot_site.lib.errors import NotFound, PermissionDenied
from knowledge.models import Document, KnowledgeBase
from knowledge.retrieval.search import Scope
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.conversations import asked, sources, words
from tests.integration.agent.modelled import modelled, sent
from tests.integration.business.conftest import Askers
from tests.integration.governance.world import client_of
from tests.modelserver import Request, Step, calls, says

CUSTOMER, REGION, SALE = (TableName("shop", name) for name in ("customer", "region", "sale"))
MISSING = TableName("shop", "warehouse")
HOW_MANY = "How many customers are there?"
ORDERS = "订单号,地区,金额\n1,华东,1200\n2,华南,800\n3,华东,700\n"


@pytest.fixture
def nora(askers: Askers) -> User:
    return askers.nora


@pytest.fixture
def sam(askers: Askers) -> User:
    return askers.sam


def of(*tables: TableName) -> DataScope:
    return DataScope(tables, Scope(document_ids=(uuid4(),)))


def open_to(person: User, scope: DataScope) -> set[str]:
    """The tables that may be asked: for the words and the model, which must be those of guard and sandbox."""
    opened = open_sources(Principal.of(person), scope=scope)
    told = {f"{item.source.name}.{model.table}" for item in opened for model in item.layer.semantic_models}
    assert told == {f"{item.source.name}.{table.name}" for item in opened for table in item.access.policy.tables}
    assert told == {f"{o.source.name}.{m.table}" for o in opened for m in o.linker.layer.semantic_models}
    return told


def test_a_scope_opens_its_tables_and_no_other(nora: User, sam: User) -> None:
    whole = {"shop.customer", "shop.region", "shop.sale"}
    assert open_to(nora, ALL_DATA) == whole
    assert open_to(nora, of(CUSTOMER)) == {"shop.customer"}
    assert open_to(nora, of(CUSTOMER, SALE, MISSING)) == {"shop.customer", "shop.sale"}
    assert open_to(nora, of()) == open_to(nora, of(TableName("other", "customer"))) == set()
    assert open_to(sam, of(CUSTOMER, SALE)) == {"shop.sale"}
    assert open_to(make_user(), of(CUSTOMER, SALE)) == open_to(make_user(is_superuser=True), of(SALE)) == set()


def tool(person: User, scope: DataScope, **arguments: Any) -> CallOutcome:
    ctx = ToolContext(Principal.of(person), Scope(), "en", data=scope)
    given = json.dumps({"question": HOW_MANY, **arguments})
    return async_to_sync(call_tool)("database_query", given, allowed=["database_query"], ctx=ctx)


def test_neither_words_nor_a_statement_reach_a_table_beside_it(nora: User) -> None:
    principal = Principal.of(nora)
    assert explain_reading(principal, HOW_MANY, "en", of(CUSTOMER)).is_read
    assert not explain_reading(principal, HOW_MANY, "en", of(SALE)).is_read
    opened = open_source(principal, "shop", of(SALE))
    assert async_to_sync(run_query)(principal, opened, "SELECT count(*) FROM sale").answer.rows
    with pytest.raises(SqlRefused):
        async_to_sync(run_query)(principal, opened, "SELECT count(*) FROM customer")
    assert tool(nora, of(CUSTOMER)).result.data["rows"] == [[75]]
    assert not tool(nora, of(SALE), sql="SELECT count(*) FROM customer").result.findings
    hidden = tool(nora, of(), source="shop").result.output
    assert hidden == tool(nora, of(), source="shop2").result.output.replace("shop2", "shop")


def with_model(person: User, **more: Any) -> tuple[set[str], str]:
    """Which tools a model is offered for a question that it takes for one of documents, and all that it is told."""
    offered, told = set[str](), list[str]()

    def chooses(request: Request) -> Step:
        text = sent(request)
        told.append(text)
        offered.update(item["function"]["name"] for item in request.get("tools", ()))
        is_first = not any(message["role"] == "tool" for message in request["messages"])
        return (
            calls(("database_query", {"sql": "SELECT count(*) FROM sale"})) if is_first else says("There are 200 [1].")
        )

    with modelled(chooses=chooses):
        asked(person, "How many good ones are there?", **more)
    return offered, "\n".join(told)


def test_a_model_is_told_of_the_chosen_tables_and_offered_the_tools_for_them(nora: User) -> None:
    offered, told = with_model(nora, options=Options(tables=(SALE,)))
    assert "database_query" in offered
    assert not offered & OF_DOCUMENTS
    assert "sale amount" in told
    assert "segment" not in told
    assert "customer name" not in told
    base = make_base("Handbook")
    make_document(base, "c.md", "# Customers\n\nThe head of sales knows the customers.", ingested=True)
    allow(nora, base)
    offered, told = with_model(nora, scope=Scope(knowledge_base_ids=(base.pk,)))
    assert "knowledge_search" in offered
    assert "database_query" not in offered
    assert "sale amount" not in told
    both, _told = with_model(nora, scope=Scope(knowledge_base_ids=(base.pk,)), options=Options(tables=(SALE,)))
    assert {"knowledge_search", "database_query"} <= both


def offered(person: User, typed: str) -> set[str]:
    return {place.name for place in find_places(Principal.of(person), typed) if place.kind == "table"}


def test_tables_are_offered_that_the_person_may_ask(nora: User, sam: User) -> None:
    assert offered(nora, "") == {"customer (shop)", "region (shop)", "sale (shop)"}
    assert offered(sam, "") == offered(sam, "shop") == {"region (shop)", "sale (shop)"}
    assert offered(nora, "客户") == offered(nora, "CUSTOMER") == {"customer (shop)"}
    assert offered(sam, "customer") == offered(make_user(), "") == offered(make_user(is_superuser=True), "") == set()
    SourceGrant.objects.all().delete()
    assert offered(nora, "") == offered(sam, "") == set()


def asked_of(person: User | Principal, question: str, *tables: TableName, **more: Any) -> list[Any]:
    return asked(person, question, options=Options(tables=tables), **more)


def test_a_question_is_asked_of_the_chosen_tables_and_documents_alone(nora: User) -> None:
    base = make_base("Handbook")
    text = "# Customers\n\nHow many customers there are: the head of sales says it is a secret."
    make_document(base, "c.md", text, ingested=True)
    allow(nora, base)
    told = asked_of(nora, HOW_MANY, CUSTOMER)
    assert words(told).startswith("75 ")
    assert sources(told) == []
    told = asked_of(nora, HOW_MANY, SALE)
    assert words(told).startswith(str(texts.NOT_IN_TABLES))
    assert sources(told) == []
    narrow = Scope(knowledge_base_ids=(base.pk,))
    alone = asked(nora, HOW_MANY, scope=narrow)
    assert "75" not in words(alone)
    assert sources(alone) in ([], ["Customers"])
    assert words(asked_of(nora, HOW_MANY, CUSTOMER, scope=narrow)).startswith("75 ")
    assert "75" not in words(asked_of(nora, HOW_MANY, SALE, scope=narrow))


def test_a_token_that_asks_no_data_names_no_table(nora: User) -> None:
    principal = Principal.of(nora)
    with pytest.raises(PermissionDenied):
        asked_of(principal.narrowed(scopes=frozenset({TokenScope.CHAT.value}), folder_id=None), HOW_MANY, CUSTOMER)


def test_a_follow_up_goes_on_within_the_tables(nora: User) -> None:
    session = create_session(Principal.of(nora))
    assert words(asked_of(nora, HOW_MANY, CUSTOMER, session=session)).startswith("75 ")
    session.refresh_from_db()
    assert session.scope == {"tables": [{"source": "shop", "table": "customer"}]}
    assert read_stored_tables(session.scope) == (CUSTOMER,)
    out = asked_of(nora, "And by region?", CUSTOMER, session=session)
    assert "East" not in words(out)
    assert "East" in words(asked_of(nora, "How many customers are there by region?", CUSTOMER, REGION, session=session))


def test_a_chip_is_named_under_todays_rights(nora: User) -> None:
    session = Session.objects.create(user=nora, title="x", scope=convert_scope_to_json(Scope(), [CUSTOMER]))
    address = f"/chat/{session.pk}/"
    assert "in the table customer (shop)" in client_of(nora).get(address).content.decode()
    SourceGrant.objects.all().delete()
    page = client_of(nora).get(address).content.decode()
    assert "in a place you can no longer see" in page
    assert "shop" not in page
    assert list_scope_places(Principal.of(nora), Scope(), [CUSTOMER, MISSING]) == [NOWHERE, NOWHERE]


@pytest.fixture
def sheet(db: None) -> Document:
    document = make_document(make_base("Sales"), "订单.csv", ORDERS, ingested=True)
    describe_published_version(document.pk)
    return document


def test_a_spreadsheet_is_a_table_for_whoever_reads_it(nora: User, sheet: Document) -> None:
    source = DataSource.unscoped.get(document=sheet)
    (model,) = source.semantic_layer.semantic_models
    table = TableName(source.name, model.name)
    assert offered(nora, "订单") == set()
    with pytest.raises(NotFound):
        asked_of(nora, "订单有多少？", table)
    allow(nora, sheet.knowledge_base)
    assert offered(nora, "订单") == {"订单"}
    assert open_to(nora, of(table)) == {f"{source.name}.{model.table}"}
    assert open_to(nora, DataScope((), Scope(knowledge_base_ids=(sheet.knowledge_base_id,)))) == {
        f"{source.name}.{model.table}"
    }
    assert open_to(nora, DataScope((CUSTOMER, table), of().documents, base_ids=(make_base().pk,))) == {"shop.customer"}
    told = asked_of(nora, "金额合计是多少？", table)
    assert words(told).startswith("总金额：2,700")


def test_an_assistant_that_stays_in_its_bases_asks_data_as_before(nora: User) -> None:
    base: KnowledgeBase = make_base("Handbook")
    profile = AgentProfile.objects.create(name="shop assistant")
    profile.knowledge_bases.add(base)
    allow(nora, base)
    told = asked(nora, HOW_MANY, options=Options(profile_id=str(profile.pk)))
    assert words(told).startswith("75 ")


def test_the_api_and_the_command_ask_tables(nora: User, sam: User) -> None:
    def posted(person: User, *tables: TableName) -> Any:
        session = create_session(Principal.of(person))
        body = {"query": HOW_MANY, "tables": [{"source": item.source, "table": item.table} for item in tables]}
        return client_of(person).post(f"/api/v1/sessions/{session.pk}/messages", body, "application/json")

    answer = posted(nora, CUSTOMER)
    assert (answer.status_code, answer.json()["content"][:3]) == (201, "75 ")
    hidden, missing, nowhere = (posted(sam, SALE, item) for item in (CUSTOMER, MISSING, TableName("nil", "customer")))
    assert (hidden.status_code, missing.status_code, nowhere.status_code) == (404, 404, 404)
    assert hidden.content.decode().replace("customer", "warehouse") == missing.content.decode()
    assert hidden.content.decode().replace("shop", "nil") == nowhere.content.decode()
    assert not Session.objects.filter(user=sam, messages__isnull=False).exists()
    out = StringIO()
    call_command("ask", HOW_MANY, "--as", nora.username, "--table", "shop.customer", stdout=out)
    assert out.getvalue().startswith("75 ")
    before = Session.objects.count()
    for wrong, said in (("shop", "SOURCE.TABLE"), ("shop.warehouse", "There is no table warehouse")):
        with pytest.raises(CommandError, match=said):
            call_command("ask", HOW_MANY, "--as", nora.username, "--table", wrong)
    assert Session.objects.count() == before
