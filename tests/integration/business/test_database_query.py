"""The demo company's people ask its business data: through the tool, in a conversation, and with a program that speaks MCP."""

import json
import re
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.utils.translation import override

from agent import texts
from agent.conversations.sessions import create_session
from agent.events import StopReason
from agent.tools.base import ToolContext
from agent.tools.calling import CallOutcome, call_tool
from audit.actions import Action, Outcome
from audit.models import Entry
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from business.models import DataSource
from business.results.shown_query import QueryShown
from business.sources.grants import grant
from knowledge.retrieval.search import Scope
from tests.factories import make_user
from tests.integration.agent.conversations import asked, stored, words
from tests.integration.agent.modelled import judges, modelled
from tests.modelserver import calls, says
from tests.tokens import client_with


def ask(
    username: str, question: str, language: str = "en", *, tool: str = "database_query", **more: Any
) -> CallOutcome:
    ctx = ToolContext(Principal.named(username), Scope(), language)
    arguments = json.dumps({"question": question, **more})
    return async_to_sync(call_tool)(tool, arguments, allowed=["database_query"], ctx=ctx)


def test_each_sees_their_own_unit_s_rows(demo: DataSource) -> None:
    orders = {name: ask(name, "how many orders are there").result.data["rows"] for name in ("emma", "chen")}
    assert orders == {"emma": [[600]], "chen": [[0]]}
    old_name = ask("emma", "how many orders are there", tool="sql_tool")
    assert "sql_tool is called database_query now" in old_name.result.output
    environments = {
        name: ask(name, "how many environments are in use").result.data["rows"] for name in ("emma", "chen")
    }
    assert environments == {"emma": [[0]], "chen": [[5]]}


THEIRS = "\nin the rows of 产品组 Product, 销售与产品部 Sales & Product"


def test_the_answer_begins_with_the_value_and_shows_its_meaning(demo: DataSource) -> None:
    called = ask("emma", "上个月新增了多少客户？", "zh-hans")
    result = called.result
    (finding,) = result.findings
    value = result.data["rows"][0][0]
    said = (
        f"共 {value} 个客户（新增：\\d{{4}} 年 \\d+ 月）\n产品组 Product、销售与产品部 Sales & Product 可见的数据内\n"
    )
    assert re.match(rf"{said}数值：{value}（客户数量）\n\n条件：时间：\d{{4}}-\d\d-01 至 \d{{4}}", finding.item.text)
    assert "口径：客户：签过至少一份合同的公司" in finding.item.text
    assert finding.item.type == "sql_result"
    assert finding.item.evidence_id.startswith(f"sql:{result.data['query_id']}:rowset:")
    assert result.sql is not None
    assert result.sql.returned_evidence_ids == [finding.item.evidence_id]
    assert "LIMIT 50" in result.sql.generated_sql
    assert result.data["org_units"] == ["产品组 Product", "销售与产品部 Sales & Product"]


def text_of(username: str, question: str) -> str:
    (finding,) = ask(username, question).result.findings
    assert finding.query is not None
    return finding.query.meaning.text


def test_every_number_says_whose_rows_were_counted(demo: DataSource) -> None:
    assert text_of("chen", "有多少客户？") == "工程部 Engineering 可见的数据内：共 0 个客户"
    assert text_of("chen", "list all customers") == "No customers, in the rows of 工程部 Engineering"
    assert text_of("emma", "how many orders are there") == f"600 orders{THEIRS}"
    assert "in the rows" not in text_of("chen", "how many products cost more than 9000000")  # everybody's


def test_an_error_of_the_database_quotes_no_value_of_a_row(demo: DataSource) -> None:
    ctx = ToolContext(Principal.named("emma"), Scope(), "en")
    given = json.dumps({"sql": "SELECT (SELECT string_agg(name, ',') FROM customer)::int AS n"})
    output = async_to_sync(call_tool)("database_query", given, allowed=["database_query"], ctx=ctx).result.output
    assert "The database refuses the query: invalid input syntax for type integer: …." in output


def test_an_empty_result_names_the_condition(demo: DataSource) -> None:
    result = ask("emma", "list the customers in Europe created after 2090").result
    assert "No customers (created since 2091; Europe), in the rows of 产品组 Product" in result.output
    assert "No row fits (time: 2091-01-01 to now; region = Europe)." in result.output


