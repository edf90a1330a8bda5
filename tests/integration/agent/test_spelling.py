"""A question with a slip is read without it, and that is said; what it is read as never depends on hidden documents."""

import pytest

from tests.factories import make_base, make_document
from tests.integration.agent.conversations import Handbook, asked, make_reader, stored, words

pytestmark = pytest.mark.django_db
SLIP = "How many days of anual leave do employees have?"


def test_a_slip_is_read_without_it_which_is_said_and_no_hidden_document_changes_that(handbook: Handbook) -> None:
    base, _manual, _secret = handbook
    reader = make_reader(base)
    events = asked(reader, SLIP)
    assert "30 days" in words(events)
    assert stored(events).notice == "I read: How many days of annual leave do employees have?"
    make_document(make_base("Closed"), "anual.md", "The anual is a list of ours.", ingested=True)
    again = asked(reader, SLIP)
    assert (words(again), stored(again).notice[:7]) == (words(events), "I read:")
