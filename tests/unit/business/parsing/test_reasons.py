"""What is not read says why, and what is asked in another unit than the one that is kept gets no number."""

import pytest

from business.logical_query.catalog import Catalog
from business.logical_query.query import LogicalQuery
from business.logical_query.wording import build_query_sentence
from business.parsing.base import Clarification, Context, Unparseable
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import parse
from business.semantic_layer.yaml_io import read_layer
from tests.dictionaries import prepared
from tests.unit.business.parsing.test_words import LEXICON, TODAY


@pytest.fixture(scope="module", autouse=True)
def _dictionary() -> None:
    prepared()


REGIONS = (
    "“East”",
    "East China (华东)",
    "South China (华南)",
    "North China (华北)",
    "Southwest China (西南)",
    "Europe (欧洲)",
)
MISSING = (
    # language, question, what the reason names, the words that have no meaning
    ("zh", "今年的销售额是多少美元？", ("CNY",), ()),
    ("en", "products with a list price above $5000", ("CNY",), ()),
    ("en", "How many customers are in the region East?", REGIONS, ()),
    ("en", "What was the revenue of McDonalds?", ("McDonalds",), ("McDonalds",)),
    ("en", "What was our revenue this fiscal year?", ("fiscal year",), ()),
    ("zh", "有多少订单还没付款？", ("付款",), ("付款",)),  # 款 alone is a measure word
    ("zh", "根据部署规范，目前支持哪些环境？", (), ("部署规范", "支持")),  # 部 is a department, 支 a measure word
    ("zh", "已取消订单的销售额是多少？", ("“revenue”", "order status = cancelled"), ()),
    ("en", "What was the revenue of cancelled orders?", ("“revenue”", "order status = cancelled"), ()),
    ("zh", "标价超过2小时的产品", ("小时",), ()),
)


def test_the_reason_names_what_is_missing() -> None:
    for language, question, named, unknown in MISSING:
        parsed = parse(question, LEXICON, Context(language, TODAY))
        assert isinstance(parsed, Unparseable), question
        assert [words for words in named if words not in parsed.why] == [], parsed.why
        assert not unknown or parsed.unknown == unknown, question


def test_the_currency_that_is_kept_may_be_named() -> None:
    for question in ("标价超过￥5千的产品", "What was our revenue in yuan last year?"):
        assert isinstance(parse(question, LEXICON, Context("en", TODAY)), LogicalQuery)


SHEET = """
name: sheet
semantic_models:
- name: customers
  schema: main
  table: t
  label: {en: customers, zh: 客户}
  org_unit: {shared_with: everyone}
  dimensions:
  - {name: product, type: categorical, expr: product, label: {en: product, zh: 产品}, values: [{value: A1}, {value: B2}]}
  - {name: city, type: categorical, expr: city, label: {en: city, zh: 城市}}
"""


def test_what_is_asked_for_is_one_thing_that_is_said() -> None:
    for question, is_read in (
        ("客户和产品有多少？", False),
        ("客户有多少？", True),
        ("by city", False),
        ("Which customers are on hold?", False),
        ("按城市和产品统计客户数", True),
    ):
        lexicon = Lexicon.of(Catalog.of(read_layer(SHEET)))
        parsed = parse(question, lexicon, Context("zh", TODAY))
        assert isinstance(parsed, LogicalQuery | Clarification) == is_read, parsed


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("average order value by region", "average order value, by region"),
        ("各地区平均客单价", "average order value, by region"),
        ("average number of orders per customer", ""),
        ("average revenue by region", ""),
    ],
)  # fmt: skip
def test_an_average_is_that_of_a_measure_and_never_one_of_groups(question: str, said: str) -> None:
    parsed = parse(question, LEXICON, Context("en", TODAY))
    assert (
        build_query_sentence(parsed, LEXICON.catalog, "en", TODAY) if isinstance(parsed, LogicalQuery) else ""
    ) == said
