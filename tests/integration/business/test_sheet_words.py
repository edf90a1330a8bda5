"""What a file is called is no other word for its rows where a column is called so; “no stock on hand” is nothing or nought."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from agent.events import StopReason
from business.spreadsheets.sources import describe
from tests.factories import make_base, make_document
from tests.integration.agent.conversations import asked, make_reader, stored, words
from tests.sharing import Share

ORDERS = "order,status\n1,open\n2,closed\n3,open\n"
STOCK = "article,on hand,checked on\nGX-7,0,2026-01-05\nGX-9,12,\nVL-2,,2026-02-06\n"


def make_sheets() -> dict[str, User]:
    """One reader for each sheet: a question is of the only one that they may read."""
    readers = {}
    for name, text in (("status.csv", ORDERS), ("articles.csv", STOCK)):
        base = make_base()
        describe(make_document(base, name, text, ingested=True).pk)
        readers[name] = make_reader(base)
    return readers


@pytest.fixture(scope="module")
def shared_sheets(share: Share) -> Callable[[], dict[str, User]]:
    return share(make_sheets)


@pytest.mark.parametrize(
    ("name", "question", "answer"),
    [
        ("status.csv", "List the status", "2 statuses: closed; open[1]"),
        ("status.csv", "How many closed?", "1 status file (closed)[1]"),
        ("articles.csv", "Which articles have no on hand?", "2 articles (on hand is empty or on hand = 0): GX-7; VL-2[1]"),
        ("articles.csv", "Which articles have no checked on?", "1 article (checked on is empty): GX-9[1]"),
    ],
)  # fmt: skip
def test_words_of_a_file_name_and_of_nothing_are_read(
    shared_sheets: Callable[[], dict[str, User]], db: None, name: str, question: str, answer: str
) -> None:
    events = asked(shared_sheets()[name], question)
    assert (stored(events).stop_reason, words(events)) == (StopReason.OK, answer)
