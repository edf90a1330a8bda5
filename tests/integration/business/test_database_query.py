"""The demo company's people ask its business data, through the tool and in a conversation."""

import asyncio
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
from agent.tools.calling import Called, call_tool
from audit.actions import Action, Outcome
from audit.models import Entry
from authz.principal import Principal
from business.address import Address
from business.models import DataSource
from business.postgres_session import reading
from business.results.shown_query import QueryShown
from business.source_grants import grant
from knowledge.retrieval.search import Scope
from tests.factories import make_user
from tests.integration.agent.conversations import asked, stored, words
from tests.integration.agent.modelled import judges, modelled
from tests.modelserver import calls, says


def ask(username: str, question: str, language: str = "en", *, tool: str = "database_query", **more: Any) -> Called:
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
    return finding.query.meaning.said


def test_every_number_says_whose_rows_were_counted(demo: DataSource) -> None:
    theirs, ours = "\n工程部 Engineering 可见的数据内", "\nin the rows of 工程部 Engineering"
    assert text_of("chen", "有多少客户？") == f"共 0 个客户{theirs}"
    assert text_of("chen", "how many orders are there") == f"0 orders{ours}"
    assert text_of("chen", "list all customers") == f"No customers{ours}"
    assert text_of("chen", "有哪些客户") == f"没有客户{theirs}"
    assert text_of("emma", "how many orders are there") == f"600 orders{THEIRS}"
    assert "in the rows" not in text_of("chen", "how many products cost more than 9000000")  # everybody's


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("revenue this year", r"Revenue, \d{4}: [\d,.]+ CNY\n(\d{4} is not over yet · )?order status: paid or open"),
        (
            "revenue in the last two quarters",
            r"Revenue, (Q\d \d{4}|\d{4}-\d\d-01 to .+): [\d,.]+ CNY\norder status: paid or open",
        ),
        ("list the customers created since 2024", r"\d+ customers \(created since 2024\)\nFirst 50 of \d+ rows"),
        ("revenue by region since 2024", r"Revenue by region since 2024, in CNY: .+\norder status: paid or open"),
        ("how many customers by region", r"Customers by region: (\S.* \(\d+\)(; )?)+"),
    ],
)
def test_every_number_says_which_days_it_stands_for(demo: DataSource, question: str, told: str) -> None:
    between = "" if told.endswith("+") else " · "
    assert re.fullmatch(rf"{told}({between}|\n){THEIRS.strip()}", text_of("emma", question)), text_of("emma", question)


def test_a_sum_of_nothing_is_said_in_words(demo: DataSource) -> None:
    assert text_of("emma", "units sold of KeelGate in 2023").startswith("Units sold (KeelGate), 2023: no value\n")
    assert re.match(r"\d{4} 年销售额：无数值\n", text_of("chen", "今年的销售额是多少"))


def test_a_number_has_the_unit_that_the_layer_names(demo: DataSource) -> None:
    for question, told in (
        ("revenue", r"Revenue: [\d,.]+ CNY"),
        ("今年的销售额是多少", r"\d{4} 年销售额：[\d,.]+ CNY"),
        ("average order amount", r"Average order amount: [\d,.]+ CNY"),
        ("units sold", r"Units sold: [\d,.]+"),
    ):
        assert re.fullmatch(told, text_of("emma", question).split("\n")[0])
    (finding,) = ask("emma", "revenue by region").result.findings
    assert finding.query is not None
    assert finding.query.table.labels == ("region", "revenue (CNY)")


def test_more_rows_than_are_shown_are_counted_by_the_database(demo: DataSource) -> None:
    result = ask("emma", "list all customers").result
    assert (result.data["row_count"], result.data["total"], result.data["has_more"]) == (50, 96, True)
    assert "96 customers\nFirst 50 of 96 rows · in the rows of 产品组 Product" in result.output


def test_an_empty_result_names_the_condition(demo: DataSource) -> None:
    result = ask("emma", "list the customers in Europe created after 2090").result
    assert "No customers (created since 2091; Europe)\nin the rows of 产品组 Product" in result.output
    assert "No row fits (time: 2091-01-01 to now; region = Europe)." in result.output


def test_a_question_it_cannot_read_is_handed_to_the_model_with_the_tables_of_this_person(demo: DataSource) -> None:
    called = ask("emma", "how many happy customers are there")
    assert called.problem == "NotReadable"
    (entry,) = Entry.objects.filter(actor_name="emma", action=Action.TOOL_CALLED)
    assert (entry.outcome, entry.reason) == (Outcome.ALLOW, "the question could not be read as a query")
    assert "These words mean nothing in the data: happy" in called.result.error
    assert "public.customer(id, name, region" in called.result.error
    assert "salary" not in called.result.error


def test_a_model_s_statement_goes_through_guard_and_sandbox_too(demo: DataSource) -> None:
    counted = ask("emma", "orders", sql="SELECT count(*) FROM sales_order WHERE org_unit <> 'x'")
    assert counted.result.data["rows"] == [[600]]
    refused = ask("emma", "pay", sql="SELECT max(salary) FROM employee")
    assert refused.problem == "SqlRefused"
    assert Entry.objects.filter(action=Action.TOOL_CALLED, outcome=Outcome.ERROR, reason="SqlRefused").count() == 1
    assert 'column "salary" does not exist' in refused.result.error
    written = ask("emma", "drop", sql="DELETE FROM customer")
    assert "Only questions are run" in written.result.error
    actions = list(Entry.objects.filter(actor_name="emma", action__startswith="sql.").values_list("action", flat=True))
    assert sorted(actions) == [Action.SQL_EXECUTED, Action.SQL_REFUSED, Action.SQL_REFUSED]


