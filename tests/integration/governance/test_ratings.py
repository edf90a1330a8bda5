"""Who may read what people say about their answers, how the list is narrowed, and what the audit log has of it."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from agent.events import StopReason
from agent.models import Message, Rating, Role, Session
from audit.actions import Action
from audit.models import Entry
from tests.factories import make_user
from tests.integration.governance.world import client_of, text_of

pytestmark = pytest.mark.django_db
QUESTION, ANSWER = "How many days of leave are there?", "There are 30 days of leave."


def rated(user: User, rating: str, comment: str = "", *, days_ago: int = 0) -> Message:
    session = Session.objects.create(user=user)
    asked = Message.objects.create(session=session, role=Role.USER, content=QUESTION)
    answer = Message.objects.create(
        session=session,
        parent=asked,
        role=Role.ASSISTANT,
        content=ANSWER,
        stop_reason=StopReason.OK,
        rating=rating,
        comment=comment,
    )
    Message.objects.filter(pk=answer.pk).update(created_at=timezone.now() - timedelta(days=days_ago))
    return answer


@pytest.fixture
def ratings() -> dict[str, Message]:
    anna, ben = make_user("anna"), make_user("ben")
    return {
        "praise": rated(anna, Rating.HELPFUL),
        "old": rated(anna, Rating.NOT_HELPFUL, "An old limit.", days_ago=40),
        "wrong": rated(ben, Rating.NOT_HELPFUL, "It is 31 days <b>now</b>."),
        "silent": rated(ben, ""),
    }


def listed(viewer: User, **filters: Any) -> set[Any]:
    return {row.pk for row in client_of(viewer).get(reverse("ratings"), filters).context["lines"]}


def test_the_list_is_narrowed(ratings: dict[str, Message], overseer: User) -> None:
    rows: list[tuple[dict[str, str], set[str]]] = [
        ({}, {"praise", "old", "wrong"}),
        ({"rating": "not_helpful", "user": "ben"}, {"wrong"}),
        ({"days": "30"}, {"praise", "wrong"}),
        ({"comment": "1"}, {"old", "wrong"}),
        ({"rating": "superb", "days": "x", "comment": "no", "page": "z"}, {"praise", "old", "wrong"}),
    ]
    for filters, expected in rows:
        assert listed(overseer, **filters) == {ratings[name].pk for name in expected}, filters


def test_it_tells_words_and_counts_and_neither_question_nor_answer(ratings: dict[str, Message], overseer: User) -> None:
    page = client_of(overseer).get(reverse("ratings"))
    text = text_of(page)
    assert "1 helpful, 2 not helpful" in text
    assert "It is 31 days &lt;b&gt;now&lt;/b&gt;." in text
    assert QUESTION not in text
    assert ANSWER not in text
    assert reverse("replay", args=[ratings["wrong"].pk]) in page.content.decode()


def test_reading_peoples_words_is_recorded_and_a_list_without_any_is_not(
    ratings: dict[str, Message], overseer: User
) -> None:
    listed(overseer, rating="helpful")
    assert not Entry.objects.filter(action=Action.RATINGS_READ).exists()
    listed(overseer)
    entry = Entry.objects.get(action=Action.RATINGS_READ)
    assert entry.actor_name == "olga"
    assert set(entry.detail["answers"]) == {str(ratings["old"].pk), str(ratings["wrong"].pk)}
    assert "limit" not in str(entry.detail)
