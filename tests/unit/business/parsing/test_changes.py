"""A conversation on business data: each turn changes one part of the query that stands."""

import pytest

from business.logical_query.catalog import Catalog
from business.logical_query.query import LogicalQuery
from business.logical_query.wording import build_query_sentence
from business.parsing.base import Clarification, Context, Unparseable
from business.parsing.reader.changes import apply_follow_up
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import parse
from business.semantic_layer.model import Dimension
from tests.unit.business.parsing.test_words import LEXICON, TODAY


def talk(language: str, *turns: str) -> list[str]:
    """What each turn stands for, in words; of one that is asked back, the choices."""
    context = Context(language, TODAY)
    standing: LogicalQuery | None = None
    said = []
    for turn in turns:
        alone = parse(turn, LEXICON, context)
        parsed = alone if standing is None else apply_follow_up(turn, standing, LEXICON, context) or alone
        if isinstance(parsed, LogicalQuery):
            standing = parsed
            said.append(build_query_sentence(parsed, LEXICON.catalog, language, TODAY))
        else:
            assert isinstance(parsed, Clarification), parsed
            said.append(" | ".join(choice.text for choice in parsed.choices))
    return said


DIALOGS: list[tuple[str, dict[str, str]]] = [
    (
        "zh",
        {
            "今年取消了多少订单？": "订单数量，时间：2026-01-01 至 2026-12-31（尚未结束），订单状态 = 已取消",
            "占比呢？": "订单数量（订单状态 = 已取消）占订单数量的百分比，时间：2026-01-01 至 2026-12-31（尚未结束）",
        },
    ),
    (
        "en",
        {
            "How many customers are there by industry?": "number of customers, by industry",
            "as a share": "share of number of customers, by industry",
            "no, I meant countries": "share of number of customers, by country",
        },
    ),
    (
        "en",
        {
            "How many customers are there in Europe?": "number of customers, region = Europe",
            "and in China?": (
                "number of customers, country = China | number of customers, region = Europe, country = China"
            ),
            "only Germany": "number of customers, region = Europe, country = Germany",
        },
    ),
    (
        "en",
        {
            "What was the revenue last month?": "revenue, time: 2026-10-01 to 2026-10-31",
            "What about the month before?": "revenue, time: 2026-09-01 to 2026-09-30",
            "and the previous month?": "revenue, time: 2026-08-01 to 2026-08-31",
            "And the year before?": "revenue, time: 2025-08-01 to 2025-08-31",
            "the month after": "revenue, time: 2025-09-01 to 2025-09-30",
        },
    ),
    (
        "en",
        {
            "What was our revenue in 2025?": "revenue, time: 2025-01-01 to 2025-12-31",
            "and in 2024?": "revenue, time: 2024-01-01 to 2024-12-31",
            "what about Germany?": "revenue, time: 2024-01-01 to 2024-12-31, country = Germany",
            "by product": "revenue, by product, time: 2024-01-01 to 2024-12-31, country = Germany",
            "top 3": "revenue, by product, first 3, time: 2024-01-01 to 2024-12-31, country = Germany",
            "and units sold?": "units sold, by product, first 3, time: 2024-01-01 to 2024-12-31, country = Germany",
        },
    ),
    (
        "zh",
        {
            "2025年德国的销售额是多少？": "销售额，时间：2025-01-01 至 2025-12-31，国家 = 德国",
            "销量呢？": "销量，时间：2025-01-01 至 2025-12-31，国家 = 德国",
            "客户有多少呢？": "客户数量",  # asks by itself
        },
    ),
    (
        "zh",
        {
            "已完成的项目有几个？": "项目数量，项目状态 = 已完成",
            "预算超过20万的有几个？": "项目数量，项目状态 = 已完成，预算 > 200000",
            "哪些项目的预算超过20万？": "项目列表，预算 > 200000",  # names the table itself
        },
    ),
    (
        "en",
        {
            "Which are the top 5 customers by revenue?": "revenue, by customer, first 5",
            "and the bottom?": "revenue, by customer, last 5",
            "bottom 2": "revenue, by customer, last 2",
        },
    ),
    (
        "en",
        {
            "revenue last month": "revenue, time: 2026-10-01 to 2026-10-31",
            "How many customers are there?": "number of customers",  # a topic of its own leaves nothing behind
        },
    ),
]
"""Language, and each turn with what it stands for."""


@pytest.mark.parametrize(("language", "turns"), DIALOGS)
def test_one_part_is_changed_and_the_rest_kept(language: str, turns: dict[str, str]) -> None:
    assert talk(language, *turns) == list(turns.values())


EARLIER = {"revenue": "What was our revenue by country in 2026?", "products": "Which products are there?"}


@pytest.mark.parametrize(
    ("earlier", "then"),
    [("revenue", "and in dollars for November?"), ("products", "only those with a list price above $500")],
)
def test_another_currency_is_asked_of_a_follow_up_in_vain(earlier: str, then: str) -> None:
    context = Context("en", TODAY)
    standing = parse(EARLIER[earlier], LEXICON, context)
    assert isinstance(standing, LogicalQuery)
    found = apply_follow_up(then, standing, LEXICON, context)
    assert isinstance(found, Unparseable)
    assert found.why == "No currency but CNY is kept here."


def test_the_currency_that_is_kept_may_be_named_in_a_follow_up() -> None:
    turns = ("What was our revenue in 2026?", "and in yuan for November?")
    assert "2026-11-01" in talk("en", *turns)[1]


def test_how_it_goes_on_is_not_guessed() -> None:
    for earlier, then in (
        ("2025年德国的销售额", "差多少？"),
        ("2025年各地区的销售额", "产品呢？"),  # by product, or how many products?
        ("revenue in 2025", "compared with last month"),
        ("今年新增了多少德国客户？", "销售额呢"),  # of this year, or of those who came then?
    ):
        context = Context("en", TODAY)
        standing = parse(earlier, LEXICON, context)
        assert isinstance(standing, LogicalQuery), earlier
        assert not isinstance(
            apply_follow_up(then, standing, LEXICON, context) or parse(then, LEXICON, context), LogicalQuery
        )


def test_a_time_stays_that_of_the_things_it_was_said_of() -> None:
    turns = ("How many customers in Norway were added this year?", "their revenue")
    assert talk("en", *turns)[1] == "revenue, time: created 2026-01-01 to 2026-12-31 (not over yet), country = Norway"
    turns = ("今年新增了多少德国客户？", "那去年的销售额呢？")
    assert talk("zh", *turns)[1] == "销售额，时间：2025-01-01 至 2025-12-31，国家 = 德国"


def test_readings_that_are_said_alike_are_no_choice() -> None:
    models = LEXICON.catalog.layer.semantic_models
    twice = tuple(
        model.model_copy(
            update={
                "dimensions": (
                    *model.dimensions,
                    Dimension.model_validate(
                        {"name": "seat", "expr": "seat", "label": {"en": "seat"}, "values": [{"value": "Riga"}]}
                    ),
                    Dimension.model_validate(
                        {"name": "site", "expr": "site", "label": {"en": "seat"}, "values": [{"value": "Riga"}]}
                    ),
                )
            }
        )
        if model.name == "customer"
        else model
        for model in models
    )
    lexicon = Lexicon.of(Catalog.of(LEXICON.catalog.layer.model_copy(update={"semantic_models": twice})))
    context = Context("en", TODAY)
    standing = parse("How many customers are there in Germany?", lexicon, context)
    assert isinstance(standing, LogicalQuery)
    assert isinstance(apply_follow_up("and in Riga?", standing, lexicon, context), Unparseable)
