"""What a model replies wrongly: none of it becomes a number that is shown as the company's."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from business.address import Address
from business.models import DataSource
from tests.integration.business.conftest import make_source
from tests.integration.business.test_model_way import actions, talking
from tests.modelserver import Step, says, says_json

QUESTION = "What did loyal customers bring us?"
FREE = "Counted as a language model wrote it, by no definition of the data."
OTHERWISE = "This is not counted by the definition “revenue: Order amounts without cancelled orders”."
MEASURE = {"query": {"metrics": [{"name": "sales_order.revenue"}]}}
WITHOUT_FILTER = {"query": {"metrics": [{"name": "sales_order.amount", "agg": "sum"}]}}


def told(step: Step, times: int) -> Any:
    """What Zhao is shown of a reply that is given so many times."""
    with talking(User.objects.get(username="zhao"), *[step] * times) as talk:
        return talk.ask(QUESTION)


@pytest.fixture
def source(db: None, shop: Address) -> DataSource:
    """Not shared: other tests of this file share the demo's data."""
    return make_source(shop)


@pytest.mark.usefixtures("demo")
def test_a_measure_s_column_without_its_filter_is_objected_to_and_then_said() -> None:
    called = told(says_json(WITHOUT_FILTER), 3)
    assert OTHERWISE in called.result.data["definitions"]
    own = told(says_json(MEASURE), 1)
    assert own.result.data["definitions"] == ["revenue: Order amounts without cancelled orders."]
    assert called.result.data["rows"] != own.result.data["rows"]


@pytest.mark.usefixtures("demo")
def test_a_model_that_is_told_of_the_measure_uses_it() -> None:
    with talking(User.objects.get(username="zhao"), says_json(WITHOUT_FILTER), says_json(MEASURE)) as talk:
        called = talk.ask(QUESTION)
        objection = str(talk.server.requests[1]["messages"][-1]["content"])
    assert "sales_order.revenue is defined as sum(amount) where status in ['paid', 'open']" in objection
    assert OTHERWISE not in called.result.data["definitions"]


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
        (
            "SELECT sum(p.budget) FROM employee e JOIN project p ON p.owner_id = e.id JOIN sales_order o ON true",
            None,
        ),
    ],
)
def test_free_sql_is_shown_as_such_with_what_is_doubtful(written: str, doubt: str | None) -> None:
    called = told(says_json({"sql": written}), 3)
    if doubt is None:
        assert called.problem == "NotReadable"
        assert called.result.findings == ()
        return
    (finding,) = called.result.findings
    assert finding.query is not None
    assert finding.query.logical_query is None
    said = called.result.data["definitions"]
    assert any(each.startswith(doubt) for each in said)
    assert FREE in said


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
    with talking(northerner, *[says_json({"sql": written})] * 3) as talk:
        called = talk.ask()
    assert called.problem == "NotReadable"
    assert why in called.result.error
    assert called.result.findings == ()
    assert actions() == []


@pytest.mark.parametrize(
    ("step", "times"),
    [
        (says("The revenue is 1,200,000."), 3),
        (says(""), 3),
        (says("[]"), 3),
        (says_json({}), 3),
        (says_json({"sql": "  "}), 3),
    ],
    ids=["prose", "nothing", "a list", "an empty object", "no statement"],
)
def test_no_query_is_no_answer(northerner: User, step: Step, times: int) -> None:
    with talking(northerner, *[step] * times) as talk:
        called = talk.ask()
    assert called.problem == "NotReadable"
    assert called.result.findings == ()
    assert actions() == []


@pytest.mark.parametrize(
    "reply",
    [
        {"sql": "SELECT count(*) FROM customer WHERE org_unit = 'South'"},
        {"sql": "SELECT count(*) FROM customer WHERE org_unit <> 'North'"},
    ],
)
def test_another_unit_s_rows_stay_where_they_are(northerner: User, reply: dict[str, Any]) -> None:
    with talking(northerner, says_json(reply)) as talk:
        assert talk.ask().result.data["rows"] == [[0]]


def test_a_sum_that_a_join_repeats_says_so(northerner: User, source: DataSource) -> None:
    sql = "SELECT sum(s.amount) FROM sale s JOIN customer c ON c.id = s.customer_id"
    with talking(northerner, says_json({"sql": sql})) as talk:
        assert not any("several times" in each for each in talk.ask().result.data["definitions"])
    repeated = "SELECT avg(c.id) FROM customer c JOIN sale s ON s.customer_id = c.id"
    with talking(northerner, *[says_json({"sql": repeated})] * 3) as talk:
        definitions = talk.ask().result.data["definitions"]
    assert "Rows of customer are counted or added several times by the join with sale." in definitions
