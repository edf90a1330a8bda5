"""Questions read word for word, on the demo company's semantic layer."""

from datetime import date
from pathlib import Path

import pytest

import demo
from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.readings import readings_of
from agent.business.ask.understand import understand
from agent.business.ask.words.lexicon import Lexicon
from agent.business.guard.guard import guard
from agent.business.guard.rewrite import Target
from agent.business.layer.model import Value
from agent.business.layer.rights import policy_of
from agent.business.layer.yaml_io import read_layer

LAYER = read_layer((Path(demo.__file__).parent / "business" / "demo.yaml").read_text())
LEXICON = Lexicon.of(LAYER)
TODAY = date(2026, 11, 21)
POLICY = policy_of(LAYER, ["工程部"], granted=(), source_granted=True)


def sql(question: str) -> str:
    """The statement of a question, which the guard accepts, without quotes."""
    found = understand(question, LEXICON, today=TODAY).sql
    guard(found, POLICY, Target())
    return found.replace('"', "")


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("上个月新增了多少客户？", ["count(*)", "created_on >= '2026-10-01'", "created_on < '2026-11-01'"]),
        ("How many customers did we win last month?", ["count(*)", "created_on >= '2026-10-01'"]),
        ("当前在进行中的项目有哪些？", ["t0.name", "status::text IN ('active')"]),
        ("目前有多少人在试用期？", ["count(*)", "employee", "IN ('probation')"]),
        ("top 3 products by revenue", ["sum(t0.amount)", "IN ('paid', 'open')", "FIRST 3 ROWS WITH TIES", "DESC"]),
        ("销售额最高的3个产品", ["sum(t0.amount)", "FIRST 3 ROWS WITH TIES", "DESC"]),
        ("哪个地区的客户最多", ["t0.region", "count(*)", "FIRST 1 ROWS WITH TIES"]),
        ("which product has the lowest list price?", ["ORDER BY t0.list_price ASC", "FIRST 1 ROWS WITH TIES"]),
        ("customers with more than 5 orders", ["HAVING count(*) > 5"]),
        ("customers with fewer than 3 orders", ["NOT IN", "HAVING count(*) >= 3"]),
        ("没有订单的客户", ["NOT EXISTS"]),
        ("每个月的销售额", ["date_trunc('month', t0.ordered_at)", "GROUP BY"]),
        ("average list price by category", ["avg(t0.list_price)", "GROUP BY t0.category"]),
        ("orders in Germany that are not cancelled", ["IN ('Germany')", "NOT IN ('cancelled')"]),
        ("List all products with their list prices", ["SELECT t0.name, t0.list_price FROM"]),
        ("show products and their categories", ["SELECT t0.name, t0.category FROM"]),
        ("list the categories of the products", ["SELECT DISTINCT t0.category FROM"]),
        ("list projects with budget above 100000, ordered by budget descending", ["ORDER BY t0.budget DESC"]),
        ('orders of the customer "Fjordline Reefer"', ["IN ('Fjordline Reefer')"]),
        ("customers by region this year", ["t0.region", "count(*)", "created_on >= '2026-01-01'"]),
        ("本月新增客户数", ["count(*)", "created_on >= '2026-11-01'"]),
        ("revenue last quarter", ["sum(t0.amount)", "ordered_at >= '2026-07-01'", "ordered_at < '2026-10-01'"]),
        ("What is the cheapest product?", ["ORDER BY t0.list_price ASC", "FIRST 1 ROWS WITH TIES"]),
        ("哪个产品标价最贵", ["t0.name, t0.list_price", "ORDER BY t0.list_price DESC", "FIRST 1 ROWS WITH TIES"]),
        ("Which customer spent the most this year?", ["sum(t0.amount)", "FIRST 1 ROWS WITH TIES"]),
        ("How many gateways did we sell last year?", ["sum(t0.quantity)", "IN ('gateway')"]),
        ("Which products have never been ordered?", ["NOT EXISTS"]),
        ("哪些客户今年没有下单？", ["NOT EXISTS", "ordered_at >= '2026-01-01'"]),
        ("Customers with at least 3 orders this year", ["HAVING count(*) >= 3", "h0.ordered_at >= '2026-01-01'"]),
        ("customers with more than 2 cancelled orders", ["h0.status::text IN ('cancelled')", "HAVING count(*) > 2"]),
        ("Which regions have fewer than 5 customers?", ["GROUP BY t0.region HAVING count(*) < 5"]),
        ("华东和华南的客户各有多少？", ["GROUP BY t0.region", "'华东', '华南'"]),
        ("East China vs South China: revenue", ["GROUP BY t1.region", "'华东', '华南'"]),
        ("How many orders are above 80,000 CNY?", ["count(*)", "t0.amount > 80000"]),
        ("平均每个订单多少钱", ["avg(t0.amount)"]),
        ("2026 年 3 月新签了多少客户", ["count(*)", "created_on >= '2026-03-01'"]),
        ("杭州有多少工程师？", ["employee", "IN ('Hangzhou')", "IN ('Engineer')"]),
        ("华北地区客户的行业分布", ["t0.industry", "count(*)", "GROUP BY t0.industry"]),
        ("Revenue by customer in 2025", ["ordered_at >= '2025-01-01'", "GROUP BY t1.name"]),
        ("Who was hired most recently?", ["t0.name", "ORDER BY t0.hired_on DESC", "FIRST 1 ROWS WITH TIES"]),
        ("预算在20万到50万之间的项目", ["budget BETWEEN 200000 AND 500000"]),
    ],
)
def test_understood(question: str, parts: list[str]) -> None:
    if not parts:
        with pytest.raises(NotUnderstood):
            sql(question)
        return
    found = sql(question)
    assert [part for part in parts if part not in found] == [], found


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("How many happy customers did we win last month?", ("happy",)),
        ("上个月流失了多少客户", ("流", "失")),
        ("What is the salary of Chen Wei?", ("salary", "Chen", "Wei")),
        ("revenue per square metre", ("square", "metre")),
        ("similarity of paid to open orders", ("similarity",)),
    ],
)
def test_a_word_that_stands_for_nothing_hands_the_question_on(question: str, unknown: tuple[str, ...]) -> None:
    with pytest.raises(NotUnderstood) as handed_on:
        sql(question)
    assert handed_on.value.unknown == unknown


