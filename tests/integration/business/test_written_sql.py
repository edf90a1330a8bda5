"""A model writes SQL: what it is shown, what becomes of what it writes, and what never becomes a number."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from agent.tools.base import ToolContext
from agent.tools.calling import Called, call_tool
from audit.actions import Action
from audit.models import Entry
from authz.principal import Principal
from business.address import Address
from business.linking.similar import similar
from business.models import DataSource
from business.parsing.base import Example
from knowledge.retrieval.search import Scope
from tests.factories import make_user
from tests.integration.agent.conversations import asked, stored, words
from tests.integration.agent.modelled import judges, modelled, sent
from tests.integration.business.conftest import make_demo, make_source
from tests.modelserver import calls, says

QUESTION = "How many loyal customers are there?"
COUNT = "SELECT count(*) AS n FROM customer WHERE since >= DATE '2026-01-01'"
FREE = "Counted as a language model wrote it, by no definition of the data."
OTHERWISE = "This is not counted by the definition “revenue: Order amounts without cancelled orders”."


class Writing:
    """A person's run, whose model writes statements."""

    def __init__(self, person: User, language: str = "en") -> None:
        self.ctx = ToolContext(Principal.of(person), Scope(), language, writes_sql=True)

    def call(self, **arguments: Any) -> Called:
        tool = "database_query"
        return async_to_sync(call_tool)(tool, json.dumps(arguments), allowed=[tool], ctx=self.ctx)

    def insist(self, sql: str) -> Called:
        """The same statement again where it is objected to."""
        called = self.call(sql=sql)
        return self.call(sql=sql) if called.problem == "Objection" else called


def actions() -> list[str]:
    return sorted(Entry.objects.filter(action__startswith="sql.").values_list("action", flat=True))


@pytest.fixture
def source(db: None, shop: Address) -> DataSource:
    """Not shared: other tests of this file share the demo's data."""
    return make_source(shop)


@pytest.fixture
def demo(db: None, demo_data: Address) -> DataSource:
    """Not shared: other tests of this file share the shop."""
    return make_demo(demo_data)


def test_a_statement_runs_under_the_rights_of_whoever_asks(northerner: User) -> None:
    called = Writing(northerner).call(sql=COUNT)
    assert called.result.data["rows"] == [[75]]
    assert "IN ('North')" in called.result.data["sql"]
    (finding,) = called.result.findings
    assert finding.query is not None
    assert finding.query.logical_query is None


def test_with_a_question_alone_the_model_is_told_the_tables_and_nothing_runs(northerner: User) -> None:
    called = Writing(northerner).call(question=QUESTION)
    assert "table customer: public.customer" in called.result.output
    assert '<tables source="shop"' in called.result.output
    assert "api_token" not in called.result.output
    assert (called.result.findings, actions()) == ((), [])


def test_what_is_neither_a_question_nor_a_statement_is_refused(northerner: User) -> None:
    assert "to be told the tables" in Writing(northerner).call(source="shop").result.error


def test_a_refused_statement_is_told_its_fault(northerner: User) -> None:
    writing = Writing(northerner)
    assert 'column "loyal" does not exist' in writing.call(sql="SELECT count(*) FROM customer WHERE loyal").result.error
    assert writing.call(sql=COUNT).result.data["rows"] == [[75]]
    assert actions() == [Action.SQL_EXECUTED, Action.SQL_REFUSED]


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("SELECT count(*) FROM customer, sale", "The tables are not joined along their keys: customer / sale."),
        ("SELECT count(*) FROM customer CROSS JOIN region", "The tables are not joined along their keys"),
        ("SELECT count(*) FROM customer c JOIN sale s ON s.id = c.id", "The tables are not joined along their keys"),
        (
            "SELECT count(*) FROM customer c JOIN (SELECT id AS n FROM sale) s ON s.n = c.id",
            "The tables are not joined along their keys",
        ),
        (
            "WITH s AS (SELECT id FROM sale) SELECT count(*) FROM customer c JOIN s ON s.id = c.id",
            "The tables are not joined along their keys",
        ),
        (
            "SELECT count(*) FROM customer c JOIN sale s ON s.id + 0 = c.id",
            "The tables are not joined along their keys",
        ),
        (
            "SELECT count(*) FROM customer c JOIN sale s ON s.customer_id = c.id OR true",
            "The tables are not joined along their keys",
        ),
        ("SELECT count(*) FROM customer WHERE segment = 'huge'", "There is no segment “huge”; there are large, small."),
        ("SELECT count(*) FROM customer WHERE segment IN ('huge', 'vast')", "There is no segment “huge”"),
        ("SELECT 1200000 AS revenue", "The statement reads no table."),
        ("SELECT 42 AS revenue FROM customer LIMIT 1", "A number of the result is not read from the data: 42."),
        (
            "SELECT count(*) FROM customer WHERE segment LIKE 'huge%'",
            "There is no segment “huge”; there are large, small.",
        ),
    ],
)
def test_what_would_give_a_wrong_number_is_refused_with_why(northerner: User, written: str, why: str) -> None:
    writing = Writing(northerner)
    for _again in range(2):
        called = writing.call(sql=written)
        assert why in called.result.error
        assert called.result.findings == ()
    assert actions() == []


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("written", "doubt"),
    [
        ("SELECT sum(amount) AS revenue FROM sales_order", OTHERWISE),
        ("SELECT sum(amount) AS revenue FROM sales_order WHERE status = 'cancelled'", OTHERWISE),
        ("SELECT count(*) AS revenue FROM sales_order", OTHERWISE),
        (
            "SELECT count(*) FROM customer WHERE region IN ('欧洲', 'Atlantis')",
            "There is no region “Atlantis”",
        ),
    ],
)
def test_what_follows_no_definition_is_objected_to_once_and_then_said(written: str, doubt: str) -> None:
    writing = Writing(User.objects.get(username="zhao"))
    first = writing.call(sql=written)
    assert (first.problem, first.result.findings) == ("Objection", ())
    said = writing.call(sql=written).result.data["definitions"]
    assert any(each.startswith(doubt) for each in said)
    assert FREE in said


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_counted_as_the_measure_is_shown_by_its_definition(demo: DataSource, language: str) -> None:
    definition = {
        "en": "revenue: Order amounts without cancelled orders.",
        "zh": "销售额：订单金额，不含已取消的订单。",
    }[language]
    told = []
    for where in ("", " WHERE status IN ('paid', 'open')"):
        writing = Writing(User.objects.get(username="zhao"), language)
        told.append(writing.insist(f"SELECT sum(amount) AS revenue FROM sales_order{where}").result.data["definitions"])
    without, by_definition = told
    assert by_definition == [definition]
    assert definition not in without