def test_a_question_it_cannot_read_is_handed_to_the_model_with_the_tables_of_this_person(demo: DataSource) -> None:
    called = ask("emma", "how many happy customers are there")
    assert called.problem == "NotReadable"
    (entry,) = Entry.objects.filter(actor_name="emma", action=Action.TOOL_CALLED)
    assert (entry.outcome, entry.reason) == (Outcome.ALLOW, "the question could not be read as a query")
    assert "These words mean nothing in the data: happy" in called.result.error
    assert "public.customer(id, name, region" in called.result.error
    assert "salary" not in called.result.error


@pytest.mark.parametrize("question", ["上个月新增了多少客户？", "当前在进行中的项目有哪些？"])
def test_a_conversation_answers_from_the_data_and_cites_the_query(demo: DataSource, question: str) -> None:
    """Without a language model. The last has none of the specification's words for data: every word of it is read all the same."""
    events = asked(Principal.named("emma"), question)
    row = stored(events)
    assert re.match(r"共 \d+ 个(客户（新增：|项目)", words(events))
    assert (row.stop_reason, row.provider, row.state["plan"]["route"]) == (StopReason.OK, "database", "SQL")
    (item,) = row.state["evidence_items"]
    assert (item["type"], item["by"], item["source"]["db"]) == ("sql_result", "sql", "demo")
    assert item["hash"]
    assert row.state["tools"]["sql"]["returned_evidence_ids"] == [item["evidence_id"]]
    assert row.state["output"]["final_citations"] == [{"evidence_id": item["evidence_id"]}]
    nodes = list(dict.fromkeys(step["node"] for step in row.state["trace_steps"]))
    assert nodes[2:5] == ["Route", "SQLTool", "ValidateEvidence"], "passages are not mixed into an answer of data"


def test_a_table_that_is_not_theirs_is_as_if_it_did_not_exist(demo: DataSource) -> None:
    """Sofia may ask no source; nora asks one table of it. Both hear the same of customers and of what never was."""
    question = "list the customers"
    narrow = make_user("nora")
    grant(None, demo, to=narrow, table="project")
    for person in (Principal.named("sofia"), Principal.of(narrow)):
        theirs = stored(asked(person, question))
        nowhere = stored(asked(person, question.replace("customers", "unicorns")))
        hidden, missing = ((row.content, row.notice, row.stop_reason) for row in (theirs, nowhere))
        assert [element.replace("customers", "unicorns") for element in hidden] == list(missing)
        assert not theirs.queries.exists()
        assert theirs.stop_reason == StopReason.NO_EVIDENCE
    grant(None, demo, to=narrow, table="customer")
    assert stored(asked(narrow, question)).stop_reason == StopReason.OK


def test_a_question_of_several_meanings_is_asked_back_and_the_chosen_one_is_answered(demo: DataSource) -> None:
    emma = Principal.named("emma")
    session = create_session(emma)
    row = stored(asked(emma, "how many are active", session))
    assert row.stop_reason == StopReason.NEED_CLARIFY
    choices = row.state["plan"]["clarifying_questions"]
    assert choices == ["number of employees, employment status = active", "number of projects, project status = active"]
    answer = stored(asked(emma, choices[1], session))
    assert answer.stop_reason == StopReason.OK
    query = QueryShown.model_validate(answer.queries.get().result).logical_query
    assert query is not None
    assert [metric.name for metric in query.metrics] == ["project"]


def test_of_two_sources_that_can_answer_the_person_chooses(demo: DataSource, northerner: User) -> None:
    grant(None, demo, to=northerner)
    question = "How many customers are there?"
    asked_back = stored(asked(northerner, question))
    readings = asked_back.state["plan"]["clarifying_questions"]
    assert asked_back.stop_reason == StopReason.NEED_CLARIFY
    assert set(readings) == {"How many customers are there (demo)?", "How many customers are there (shop)?"}
    answers = [stored(asked(northerner, reading)) for reading in readings]
    assert {answer.queries.get().source for answer in answers} == {"demo", "shop"}