@pytest.mark.parametrize(
    "question",
    [
        "average revenue by region",  # over what?
        "revenue of employees",  # no key leads there
        "list price",  # nothing asked
        "revenue last month this year",  # two times
        "top products by revenue",  # how many?
        "list prices by customer",
        "上个月离职了多少人",  # when they left is not in the data
        "How much did customers in the retail industry order this year?",  # how much of what
        "how many of them",
        "",
    ],
)
def test_what_could_mean_two_things_is_not_answered(question: str) -> None:
    with pytest.raises(NotUnderstood):
        sql(question)


def test_a_word_of_two_tables_asks_which_one() -> None:
    with pytest.raises(NotUnderstood) as asked:
        sql("how many are active")
    assert asked.value.choices == ("employee.status", "project.status")


def test_the_first_of_things_without_a_figure_asks_by_which() -> None:
    with pytest.raises(NotUnderstood) as asked:
        sql("top 5 products")
    readings = readings_of("top 5 products", asked.value, LAYER, "en")
    assert readings == [
        "top 5 products by revenue",
        "top 5 products by units sold",
        "top 5 products by average order value",
    ]
    assert [understand(reading, LEXICON, today=TODAY).question.limit for reading in readings] == [5, 5, 5]
    with pytest.raises(NotUnderstood) as asked:
        sql("前10大客户")
    assert readings_of("前10大客户", asked.value, LAYER, "zh")[0] == "销售额最高的前10大客户"


def test_a_quoted_name_stays_a_literal() -> None:
    assert "IN ('x''); DROP TABLE customer; --')" in sql('orders of the customer "x\'); DROP TABLE customer; --"')


RULES = "Deployments are supported in the environments `staging`, `prod-cn` and `demo`."


def named_layer() -> Lexicon:
    """The demo's layer with the names of environments in its index, as it is filled from the database."""
    values = tuple(Value(value=name) for name in ("dev", "test", "staging", "prod-cn", "prod-eu", "demo"))
    models = []
    for model in LAYER.semantic_models:
        dimensions = [
            d.model_copy(update={"values": values}) if (model.name, d.name) == ("environment", "name") else d
            for d in model.dimensions
        ]
        models.append(model.model_copy(update={"dimensions": tuple(dimensions)}))
    return Lexicon.of(LAYER.model_copy(update={"semantic_models": tuple(models)}))


def test_these_are_what_a_text_names() -> None:
    found = understand("这些环境中有多少正在使用？", named_layer(), today=TODAY, named_in=RULES)
    assert """"name"::text IN ('staging', 'prod-cn', 'demo')""" in found.sql.replace("t0.name", '"name"')
    assert "IN ('in use')" in found.sql


@pytest.mark.parametrize(
    "text",
    [
        "Deployments are supported everywhere.",  # none
        "Deployments are supported in `prod-cn`.",  # one is not “these”
        "Deployments are supported in `staging` and `prod-cn`, but not in `demo`.",
        "`staging` is retired, `prod-cn` and `demo` are in development.",  # two columns
    ],
)
def test_a_text_that_does_not_name_them_plainly_is_not_used(text: str) -> None:
    with pytest.raises(NotUnderstood):
        understand("how many of these environments are there", named_layer(), today=TODAY, named_in=text)
