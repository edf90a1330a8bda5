"""Documents and data are both looked at, whichever the words of a question name; what both say is shown, and what neither says is
offered to choose from."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from agent import data_coverage
from agent.conversations.sessions import create_session, get_message
from agent.events import Answer, References, Reflection, StopReason
from agent.rule_routing import intents
from agent.run import Run
from agent.state import State
from agent.states import STATES
from authz.principal import Principal
from business import pipeline
from business.models import DataSource, SourceGrant
from business.parsing.base import Parsed
from business.sources import OpenSource
from tests.factories import allow, make_base, make_document
from tests.integration.agent.conversations import Floor, asked, make_reader, stored, words
from tests.integration.agent.modelled import judges, modelled, of, routes
from tests.modelserver import calls, says, says_json

CUSTOMERS = "How many customers are there?"
COUNT = {"metrics": {"name": "customer", "agg": "count"}}
DOCUMENT = "# Customers\n\nThe board counts the customers that are there once a year, in January: 12 customers.\n"
CHOIR = "What is the policy on the number of customers that sing in the choir?"
UNREAD = "The business data do not answer this: These words mean nothing in the data: sing, choir."


@pytest.fixture
def chen(demo: DataSource) -> Principal:
    """May ask the demo's data, and read one document about customers."""
    base = make_base("Board")
    make_document(base, "customers.md", DOCUMENT, ingested=True)
    allow(User.objects.get(username="chen"), base)
    return Principal.named("chen")


def nodes(events: list[Any]) -> list[str]:
    return list(dict.fromkeys(step["node"] for step in stored(events).state["trace_steps"]))


def test_what_both_say_is_shown_the_result_first(chen: Principal, floor: Floor) -> None:
    events = asked(chen, CUSTOMERS)
    references = of(events, References)[-1]
    assert [query.number for query in references.query_references] == [1]
    assert [(each.number, each.title) for each in references.knowledge_references] == [(2, "Customers")]
    assert words(events).index("[1]") < words(events).index("once a year")
    assert words(events) == stored(events).content
    assert stored(events).stop_reason == StopReason.OK


def test_documents_that_confirm_nothing_say_nothing_beside_the_data(chen: Principal, floor: Floor) -> None:
    floor(near=True)
    events = asked(chen, CUSTOMERS)
    row = stored(events)
    assert (row.stop_reason, row.provider) == (StopReason.OK, "database")
    assert of(events, References)[-1].knowledge_references == []
    assert "DocRAGTool" in nodes(events)


def test_documents_of_the_other_language_are_not_looked_at_beside_a_result(chen: Principal, floor: Floor) -> None:
    """What is found there is less certain than a result that read the whole question; whoever may not ask the data is given it."""
    floor(near=False)
    base = make_base("Berichte")
    make_document(base, "europe.md", "# 欧洲客户\n\n我们在欧洲共有 48 家客户。\n", ingested=True)
    allow(User.objects.get(username="chen"), base)
    question = "How many customers in Europe are there?"
    assert [each.title for each in of(asked(make_reader(base), question), References)[-1].knowledge_references] == [
        "欧洲客户"
    ]
    references = of(asked(chen, question), References)[-1]
    assert ([query.number for query in references.query_references], references.knowledge_references) == ([1], [])


