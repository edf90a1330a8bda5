"""What people say about their answers, and what a message tells of how its answer was made."""

from typing import Any

import pytest
from django.urls import reverse

from agent.models import Message
from audit.actions import Action
from audit.models import Entry
from tests.factories import make_user
from tests.integration.agent.conversations import LEAVE, asked, make_library, make_reader, stored
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.integration.pages.house import client_of
from tests.integration.rest.world import signed_in
from tests.modelserver import calls, says
from tests.sharing import share_world

pytestmark = pytest.mark.django_db


class Asked:
    """A reader and an answer of theirs that a model made with two calls, one of which failed."""

    def __init__(self) -> None:
        base, _manual, _secret = make_library()
        self.reader = make_reader(base)
        wrong = calls(("grep_chunks", {"patterns": ["("]}))
        with modelled(SEARCH, wrong, says(THIRTY)):
            self.row = stored(asked(self.reader, LEAVE))
        self.client = signed_in(self.reader)
        self.path = f"/api/v1/sessions/{self.row.session_id}/feedback"

    def rate(self, **body: Any) -> Any:
        return self.client.post(self.path, {"message_id": str(self.row.pk), **body}, format="json")


shared_answered, answered = share_world("answered", Asked)


def test_an_answer_is_rated_rated_anew_and_the_rating_taken_back(answered: Asked) -> None:
    for rating, comment in (("not_helpful", "The limit is an old one."), ("helpful", ""), ("", "")):
        told = answered.rate(rating=rating, comment=comment).json()
        assert (told["rating"], told["comment"]) == (rating, comment)
        answered.row.refresh_from_db()
        assert (answered.row.rating, answered.row.comment) == (rating, comment)
    entries = Entry.objects.filter(action=Action.ANSWER_RATED).order_by("id")
    assert [entry.detail["rating"] for entry in entries] == ["not_helpful", "helpful", ""]
    assert {entry.run_id for entry in entries} == {str(answered.row.pk)}
    assert "old one" not in str([entry.detail for entry in entries])


NO_RATINGS: list[tuple[dict[str, Any], str]] = [
    ({"rating": "great"}, "rating"),
    ({"rating": "helpful", "comment": "x" * 1_001}, "comment"),
    ({"rating": "", "comment": "why"}, "a comment needs a rating"),
    ({"rating": "helpful", "stars": 5}, "stars"),
]


def test_what_is_no_rating_is_refused_and_changes_nothing(answered: Asked) -> None:
    for body, said in NO_RATINGS:
        answer = answered.rate(**body)
        assert (answer.status_code, said in answer.json()["detail"]) == (400, True), body
    answered.row.refresh_from_db()
    assert (answered.row.rating, answered.row.comment) == ("", "")


def test_nobody_rates_another_s_answer_or_a_question(answered: Asked) -> None:
    question = Message.objects.get(session_id=answered.row.session_id, role="user")
    assert answered.rate(rating="helpful", message_id=str(question.pk)).status_code == 404
    answered.client = signed_in(make_user())
    assert answered.rate(rating="helpful").status_code == 404
    answered.row.refresh_from_db()
    assert answered.row.rating == ""


def test_the_page_rates_and_asks_why(answered: Asked) -> None:
    client: Any = client_of(answered.reader)
    path = reverse("feedback", args=[answered.row.session_id, answered.row.pk])
    conversation = reverse("conversation", args=[answered.row.session_id])
    assert "Give a reason" not in client.get(conversation).content.decode()
    answer = client.post(path, {"rating": "not_helpful"})
    branch = reverse("conversation-at", args=[answered.row.session_id, answered.row.pk])
    assert (answer.status_code, answer["Location"]) == (302, f"{branch}#m-{answered.row.pk}")
    page = client.get(conversation).content.decode()
    assert 'value="" aria-pressed="true" aria-label="This answer did not help"' in page
    assert "Give a reason" in page
    client.post(path, {"rating": "not_helpful", "comment": "Out of date."})
    assert "Out of date." in client.get(conversation).content.decode()
    client.post(path, {"rating": ""})
    answered.row.refresh_from_db()
    assert (answered.row.rating, answered.row.comment) == ("", "")
    assert client.post(path, {"rating": "great"}).status_code == 400


def test_a_message_tells_its_tool_calls_and_times_and_no_arguments(answered: Asked) -> None:
    rows = answered.client.get(f"/api/v1/sessions/{answered.row.session_id}/messages").json()["results"]
    question, answer = rows
    assert (question["tool_calls"], question["duration_ms"], question["rating"]) == ([], None, "")
    assert [(call["name"], call["success"], call["problem"]) for call in answer["tool_calls"]] == [
        ("rag_retriever", True, ""),
        ("knowledge_search", True, ""),
        ("grep_chunks", False, "InvalidInput"),
    ]
    assert answer["tool_calls"][0]["evidence_added"] >= 1
    assert all(call["duration_ms"] > 0 for call in answer["tool_calls"])
    assert answer["duration_ms"] == answered.row.duration_ms
    assert "annual leave days" not in str(answer["tool_calls"])