def test_a_question_for_an_amount_is_not_answered_with_names(demo: DataSource) -> None:
    """Colleagues on probation are no probation period: documents are asked."""
    message = stored(asked(Principal.named("lin"), "新员工的试用期是多久？"))
    assert (message.stop_reason, message.queries.count()) == (StopReason.NO_EVIDENCE, 0)
    assert stored(asked(Principal.named("lin"), "有哪些员工在试用期？")).queries.count() == 1


HOW_MANY = "How many customers are there by region?"
REGIONS = "Customers by region: East China (12); Europe (48); North China (12); South China (12); Southwest China (12)"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Most customers are in East China, 77 of them. [1]", [REGIONS]),
        ("Europe: 48. [1] East China: 99. [1]", ["Europe: 48."]),
    ],
)
def test_a_wrong_sentence_of_a_model_leaves_the_right_table(demo: DataSource, written: str, said: list[str]) -> None:
    """Once, with its own headline where no sentence stands."""
    sql = "SELECT region, count(*) AS customers FROM customer GROUP BY region ORDER BY region"
    steps = (calls(("database_query", {"source": "demo", "sql": sql})), says(written))
    is_open = not written.startswith("Most")  # what the table contradicts needs no judge
    with modelled(*steps, *[judges()] * is_open):
        events = asked(Principal.named("zhao"), HOW_MANY)
    message = stored(events)
    assert message.stop_reason == StopReason.OK
    sentences = [sentence["text"].split("\n")[0] for sentence in message.sentences]
    assert [sorted(re.split("[:;] ", element)) for element in sentences] == [
        sorted(re.split("[:;] ", element)) for element in said
    ]
    assert words(events) == message.content
    assert len(QueryShown.model_validate(message.queries.get().result).table.rows) == 5


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("revenue in dollars", "No currency but CNY is kept here."),
        ("本财年的销售额", "这些数据里没有财年的含义：语义层没有说明财年从何时开始。"),
        ("region East customers", "There is no region “East”; there are East China (华东)"),
    ],
)
def test_what_only_sounds_like_a_question_to_documents_says_why_the_data_do_not_answer_it(
    demo: DataSource, question: str, why: str
) -> None:
    """The form opens with what was understood; “I found nothing in your documents” would be about something else."""
    principal = Principal.named("zhao")
    language = "zh-hans" if "财" in question else "en"
    message = stored(asked(principal, question, create_session(principal), language=language))
    assert message.stop_reason == StopReason.NO_EVIDENCE
    assert why in message.notice
    with override(language):
        assert message.content == str(texts.NEITHER_DATA_NOR_DOCUMENTS)
    assert message.state["plan"]["explore"]["query"]["metrics"]


@pytest.mark.parametrize(
    ("username", "question"), [("zhao", "What is the default rolling update?"), ("sofia", "revenue in dollars")]
)
def test_what_names_no_number_of_the_data_and_whom_they_are_closed_to_hear_nothing_of_them(
    demo: DataSource, username: str, question: str
) -> None:
    principal = Principal.named(username)
    message = stored(asked(principal, question, create_session(principal)))
    assert "business data" not in f"{message.notice}{message.content}"
    assert "explore" not in message.state["plan"]


ACCEPT = {"Accept": "application/json, text/event-stream"}


def exchanged(username: str, method: str, params: dict[str, Any], *scopes: TokenScope) -> Any:
    secret = issue_token(Principal.named(username), name="program", scopes=scopes)[1]
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return client_with(secret, **ACCEPT).post("/mcp", message).json()["result"]


def test_each_sees_their_own_units_rows_with_the_scope_for_it(demo: DataSource) -> None:
    call = {"name": "database_query", "arguments": {"question": "how many orders are there"}}
    found = {name: exchanged(name, "tools/call", call, TokenScope.SQL) for name in ("emma", "chen")}
    assert {name: item["structuredContent"]["rows"] for name, item in found.items()} == {"emma": [[600]], "chen": [[0]]}
    refused = exchanged("emma", "tools/call", call, TokenScope.SEARCH, TokenScope.CHAT)
    assert refused["isError"]
    assert "600" not in str(refused)
    named = {
        scope: [tool["name"] for tool in exchanged("emma", "tools/list", {}, scope)["tools"]]
        for scope in (TokenScope.SQL, TokenScope.SEARCH)
    }
    assert named[TokenScope.SQL] == ["database_query"]
    assert "database_query" not in named[TokenScope.SEARCH]
