"""Quotations that are ready together are sent together, after one look at the rights; a right that ended takes its own with it."""

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.db import transaction

from agent.conversations.sessions import create_session
from agent.events import Event
from agent.profiles.settings import Options
from agent.runs.run import iterate_run_events
from agent.runs.start import prepare_run
from authz.principal import Principal
from knowledge.retrieval.search import Scope
from tests.integration.agent.test_revocation import QUESTION, Library, Moment, looks_again, told

pytestmark = pytest.mark.django_db


def walk(library: Library, k: int | None) -> tuple[Moment, list[tuple[bool, Event]]]:
    """Answer for a log, whose readers look again; the right ends before the k-th statement."""
    principal = Principal.of(library.reader)
    moment, session = Moment(k, library.revoke_right), create_session(principal)

    async def collect() -> list[tuple[bool, Event]]:
        run = await sync_to_async(prepare_run)(
            principal, session.pk, QUESTION, scope=Scope(), language="en", options=Options()
        )
        return [(moment.has_come, event) async for event in iterate_run_events(run)]

    with transaction.atomic(), moment.watched():
        events = async_to_sync(collect)()
        transaction.set_rollback(True)
    return moment, events


def test_sentences_share_one_look_and_none_is_sent_whose_right_ended_before_it() -> None:
    library = Library()
    whole, events = walk(library, None)
    sentences = [event for _come, event in events if event.response_type == "answer" and event.content]
    assert len(sentences) == 3, "the heading, and a sentence of each document"
    looks = [k for k, sql in enumerate(whole.statements) if looks_again(sql)]
    assert len(looks) == 3, "before the choice, the references, the sentences"
    for k in looks:
        _moment, events = walk(library, k)
        assert told(events) == []
        assert "four weeks" in "".join(event.content for _come, event in events if event.response_type == "answer")
        assert events[-1][1].response_type == "complete"
