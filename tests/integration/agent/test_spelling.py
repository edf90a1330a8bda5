"""A question with a slip is read without it, and that is said; what it is read as never depends on hidden documents."""

import pytest

from tests.factories import make_base, make_document
from tests.integration.agent.conversations import Handbook, asked, make_reader, stored, words

pytestmark = pytest.mark.django_db
SLIP = "How many days of anual leave do employees have?"


def test_what_it_was_read_as_is_said_beside_the_answer(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    events = asked(make_reader(base), SLIP)
    assert "30 days" in words(events)
    assert stored(events).notice == "I read: How many days of annual leave do employees have?"


def test_a_hidden_document_that_says_the_word_changes_nothing(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    reader = make_reader(base)
    before = words(asked(reader, SLIP))
    make_document(make_base("Closed"), "anual.md", "The anual is a list of ours.", ingested=True)
    events = asked(reader, SLIP)
    assert (words(events), stored(events).notice[:7]) == (before, "I read:")
