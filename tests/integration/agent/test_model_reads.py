"""Where nothing stands of what a model wrote, it says which words of the documents answer, and only words that stand there count."""

import pytest

from agent.events import StopReason
from tests.integration.agent.conversations import LEAVE, Judged, asked, make_library, make_reader, stored, words
from tests.integration.agent.modelled import DONE, SEARCH, judges, modelled, reads, routes, sent
from tests.modelserver import Step, says

pytestmark = pytest.mark.django_db
WRONG = says("They have 99 days [1].")


def test_the_sentence_that_holds_the_words_is_quoted_as_the_answer() -> None:
    base, _manual, secret = make_library()
    with modelled(routes(), SEARCH, DONE, WRONG, judges(), reads(1, "30 days of annual leave")) as server:
        events = asked(make_reader(base), LEAVE)
    assert words(events) == "Employees have 30 days of annual leave in each calendar year.[1]"
    row = stored(events)
    assert (row.stop_reason, row.provider) == (StopReason.OK, "extractive")
    assert "read.en" in row.prompts
    assert all(secret.title not in sent(request) for request in server.requests)


@pytest.mark.parametrize("said", [reads(1, "99 days of annual leave"), reads(7, "30 days"), reads(), says("no JSON")])
def test_words_that_stand_nowhere_confirm_nothing(said: Step, judged: Judged) -> None:
    judged(confirms=True, near=True)
    base, _manual, _secret = make_library()
    more = [said] * 2 if said.deltas[0].get("content") == "no JSON" else [said]  # asked once more for JSON
    with modelled(routes(), SEARCH, DONE, WRONG, judges(), *more):
        events = asked(make_reader(base), LEAVE)
    assert stored(events).stop_reason == StopReason.NOT_CONFIRMED
    assert "99 days" not in words(events)