def test_a_sum_that_a_join_repeats_says_so(northerner: User, source: DataSource) -> None:
    writing = Writing(northerner)
    once = writing.insist("SELECT sum(s.amount) FROM sale s JOIN customer c ON c.id = s.customer_id")
    assert not any("several times" in each for each in once.result.data["definitions"])
    repeated = writing.insist("SELECT avg(c.id) FROM customer c JOIN sale s ON s.customer_id = c.id")
    doubt = "Rows of customer are counted or added several times by the join with sale."
    assert doubt in repeated.result.data["definitions"]


@pytest.mark.parametrize("condition", ["= 'South'", "<> 'North'"])
def test_another_unit_s_rows_stay_where_they_are(northerner: User, condition: str) -> None:
    called = Writing(northerner).call(sql=f"SELECT count(*) FROM customer WHERE org_unit {condition}")
    assert called.result.data["rows"] == [[0]]


def test_what_writes_is_refused(northerner: User) -> None:
    assert "Only questions are run" in Writing(northerner).call(sql="DELETE FROM customer").result.error


def test_who_may_ask_nothing_is_told_no_tables(source: DataSource) -> None:
    assert "There is no data source that you may ask" in Writing(make_user("sam")).call(question=QUESTION).result.error


def test_in_a_run_the_linked_tables_stand_before_the_question_and_the_result_is_cited(demo: DataSource) -> None:
    zhao, question = User.objects.get(username="zhao"), "How many customers are there by region?"
    sql = "SELECT region, count(*) AS customers FROM customer GROUP BY region ORDER BY region"
    with modelled(calls(("database_query", {"sql": sql})), says("Europe has 48 customers [1].")) as server:
        events = asked(zhao, question)
    first = sent(server.requests[0])
    assert first.index("table customer:") < first.rindex(question)
    assert "Europe has 48 customers" in words(events)
    row = stored(events)
    assert (row.state["plan"]["route"], row.queries.count()) == ("SQL", 1)
    assert len(server.requests) == 2


def test_a_follow_up_is_told_the_statement_before(demo: DataSource) -> None:
    zhao, sql = User.objects.get(username="zhao"), "SELECT count(*) AS customers FROM customer WHERE region = '欧洲'"
    said = says("There are 48 customers in Europe [1].")
    with modelled(calls(("database_query", {"sql": sql})), said, judges("supported", quote="48")):
        session = stored(asked(zhao, "How many customers are in Europe?")).session
    with modelled(says("NO_ANSWER")) as server:
        asked(zhao, "And in China?", session)
    assert f'<earlier source="demo">\n{sql}\n</earlier>' in sent(server.requests[0])


def test_a_question_of_documents_is_told_no_tables(demo: DataSource) -> None:
    with modelled(says("NO_ANSWER")) as server:
        asked(User.objects.get(username="zhao"), "May I bring a dog?")
    assert "<tables" not in sent(server.requests[0])


def test_the_most_similar_examples_come_last() -> None:
    examples = [
        Example("How many orders are there?", "1"),
        Example("哪些客户最忠诚？", "2"),
        Example("How many loyal customers do we have?", "3"),
        Example("Who was born on Mars", "4"),
    ]
    assert [example.sql for example in similar(QUESTION, examples)] == ["3"]
    assert [example.sql for example in similar("哪些客户忠诚", examples)] == ["2"]
    assert similar("How many are there?", examples) == []


def test_the_command_measures_the_model_s_way(db: None, tmp_path: Path) -> None:
    make_user("eva")
    (tmp_path / "tiny.sql").write_text(
        "CREATE TABLE t (id int PRIMARY KEY, name text); INSERT INTO t VALUES (1, 'a'), (2, 'b');"
    )
    lines = [
        {"id": "1", "question": "How many are loyal?", "query": "SELECT count(*) FROM t", "db_name": "tiny"},
        {"id": "2", "question": "Who will win?", "db_name": "tiny", "answerable": False},
    ]
    (tmp_path / "questions.x.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(CommandError, match="No language model is configured"):
        call_command("evaluate_sql", str(tmp_path), username="eva", way="model", stdout=StringIO())
    out = StringIO()
    with modelled(calls(("database_query", {"sql": "SELECT count(*) FROM t"})), says("NO_ANSWER")):
        call_command("evaluate_sql", str(tmp_path), username="eva", way="model", stdout=out)
    total = json.loads(out.getvalue())["total"]
    assert (total["right"], total["wrong"], total["abstained"]) == (1, 0, 1)