def test_data_are_looked_at_whatever_kind_the_words_name(
    chen: Principal, floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No word of the rules for documents keeps away from the data what they read word for word."""
    floor(near=False)
    monkeypatch.setattr(intents, "_DOC", re.compile("customers"))
    monkeypatch.setattr(intents, "_SQL", re.compile("nothing"))
    assert intents.rule(CUSTOMERS).route == "DOC"
    assert of(asked(chen, CUSTOMERS), References)[-1].query_references


def test_a_result_that_was_chosen_or_goes_on_is_about_the_data_alone(chen: Principal, floor: Floor) -> None:
    session = create_session(chen)
    asked(chen, CUSTOMERS, session)
    events = asked(chen, "And in Europe?", session)
    assert "DocRAGTool" not in nodes(events)
    assert of(events, References)[-1].knowledge_references == []


def test_what_neither_confirms_is_shown_with_what_the_data_understood(chen: Principal, floor: Floor) -> None:
    floor(near=True)
    session = create_session(chen)
    events = asked(chen, "How many customers sing in the choir?", session)
    row = stored(events)
    assert (row.stop_reason, row.notice) == (StopReason.NOT_CONFIRMED, UNREAD)
    (reading,) = of(events, Answer)[-1].data["readings"]
    assert get_message(chen, session, row.pk).readings == (reading,)
    chosen = asked(chen, reading, session)
    assert of(chosen, References)[-1].query_references
    assert "customer" in stored(chosen).state["tools"]["sql"]["generated_sql"]


@pytest.mark.parametrize(("least", "is_told"), [(data_coverage.LEAST_UNDERSTOOD, False), (0.0, True)])
def test_beside_passages_nothing_is_said_of_data_that_understood_next_to_nothing(
    chen: Principal, floor: Floor, monkeypatch: pytest.MonkeyPatch, least: float, is_told: bool
) -> None:
    """“代码评审要几个人同意？” names people, and is no question on data."""
    floor(near=True)
    monkeypatch.setattr(data_coverage, "LEAST_UNDERSTOOD", least)
    row = stored(asked(chen, "How many customers have to sing along in the choir of the harbour on Friday night?"))
    assert row.stop_reason == StopReason.NOT_CONFIRMED
    assert (bool(row.notice), "explore" in row.state["plan"]) == (is_told, is_told)


def test_what_neither_finds_offers_what_the_data_understood(chen: Principal, floor: Floor) -> None:
    floor(near=False)
    events = asked(chen, "How many customers sing in the choir?")
    assert stored(events).stop_reason == StopReason.NO_EVIDENCE
    assert [event.content for event in of(events, Reflection)] == [UNREAD]
    assert len(of(events, Answer)[-1].data["readings"]) == 1


def test_a_model_s_query_that_leaves_words_unread_does_not_keep_documents_away(chen: Principal) -> None:
    """The count says nothing of January: the model that writes is shown the document, too."""
    question = "In which month does the board count the customers that are there?"
    said = "The board counts the customers that are there once a year, in January [2]."
    steps = (
        routes("SQL"),
        calls(("database_query", {"question": question})),
        says_json({"query": COUNT}),
        says("DONE"),
        says(said),
    )
    with modelled(*steps):
        events = asked(chen, question)
    assert "January" in words(events)
    assert [each.title for each in of(events, References)[-1].knowledge_references] == ["Customers"]


def test_a_model_s_query_that_reads_all_words_needs_no_documents(chen: Principal) -> None:
    steps = (
        routes("SQL"),
        calls(("database_query", {"question": CUSTOMERS})),
        says_json({"query": COUNT}),
        says("DONE"),
        says("There are many customers."),
        judges(),
    )
    with modelled(*steps):
        events = asked(chen, CUSTOMERS)
    assert "DocRAGTool" not in nodes(events)


def test_what_can_mean_several_things_to_the_data_is_asked_back_with_a_model_too(chen: Principal) -> None:
    """The model asked for data that mean two things and found nothing else: the person chooses, and no passage comes closest."""
    two = {"unclear": ["How many active customers are there?", "How many customers are there in all?"]}
    steps = (routes("SQL"), calls(("database_query", {"question": CUSTOMERS})), says_json(two), says("DONE"))
    with modelled(*steps):
        events = asked(chen, CUSTOMERS)
    assert stored(events).stop_reason == StopReason.NEED_CLARIFY
    assert len(of(events, Answer)[-1].data["readings"]) == 2


def test_a_result_stays_where_the_model_says_that_nothing_answers(chen: Principal, floor: Floor) -> None:
    floor(near=False)
    steps = (
        routes("SQL"),
        calls(("database_query", {"question": CUSTOMERS})),
        says_json({"query": COUNT}),
        says("DONE"),
    )
    with modelled(*steps, says("NO_ANSWER")):
        events = asked(chen, CUSTOMERS)
    row = stored(events)
    assert row.stop_reason == StopReason.NOT_CONFIRMED
    assert [query.number for query in of(events, References)[-1].query_references] == [1]
    assert get_message(chen, row.session, row.pk).queries[0].result is not None


def test_a_question_that_the_words_take_for_one_of_documents_is_read_once(
    chen: Principal, floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    floor(near=False)
    readings, reading = [], pipeline.reading

    def counted(opened: OpenSource, question: pipeline.Question) -> Parsed:
        readings.append((opened.source.name, question.text))
        return reading(opened, question)

    monkeypatch.setattr(pipeline, "reading", counted)
    assert "sing, choir" in stored(asked(chen, CHOIR)).notice
    whole = [name for name, text in readings if text == CHOIR]
    assert len(whole) == len(set(whole)) > 0


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


def test_little_understood_of_a_question_is_not_offered(chen: Principal, floor: Floor) -> None:
    """“Customers” alone is no reading of a question that is about much more."""
    floor(near=True)
    events = asked(chen, "How many customers complained about yesterday's unannounced maintenance of the gateway?")
    assert "readings" not in of(events, Answer)[-1].data


def test_where_a_document_answers_nobody_is_told_what_the_data_do_not_read(chen: Principal, floor: Floor) -> None:
    choir = make_base("Choir")
    make_document(choir, "choir.md", "# Choir\n\nFive customers sing in the choir.\n", ingested=True)
    allow(User.objects.get(username="chen"), choir)
    row = stored(asked(chen, "How many customers sing in the choir?"))
    assert (row.stop_reason, row.provider, row.notice) == (StopReason.OK, "extractive", "")
