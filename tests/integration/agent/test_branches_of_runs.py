"""A question asked in other words begins a branch: what a model is told, and what everybody reads later, is that branch alone."""

from uuid import uuid4

import pytest

from agent.conversations.history import find_earlier_question, load_history
from agent.conversations.sessions import create_session, list_branch_messages
from agent.models import Message, Session
from agent.profiles.settings import Options
from agent.runs.follow import replay_entries
from authz.principal import Principal
from copilot_site.lib.errors import NotFound
from knowledge.models import KnowledgeBase
from tests.integration.agent.conversations import LEAVE, Handbook, asked, make_reader, stored

pytestmark = pytest.mark.django_db
SICK = "When is a sick note due?"
PARK = "Where do I park?"


class Talk:
    def __init__(self, base: KnowledgeBase) -> None:
        self.reader = make_reader(base)
        self.principal = Principal.of(self.reader)
        self.session: Session = create_session(self.principal)

    def ask(self, question: str, **place: object) -> Message:
        """The answer's row."""
        return stored(asked(self.principal, question, self.session, options=Options(**place)))  # type: ignore[arg-type]

    def told(self, answer: Message) -> list[str]:
        return [turn.content for turn in load_history(self.principal, self.session.pk, before=answer.pk)]


@pytest.fixture
def talk(handbook: Handbook) -> Talk:
    return Talk(handbook[0])


def test_a_question_follows_the_last_answer_unless_it_names_another(talk: Talk) -> None:
    first, second = talk.ask(LEAVE), talk.ask(SICK)
    third = talk.ask(PARK, follows=first.pk)
    instead = talk.ask(PARK, instead_of=first.parent_id)
    assert [row.parent.parent_id for row in (first, second, third, instead) if row.parent] == [
        None, first.pk, first.pk, None,
    ]  # fmt: skip


def test_a_model_gets_one_branch_and_a_page_shows_one_branch(talk: Talk) -> None:
    first, second = talk.ask(LEAVE), talk.ask(SICK)
    beside = talk.ask(PARK, instead_of=second.parent_id)

    def shown(through: Message | None = None) -> list[object]:
        at = through.pk if through else None
        return [message.id for message in list_branch_messages(talk.principal, talk.session, through=at)]

    assert shown() == [first.parent_id, first.pk, beside.parent_id, beside.pk], "the one that was written last"
    assert shown(second) == [first.parent_id, first.pk, second.parent_id, second.pk]
    numbers = [
        message.branches and message.branches.number for message in list_branch_messages(talk.principal, talk.session)
    ]
    assert numbers == [None, None, 2, None]
    said = first.content.removesuffix("[1]")
    assert talk.told(second) == talk.told(beside) == [LEAVE, said]
    assert talk.told(talk.ask(PARK, instead_of=first.parent_id)) == []
    earlier = find_earlier_question(talk.principal, talk.session.pk, before=beside.pk)
    assert earlier is not None
    assert earlier.question == LEAVE


def test_an_answer_that_is_told_anew_names_its_own_question(talk: Talk) -> None:
    first = talk.ask(LEAVE)
    talk.ask(SICK, instead_of=first.parent_id)
    again = talk.ask(SICK, instead_of=first.parent_id)
    assert f'"content":"{SICK}"' in replay_entries(talk.principal, talk.session.pk, again.pk)[0].body
    assert f'"content":"{LEAVE}"' in replay_entries(talk.principal, talk.session.pk, first.pk)[0].body


def test_a_place_that_is_not_in_the_conversation_is_not_found_and_nothing_is_stored(talk: Talk) -> None:
    answer = talk.ask(LEAVE)
    elsewhere = stored(asked(talk.principal, LEAVE))
    for place, wrong_kind in (("follows", answer.parent_id), ("instead_of", answer.pk)):
        for pk in (uuid4(), elsewhere.pk, elsewhere.parent_id, wrong_kind):
            with pytest.raises(NotFound):
                talk.ask(SICK, **{place: pk})
    assert Message.objects.filter(session=talk.session).count() == 2
