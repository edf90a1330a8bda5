"""Sessions and messages: a question over HTTP walks the same run as one over the socket."""

from typing import Any
from uuid import uuid4

import pytest
from rest_framework.test import APIClient

from agent.models import Message
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from authz.rights.grants import revoke_rights
from tests.factories import allow, make_base, make_document, make_folder, make_user
from tests.integration.rest.world import signed_in
from tests.sharing import share_world

pytestmark = pytest.mark.django_db

TRAVEL = "# Travel expenses\n\nThe daily limit for taxis is 300 yuan. Receipts are handed in within ten days."
OTHER = (
    "# Canteen\n\nThe canteen opens at eleven and serves soup and rice.",
    "# Printers\n\nThe printer on the third floor takes A4 paper only.",
    "# Meeting rooms\n\nBook a room in the calendar before noon.",
)


class Desk:
    """A reader with a conversation, and a folder of four documents, one of which is about travel."""

    def __init__(self) -> None:
        self.base = make_base()
        self.folder = make_folder(self.base)
        self.document = make_document(self.folder, "travel.md", TRAVEL, ingested=True)
        for text in OTHER:
            make_document(self.folder, content=text, ingested=True)
        self.reader = make_user("reader")
        allow(self.reader, self.folder)
        self.client: APIClient = signed_in(self.reader)
        self.session = self.client.post("/api/v1/sessions").json()
        self.messages = f"/api/v1/sessions/{self.session['id']}/messages"

    def ask(self, query: str = "What is the daily limit for taxis?", **more: Any) -> dict[str, Any]:
        answer = self.client.post(self.messages, {"query": query, **more}, format="json")
        assert answer.status_code == 201, answer.content
        return dict(answer.json())


shared_desk, desk = share_world("desk", Desk)


def test_an_answer_cites_the_passage_it_comes_from_and_is_recorded(desk: Desk) -> None:
    answer = desk.ask()
    assert (answer["role"], answer["stop_reason"], answer["is_complete"]) == ("assistant", "ok", True)
    assert "300" in answer["content"]
    citation = answer["citations"][0]
    assert (citation["number"], citation["knowledge_id"]) == (1, str(desk.document.pk))
    assert "300" in citation["snippet"]
    assert citation["is_current"]
    assert any(1 in sentence["citations"] for sentence in answer["sentences"])
    entries = Entry.objects.filter(run_id=answer["id"]).order_by("id")
    assert [entry.action for entry in entries] == [Action.QUESTION_ASKED, Action.QUESTION_ANSWERED]
    assert entries[1].detail["cited"] == [citation["evidence_id"] for citation in answer["citations"]]


def test_without_the_right_an_old_answer_is_masked_and_a_new_one_an_honest_no(desk: Desk) -> None:
    desk.ask()
    revoke_rights(None, [Right.VIEW], desk.folder, of=desk.reader)
    fresh = desk.ask()
    assert (fresh["stop_reason"], fresh["citations"]) == ("no_evidence", [])
    assert "300" not in fresh["content"]
    answer = desk.client.get(desk.messages).json()["results"][1]
    assert (answer["content"], answer["citations"]) == ("", [])
    assert "300 yuan" not in str(answer)
    assert all(sentence["is_masked"] for sentence in answer["sentences"])


def test_the_conversation_is_read_in_order_and_has_a_title(desk: Desk) -> None:
    questions = [f"What is the daily limit for taxis, question {number}?" for number in range(3)]
    for question in questions:
        desk.ask(question)
    path, rows = f"{desk.messages}?page_size=4", []
    while path:
        page = desk.client.get(path).json()
        rows += page["results"]
        path = page["next"]
    assert [row["role"] for row in rows] == ["user", "assistant"] * 3
    assert [row["content"] for row in rows[::2]] == questions
    assert desk.client.get(f"/api/v1/sessions/{desk.session['id']}").json()["title"] == questions[0]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "query: "),
    ({"query": "x", "knowledge_ids": ["x"]}, "knowledge_ids.0: "),
    ({"query": "x", "agent_enabled": True}, "agent_enabled"),
    ({"query": "\u200b"}, "The question is empty"),
    ({"query": "字" * 20_000}, "at most 4000 characters"),
]


def test_a_wrong_question_is_refused_in_words_and_leaves_nothing(desk: Desk) -> None:
    for body, said in WRONG:
        answer = desk.client.post(desk.messages, body, format="json")
        assert (answer.status_code, said in answer.json()["detail"]) == (400, True), answer.json()
    assert not Message.objects.exists()


def test_a_deleted_conversation_is_gone_with_its_messages(desk: Desk) -> None:
    desk.ask()
    assert desk.client.delete(f"/api/v1/sessions/{desk.session['id']}").status_code == 204
    assert not Message.objects.exists()
    gone, never = (desk.client.get(f"/api/v1/sessions/{pk}") for pk in (desk.session["id"], uuid4()))
    assert (gone.status_code, gone.content) == (404, never.content)