def test_who_may_ask_nothing_is_told_so(demo: DataSource) -> None:
    called = ask("sofia", "how many orders are there")
    assert called.problem == "ToolMistake"
    assert "There is no data source that you may ask" in called.result.error


def test_a_cancelled_question_ends_in_the_database_too(demo_data: Address) -> None:
    async def cancelled() -> int:
        async with asyncio.timeout(10):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2), reading(demo_data) as connection:
                    await connection.execute("SELECT pg_sleep(60)")
        async with reading(demo_data) as connection:
            cursor = await connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%%'"
            )
            row = await cursor.fetchone()
            return int(row[0]) if row else -1

    assert asyncio.run(cancelled()) == 0


def test_a_conversation_answers_with_the_value_and_cites_the_query(demo: DataSource) -> None:
    """Without a language model: routed by its words, read word for word, answered from the query's evidence."""
    events = asked(Principal.named("emma"), "上个月新增了多少客户？")
    message = stored(events)
    assert re.match(r"共 \d+ 个客户（新增：", words(events))
    assert (message.stop_reason, message.provider) == (StopReason.OK, "database")
    state = message.state
    (item,) = state["evidence_items"]
    assert (item["type"], item["by"], item["source"]["db"]) == ("sql_result", "sql", "demo")
    assert item["hash"]
    assert state["tools"]["sql"]["returned_evidence_ids"] == [item["evidence_id"]]
    assert state["output"]["final_citations"] == [{"evidence_id": item["evidence_id"]}]


@pytest.mark.parametrize(
    "question",
    [
        "上个月新增了多少客户？",
        "How many customers did we win last month?",
        "当前在进行中的项目有哪些？",
        "highest list price",
    ],
)
def test_what_the_data_can_be_asked_goes_there_without_a_model(demo: DataSource, question: str) -> None:
    """The last two have none of the specification's words for data: every word of them is read all the same."""
    row = stored(asked(Principal.named("emma"), question))
    assert (row.state["plan"]["route"], row.provider) == ("SQL", "database")
    nodes = list(dict.fromkeys(step["node"] for step in row.state["trace_steps"]))
    assert nodes[2:5] == ["Route", "SQLTool", "ValidateEvidence"], "passages are not mixed into an answer of data"


@pytest.mark.parametrize("question", ["How many customers did we win last month?", "list the customers"])
def test_a_table_that_is_not_theirs_is_as_if_it_did_not_exist(demo: DataSource, question: str) -> None:
    """Sofia may ask no source; nora asks one table of it. Both hear the same of customers and of what never was."""
    source = DataSource.unscoped.get(name="demo")
    narrow = make_user("nora")
    grant(None, source, to=narrow, table="project")
    for person in (Principal.named("sofia"), Principal.of(narrow)):
        theirs = stored(asked(person, question))
        nowhere = stored(asked(person, question.replace("customers", "unicorns")))
        assert (theirs.content, theirs.stop_reason) == (nowhere.content, nowhere.stop_reason)
        assert theirs.stop_reason == StopReason.NO_EVIDENCE
    assert stored(asked(Principal.named("emma"), question)).stop_reason == StopReason.OK


def test_a_question_of_several_meanings_is_asked_back_and_the_chosen_one_is_answered(demo: DataSource) -> None:
    emma = Principal.named("emma")
    row = stored(asked(emma, "how many are active"))
    assert row.stop_reason == StopReason.NEED_CLARIFY
    choices = row.state["plan"]["clarifying_questions"]
    assert choices == [
        "number of employees, employment status = active",
        "number of projects, project status = active",
    ]
    for choice, table in zip(choices, ("employee", "project"), strict=True):
        session = create_session(emma)
        stored(asked(emma, "how many are active", session))
        answer = stored(asked(emma, choice, session))
        assert answer.stop_reason == StopReason.OK
        query = QueryShown.model_validate(answer.queries.get().result).logical_query
        assert query is not None
        assert [metric.name for metric in query.metrics] == [table]


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
    for question in ("新员工的试用期是多久？", "试用期有多长？"):
        message = stored(asked(Principal.named("lin"), question))
        assert (message.stop_reason, message.queries.count()) == (StopReason.NO_EVIDENCE, 0)
    assert stored(asked(Principal.named("lin"), "有哪些员工在试用期？")).queries.count() == 1


HOW_MANY = "How many customers are there by region?"
REGIONS = "Customers by region: East China (12); Europe (48); North China (12); South China (12); Southwest China (12)"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Most customers are in East China, 77 of them. [1]", [REGIONS]),
        ("There are 17 customers.", [REGIONS]),
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
    assert [sorted(re.split("[:;] ", each)) for each in sentences] == [sorted(re.split("[:;] ", each)) for each in said]
    assert words(events) == message.content
    assert len(QueryShown.model_validate(message.queries.get().result).table.rows) == 5


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("revenue in dollars", "No currency but CNY is kept here."),
        ("fiscal year revenue", "These words mean nothing in the data: fiscal."),
        ("本财年的销售额", "这些数据里没有财年的含义：语义层没有说明财年从何时开始。"),
        ("customers in Atlantis", "These words mean nothing in the data: Atlantis."),
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


def test_a_percentage_says_its_unit(demo: DataSource) -> None:
    assert text_of("emma", "What is the share of cancelled orders?").startswith(
        "7.67 % of orders are cancelled (46 of 600)\n"
    )
