"""Data answer what they read as a whole, alone; every other question is one on documents, with the form of what the data understood."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from agent import data_coverage
from agent.conversations.sessions import create_session, get_message
from agent.events import References, StopReason
from agent.run_state.run import Run
from agent.run_state.state import State
from agent.states import STATES
from authz.principal import Principal
from business.models import DataSource, SourceGrant
from tests.factories import allow, make_base, make_document
from tests.integration.agent.conversations import Floor, asked, stored
from tests.integration.agent.modelled import modelled, of
from tests.modelserver import calls, says
from tests.sharing import Share

CUSTOMERS = "How many customers are there?"
DOCUMENT = "# Customers\n\nThe board counts the customers that are there once a year, in January: 12 customers.\n"
CHOIR = "What is the policy on the number of customers that sing in the choir?"
UNREAD = "The business data cannot answer this: These words mean nothing in the data: sing, choir."


@pytest.fixture(scope="module")
def shared_board(share: Share, shared_demo: Callable[[], DataSource]) -> Callable[[], None]:
    return share(make_board)


def make_board() -> None:
    """A document about customers, which chen reads."""
    base = make_base("Board")
    make_document(base, "customers.md", DOCUMENT, ingested=True)
    allow(User.objects.get(username="chen"), base)


@pytest.fixture
def chen(demo: DataSource, shared_board: Callable[[], None]) -> Principal:
    """May ask the demo's data, and read one document about customers."""
    return Principal.named("chen")


def nodes(events: list[Any]) -> list[str]:
    return list(dict.fromkeys(step["node"] for step in stored(events).state["trace_steps"]))


def test_passages_are_never_mixed_into_a_data_answer(chen: Principal) -> None:
    """Nor into one that goes on from it."""
    session = create_session(chen)
    for question in (CUSTOMERS, "And in Europe?"):
        events = asked(chen, question, session)
        row = stored(events)
        assert (row.stop_reason, row.provider) == (StopReason.OK, "database")
        assert of(events, References)[-1].knowledge_references == []
        assert "DocRAGTool" not in nodes(events)


def test_what_the_data_do_not_read_is_shown_from_documents_with_the_form_and_the_word_that_is_missing(
    chen: Principal,
) -> None:
    row = stored(asked(chen, "How many customers sing in the choir?"))
    assert (row.state["output"]["kind"], row.notice) == ("passages", UNREAD)
    assert row.state["plan"]["explore"]["query"]
    assert get_message(chen, row.session, row.pk).explore


def test_beside_passages_nothing_is_said_of_data_to_a_question_how_or_why(chen: Principal, floor: Floor) -> None:
    floor(near=True)
    for question, is_told in (("How long do customers wait?", False), ("How many customers wait?", True)):
        row = stored(asked(chen, question))
        assert (row.state["output"]["kind"], bool(row.notice)) == ("passages", is_told)


def test_beside_passages_nothing_is_said_of_data_that_understood_next_to_nothing(
    chen: Principal, floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """“代码评审要几个人同意？” names people, and is no question on data."""
    floor(near=True)
    for least, is_told in ((data_coverage.MIN_UNDERSTOOD, False), (0.0, True)):
        monkeypatch.setattr(data_coverage, "MIN_UNDERSTOOD", least)
        row = stored(asked(chen, "How many customers have to sing along in the choir of the harbour on Friday night?"))
        assert row.state["output"]["kind"] == "passages"
        assert (bool(row.notice), "explore" in row.state["plan"]) == (is_told, is_told)


def test_a_result_stays_where_the_model_says_that_nothing_answers(chen: Principal) -> None:
    with modelled(calls(("database_query", {"sql": "SELECT count(*) FROM customer"})), says("NO_ANSWER")):
        events = asked(chen, CUSTOMERS)
    row = stored(events)
    assert row.stop_reason == StopReason.OK
    assert len(of(events, References)[-1].query_references) == 1
    assert get_message(chen, row.session, row.pk).queries[0].result is not None


def test_why_the_data_do_not_answer_is_told_to_whoever_may_ask_them_still(
    chen: Principal, floor: Floor, demo: DataSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The right may end while documents are searched."""
    floor(near=False)

    validate = STATES[State.VALIDATE_EVIDENCE]

    async def take_away_and_validate(run: Run) -> AsyncIterator[Any]:
        await sync_to_async(SourceGrant.objects.filter(source=demo).delete)()
        async for item in validate(run):
            yield item

    monkeypatch.setitem(STATES, State.VALIDATE_EVIDENCE, take_away_and_validate)
    row = stored(asked(chen, CHOIR))
    assert (row.stop_reason, row.notice, row.state["plan"].get("explore")) == (StopReason.NO_EVIDENCE, "", None)
