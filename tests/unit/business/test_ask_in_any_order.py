"""Questions whose pieces say one thing in whatever order, or say one of them twice; where order decides, they are handed on."""

from collections.abc import Callable

import pytest

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.reading.reader import read_question
from agent.business.ask.rewording.wording import rephrased
from agent.business.ask.sql.build import build_sql
from agent.business.ask.words.items import Item, read_items
from agent.business.ask.words.lexicon import Lexicon
from tests.unit.business.test_ask import LEXICON, TODAY, sql
from tests.unit.business.test_ask_typed import FOOD, MUSIC, food, music

Ask = Callable[[str], str]


@pytest.mark.parametrize(
    ("ask", "question", "plain"),
    [
        (sql, "our newest customer is who?", "who is our newest customer?"),
        (food, "by country, how many do we have: suppliers", "number of suppliers by country"),
        (music, "Our single best customer by money spent", "the best customer by revenue"),
        (music, "longest track length, shortest", "longest and shortest track length"),
        (music, "一首歌平均多长？", "歌曲平均时长"),
        (sql, "On average, how many units does one order contain?", "average units per order"),
    ],
)
def test_what_is_said_in_another_order_or_twice_is_read(ask: Ask, question: str, plain: str) -> None:
    assert ask(question) == ask(plain)


@pytest.mark.parametrize(
    ("ask", "question"),
    [
        (food, "each: how many products suppliers"),
        (sql, "分析师，杭州，办公室有多少"),
        (sql, "销售额最高，产品，地区"),
        (sql, "budget highest, project lowest budget"),
        (sql, "who is our newest customer by revenue?"),
        (sql, "our newest customer by revenue is who?"),
        (sql, "10月的客户销售额比9月的销售额，客户"),
        (music, "average length by genre of one album"),
    ],
)
def test_what_order_alone_would_tell_is_handed_on(ask: Ask, question: str) -> None:
    with pytest.raises(NotUnderstood):
        ask(question)


def test_one_that_is_compared_is_a_number_beside_an_average_too() -> None:
    with pytest.raises(NotUnderstood, match="a condition on a figure"):
        sql("average amount of orders of customers with exactly one order")


@pytest.mark.parametrize(
    ("lexicon", "question"),
    [
        (FOOD, "how many products does each supplier have?"),
        (FOOD, "average freight by ship country in 1997"),
        (FOOD, "the 5 cheapest products"),
        (MUSIC, "how many invoices were for less than 1 dollar?"),
        (MUSIC, "which genre has the most tracks?"),
        (MUSIC, "list the name and the e-mail of the customers"),
        (LEXICON, "how many different customers placed an order in October 2026"),
        (LEXICON, "top 3 products by revenue this year"),
        (LEXICON, "各国家有多少客户？"),
        (LEXICON, "杭州办公室现在有多少人？"),
        (LEXICON, "今年每个月的销售额"),
        (LEXICON, "销售额最高的3个产品是哪些"),
    ],
)
def test_a_part_said_elsewhere_changes_nothing_or_is_not_read(lexicon: Lexicon, question: str) -> None:
    items = rephrased(read_items(question, lexicon, TODAY), lexicon)
    places = range(len(items) + 1)
    turned = [items[:a] + items[c:] + items[a:c] for a in places for c in places if a < c < len(items)]
    said = {_statement(order, lexicon) for order in turned if _statement(order, lexicon, is_free=False) is None}
    assert said <= {None, _statement(items, lexicon)}


def _statement(items: list[Item], lexicon: Lexicon, *, is_free: bool = True) -> str | None:
    try:
        return build_sql(read_question(items, lexicon, is_free=is_free), lexicon)
    except NotUnderstood:
        return None
