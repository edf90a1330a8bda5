"""A model writes SQL: what it is shown, what becomes of what it writes, and what never becomes a number."""

from django.contrib.auth.models import User

from audit.actions import Action, Outcome
from audit.models import Entry
from business.models import DataSource
from business.parsing.base import Example
from business.statements.examples import select_similar_examples
from tests.factories import make_user
from tests.integration.business.writing import Writing

QUESTION = "How many loyal customers are there?"
COUNT = "SELECT count(*) AS n FROM customer WHERE since >= DATE '2026-01-01'"


def actions() -> list[str]:
    return sorted(Entry.objects.filter(action__startswith="sql.").values_list("action", flat=True))


def test_a_statement_runs_under_the_rights_of_whoever_asks(northerner: User, source: DataSource) -> None:
    writing = Writing(northerner)
    called = writing.call(sql=COUNT)
    assert called.result.data["rows"] == [[75]]
    assert "IN ('North')" in called.result.data["sql"]
    (finding,) = called.result.findings
    assert finding.query is not None
    assert finding.query.logical_query is None
    for condition in ("= 'South'", "<> 'North'"):
        others = writing.call(sql=f"SELECT count(*) FROM customer WHERE org_unit {condition}")
        assert others.result.data["rows"] == [[0]], condition
    nothing = Writing(make_user("sam")).call(question=QUESTION).result.error
    assert "There is no data source you can ask" in nothing


def test_with_a_question_alone_the_model_is_told_the_tables_and_nothing_runs(northerner: User) -> None:
    called = Writing(northerner).call(question=QUESTION)
    assert "table customer: public.customer" in called.result.output
    assert '<tables source="shop"' in called.result.output
    assert "api_token" not in called.result.output
    assert (called.result.findings, actions()) == ((), [])


def test_a_refused_statement_is_told_its_fault(northerner: User) -> None:
    writing = Writing(northerner)
    assert "to be told the tables" in writing.call(source="shop").result.error
    assert "Only SELECT is allowed" in writing.call(sql="DELETE FROM customer").result.error
    assert 'column "loyal" does not exist' in writing.call(sql="SELECT count(*) FROM customer WHERE loyal").result.error
    assert writing.call(sql=COUNT).result.data["rows"] == [[75]]
    assert actions() == [Action.SQL_EXECUTED, Action.SQL_REFUSED, Action.SQL_REFUSED]
    failed = Entry.objects.filter(action=Action.TOOL_CALLED, outcome=Outcome.ERROR, reason="SqlRefused")
    assert failed.count() == 2


NOT_JOINED = "The tables are not joined along their keys"
WRONG = {
    "SELECT count(*) FROM customer, sale": f"{NOT_JOINED}: customer / sale.",
    "SELECT count(*) FROM customer c JOIN sale s ON s.id = c.id": NOT_JOINED,
    "SELECT count(*) FROM customer c JOIN (SELECT id AS n FROM sale) s ON s.n = c.id": NOT_JOINED,
    "WITH s AS (SELECT id FROM sale) SELECT count(*) FROM customer c JOIN s ON s.id = c.id": NOT_JOINED,
    "SELECT count(*) FROM customer c JOIN sale s ON s.id + 0 = c.id": NOT_JOINED,
    "SELECT count(*) FROM customer c JOIN sale s ON s.customer_id = c.id OR true": NOT_JOINED,
    "SELECT count(*) FROM customer WHERE segment IN ('huge', 'vast')": "There is no segment “huge”",
    "SELECT count(*) FROM customer WHERE segment LIKE 'huge%'": "There is no segment “huge”; there are large, small.",
    "SELECT 1200000 AS revenue": "The statement reads no table.",
    "SELECT 42 AS revenue FROM customer LIMIT 1": "A number of the result is not read from the data: 42.",
}


def test_what_would_give_a_wrong_number_is_refused_with_why(northerner: User) -> None:
    writing = Writing(northerner)
    for written, why in WRONG.items():
        for _again in range(2):
            called = writing.call(sql=written)
            assert why in called.result.error, written
            assert called.result.findings == ()
    assert actions() == []


def test_a_sum_that_a_join_repeats_says_so(northerner: User) -> None:
    writing = Writing(northerner)
    once = writing.insist("SELECT sum(s.amount) FROM sale s JOIN customer c ON c.id = s.customer_id")
    assert not any("several times" in item for item in once.result.data["definitions"])
    repeated = writing.insist("SELECT avg(c.id) FROM customer c JOIN sale s ON s.customer_id = c.id")
    doubt = "Rows of customer are counted or added several times by the join with sale."
    assert doubt in repeated.result.data["definitions"]


def test_the_most_similar_examples_come_last() -> None:
    examples = [
        Example("How many orders are there?", "1"),
        Example("哪些客户最忠诚？", "2"),
        Example("How many loyal customers do we have?", "3"),
        Example("Who was born on Mars", "4"),
    ]
    assert [example.sql for example in select_similar_examples(QUESTION, examples)] == ["3"]
    assert [example.sql for example in select_similar_examples("哪些客户忠诚", examples)] == ["2"]
    assert select_similar_examples("How many are there?", examples) == []
