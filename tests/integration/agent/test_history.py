"""What a model is told of earlier turns: the latest ones, within a number of tokens, the oldest first."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from agent.conversations.history import ANSWER_CHARACTERS, TOKENS, TURNS, load_history
from agent.models import Message, MessageRole, Session
from agent.prompting import count_tokens
from authz.principal import Principal
from tests.factories import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def session() -> Session:
    return Session.objects.create(user=make_user("anna"))


def said(session: Session, *turns: str) -> None:
    """Questions and answers in turn."""
    for number, text in enumerate(turns):
        _add(session, content=text, role=MessageRole.ASSISTANT if number % 2 else MessageRole.USER)


def _add(session: Session, **columns: Any) -> Message:
    """A message after the last one."""
    return Message.objects.create(session=session, parent=session.messages.last(), **columns)


def told(session: Session) -> list[tuple[str, str]]:
    """The history of an answer that is being made now, to a question of its own."""
    _add(session, role=MessageRole.USER, content="And now?")
    answer = _add(session, role=MessageRole.ASSISTANT, is_complete=False)
    reader = Principal.of(User.objects.get(pk=session.user_id))
    return [(turn.role, turn.content) for turn in load_history(reader, session.pk, before=answer.pk)]


def test_a_short_conversation_is_told_whole_and_in_order(session: Session) -> None:
    said(session, "How many days?", "30 days.", "In Rotterdam, too?", "Yes.")
    assert told(session) == [
        ("user", "How many days?"), ("assistant", "30 days."), ("user", "In Rotterdam, too?"), ("assistant", "Yes."),
    ]  # fmt: skip


def test_what_does_not_fit_into_the_tokens_is_left_out_the_oldest_first(session: Session) -> None:
    half = "字" * (TOKENS // 2 - 50)
    said(session, f"first {half}", "A", f"second {half}", "B", f"third {half}", "C")
    found = told(session)
    assert [text[:6].strip() for _role, text in found] == ["A", "second", "B", "third", "C"]
    assert sum(count_tokens(text) for _role, text in found) <= TOKENS


def test_a_long_answer_is_told_by_its_beginning_and_old_turns_not_at_all(session: Session) -> None:
    said(session, *(f"turn {number}" for number in range(2 * TURNS)), "Tell me all.", "x" * 5_000)
    found = told(session)
    assert len(found) == TURNS
    assert found[-1] == ("assistant", "x" * ANSWER_CHARACTERS)
    assert ("user", "turn 0") not in found
