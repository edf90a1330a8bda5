"""What a file is called is no other word for its rows where a column is called so; “no stock on hand” is nothing or nought."""

import pytest

from agent.events import StopReason
from business.spreadsheets.sources import describe
from tests.factories import make_base, make_document
from tests.integration.agent.conversations import asked, make_reader, stored, words

pytestmark = pytest.mark.django_db
ORDERS = "order,status\n1,open\n2,closed\n3,open\n"
STOCK = "article,on hand,checked on\nGX-7,0,2026-01-05\nGX-9,12,\nVL-2,,2026-02-06\n"


def said(name: str, text: str, question: str) -> tuple[str, str]:
    base = make_base()
    describe(make_document(base, name, text, ingested=True).pk)
    events = asked(make_reader(base), question)
    return stored(events).stop_reason, words(events)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("List the status", "2 statuses: closed; open[1]"),
        ("status of order 2", "1 status (order = 2): closed[1]"),
        ("How many closed?", "1 status file (closed)[1]"),
    ],
)
def test_a_file_that_is_named_like_a_column_does_not_hide_it(question: str, answer: str) -> None:
    assert said("status.csv", ORDERS, question) == (StopReason.OK, answer)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many articles have no on hand?", "2 different articles (on hand is empty or on hand = 0)[1]"),
        ("Which articles have no on hand?", "2 articles (on hand is empty or on hand = 0): GX-7; VL-2[1]"),
        ("Which articles have no checked on?", "1 article (checked on is empty): GX-9[1]"),  # a day is there or not
    ],
)
def test_none_of_a_number_is_nothing_or_nought(question: str, answer: str) -> None:
    assert said("articles.csv", STOCK, question) == (StopReason.OK, answer)
