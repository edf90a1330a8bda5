"""Ways to say it that are no column's name: order words, amounts, role words, absence, countries; each with what stays unanswered."""

import pytest

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.understand import understand
from agent.business.ask.words.lexicon import Lexicon
from agent.business.layer.model import SemanticLayer, Value
from tests.unit.business.test_ask import LAYER, LEXICON, TODAY, sql


def _with_values(layer: SemanticLayer, of: dict[str, tuple[str, ...]]) -> SemanticLayer:
    """The layer with values of the names of tables and of columns, as an introspected one has them. of: by "table.column"."""
    models = []
    for model in layer.semantic_models:
        dimensions = [
            d.model_copy(
                update={"values": (*d.values, *(Value(value=v) for v in of.get(f"{model.name}.{d.name}", ())))}
            )
            for d in model.dimensions
        ]
        models.append(model.model_copy(update={"dimensions": tuple(dimensions)}))
    return layer.model_copy(update={"semantic_models": tuple(models)})


NAMED = Lexicon.of(_with_values(LAYER, {"project.name": ("Arrival 12",), "customer.country": ("USA",)}))


def named_sql(question: str) -> str:
    return understand(question, NAMED, today=TODAY).sql.replace('"', "")


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        # orders, and their amounts
        ("上周一共下了多少单", ["count(*)", "sales_order", ">= '2026-11-09'", "< '2026-11-16'"]),
        ("上周一下了几单", ["count(*)", "< '2026-11-10'"]),
        ("哪个客户下单最多", ["count(*)", "customer", "FIRST 1 ROWS WITH TIES"]),
        ("平均一单多少钱", ["avg(t0.amount)"]),
        ("How many orders came in yesterday?", ["count(*)", ">= '2026-11-20'"]),
        ("How many orders above 50,000 did we get this year?", ["count(*)", "t0.amount > 50000"]),
        ("5万以上的订单有多少", ["t0.amount >= 50000"]),
        ("which order is the biggest", ["ORDER BY t0.amount DESC", "FIRST 1 ROWS WITH TIES"]),
        ("which customer brings in the most money", ["sum(t0.amount)", "FIRST 1 ROWS WITH TIES"]),
        ("top customer by total spend", ["sum(t0.amount)", "FIRST 1 ROWS WITH TIES"]),
        ("累计消费超过100000的客户都有谁", ["HAVING sum(h0.amount) > 100000"]),
        ("网关一共卖了多少钱", ["sum(t0.amount)", "IN ('gateway')"]),
        ("how many different customers ordered something this month", ["EXISTS", "ordered_at >= '2026-11-01'"]),
        # which thing, not how much
        ("标价最高的是哪个产品", ["t0.name, t0.list_price", "FIRST 1 ROWS WITH TIES"]),
        ("最贵的是哪个产品", ["t0.name, t0.list_price", "FIRST 1 ROWS WITH TIES"]),
        ("最近一笔订单是哪天下的", ["t0.ordered_at", "DESC", "LIMIT 1"]),
        # several times, and one against the other
        ("这个月的销售额跟上个月比怎么样", ["AS change_percent", "'2026-11-01'", "'2026-10-01'"]),
        ("今年和去年的销售额各是多少", ["2026 AS period", "2025 AS period"]),
        ("revenue in 2024 and 2025, each", ["2024 AS period", "2025 AS period"]),
        ("德国客户占总销售额的多少", ["AS share", "IN ('Germany')"]),
        ("German share of total revenue", ["AS share", "IN ('Germany')"]),
        # roles
        ("在进行中的项目和它们的负责人", ["t0.name, t1.name", "owner_id", "IN ('active')"]),
        ("owner of each project", ["t0.name, t1.name", "owner_id"]),
        ("每个项目的负责人", ["t0.name, t1.name", "owner_id"]),
        ("每个项目负责人负责多少个项目？", ["t1.name AS employee", "count(*)", "GROUP BY t1.name"]),
        ("list the project owners", ["employee", "EXISTS", "owner_id"]),
        # absence
        ("哪些产品一次都没卖出去", ["NOT EXISTS", "sales_order"]),
        ("products that were never sold", ["NOT EXISTS", "sales_order"]),
    ],
)
def test_said_otherwise(question: str, parts: list[str]) -> None:
    found = sql(question)
    assert all(part in found for part in parts), found


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ('who owns the project "Arrival 12"', ["FROM public.employee", "owner_id", "IN ('Arrival 12')"]),
        ("Who is responsible for the project Arrival 12?", ["FROM public.employee", "owner_id"]),
        ("Arrival 12 的负责人是谁", ["FROM public.employee", "owner_id"]),
        ("谁负责 Arrival 12", ["FROM public.employee", "owner_id"]),
        ("revenue in the US", ["IN ('USA')"]),
        ("US revenue", ["IN ('USA')"]),
        ("US share of revenue", ["AS share", "IN ('USA')"]),
        ("American customers", ["IN ('USA')"]),
        ("美国客户", ["IN ('USA')"]),
        ("挪威的客户", ["IN ('Norway')"]),
    ],
)
def test_names_and_countries(question: str, parts: list[str]) -> None:
    found = named_sql(question)
    assert all(part in found for part in parts), found


def test_us_is_who_asks_where_a_verb_says_so() -> None:
    for question in ("show us all customers", "SHOW US ALL CUSTOMERS"):
        assert "WHERE" not in named_sql(question)


@pytest.mark.parametrize(
    "question",
    [
        "How much did we spend last year?",  # what customers spend is revenue, what we spend is not
        "我们去年花了多少钱",
        "how many employees came in yesterday",  # came in: of orders alone
        "昨天收到了多少员工",
        "list all owners",  # owners of what
        "负责人有哪些",
        "revenue by owner",  # no order has an owner
        "各负责人的销售额",
        "empty projects",  # nothing points to a project
        "空的项目",
        "标价最高的是谁",
        "三个办公室各有多少人",  # there are two
        "what did Germany do in 2025",
        "which products have we used",
        "revenue in the US",  # no value of this layer
        "美国的销售额",
    ],
)
def test_left_alone(question: str) -> None:
    with pytest.raises(NotUnderstood):
        understand(question, LEXICON, today=TODAY)


@pytest.mark.parametrize("question", ["who is Arrival 12", "Arrival 12 是谁"])
def test_a_name_does_not_answer_who_it_is(question: str) -> None:
    with pytest.raises(NotUnderstood):
        named_sql(question)
