"""Questions whose pieces say one thing in whatever order, or say one of them twice; where order decides, they are handed on."""

from collections.abc import Callable

import pytest

from agent.business.ask.meaning import NotUnderstood
from tests.unit.business.test_ask import sql
from tests.unit.business.test_ask_typed import food, music

Ask = Callable[[str], str]


@pytest.mark.parametrize(
    ("ask", "question", "plain"),
    [
        (sql, "our newest customer is who?", "who is our newest customer?"),
        (food, "by country, how many do we have: suppliers", "number of suppliers by country"),
        (music, "Our single best customer by money spent", "the best customer by revenue"),
        (music, "longest track length, shortest", "longest and shortest track length"),
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
    ],
)
def test_what_order_alone_would_tell_is_handed_on(ask: Ask, question: str) -> None:
    with pytest.raises(NotUnderstood):
        ask(question)
