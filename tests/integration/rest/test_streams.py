"""Live answers over HTTP: every field of a question works or is refused with its reason, and a stream is taken up where it was left."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from redis import Redis
from rest_framework.test import APIClient

from agent.models import AgentProfile, LanguageModel, Message, Session
from agent.runs.leases import build_stop_key
from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import issue_token
from tests.factories import allow, make_base, make_document, make_user
from tests.integration.agent.modelled import modelled
from tests.integration.rest.world import signed_in
from tests.modelserver import calls, says
from tests.sharing import share_world
from tests.tokens import client_with

pytestmark = pytest.mark.django_db
TAXIS = "What is the daily limit for taxis?"
LIMIT = "The daily limit for taxis is 300 yuan [1]."
SEARCH = calls(("knowledge_search", {"queries": ["daily limit taxis"]}))


class Desk:
    """A reader of two bases, in one of which stands what they ask."""

    def __init__(self) -> None:
        self.reader = make_user("reader")
        self.base, self.other = make_base("Travel"), make_base("Canteen")
        self.document = make_document(
            self.base, "travel.md", "# Travel\n\nThe daily limit for taxis is 300 yuan.", ingested=True
        )
        self.menu = make_document(self.other, "menu.md", "# Canteen\n\nSoup and rice at eleven.", ingested=True)
        for base in (self.base, self.other):
            allow(self.reader, base)
        self.client: APIClient = signed_in(self.reader)
        self.session_id = self.client.post("/api/v1/sessions").json()["id"]

    def post(self, kind: str = "knowledge", **body: Any) -> Any:
        return self.client.post(f"/api/v1/{kind}-chat/{self.session_id}", {"query": TAXIS, **body}, format="json")

    def ask(self, kind: str = "knowledge", **body: Any) -> list[dict[str, Any]]:
        answer = self.post(kind, **body)
        assert answer.status_code == 200, answer.content
        return events(answer)

    def again(self, message_id: str, query: str = "", **headers: str) -> Any:
        path = f"/api/v1/sessions/continue-stream/{self.session_id}?message_id={message_id}{query}"
        return self.client.get(path, headers=headers)


def events(answer: Any) -> list[dict[str, Any]]:
    """The frames of a stream, each checked to be one."""
    assert answer["Content-Type"] == "text/event-stream; charset=utf-8"
    found = []
    for frame in b"".join(answer).decode().split("\n\n"):
        if frame and not frame.startswith(":"):
            seq, kind, data = frame.split("\n")
            event = json.loads(data.removeprefix("data: "))
            assert (seq, kind) == (f"id: {event['seq']}", "event: message")
            found.append(event)
    return found


def types(found: list[dict[str, Any]]) -> list[str]:
    return [event["response_type"] for event in found]


shared_desk, desk = share_world("desk", Desk)


def test_an_answer_comes_as_events_and_ends_once(desk: Desk) -> None:
    found = desk.ask()
    assert [event["seq"] for event in found] == list(range(len(found)))
    assert types(found)[0] == "agent_query"
    assert [kind for kind in types(found) if kind in {"complete", "error"}] == ["complete"]
    assert found[-1]["data"]["stop_reason"] == "ok"
    assert Message.objects.get(pk=found[0]["assistant_message_id"]).is_complete


def test_agents_choose_tools_and_knowledge_chat_searches_once(desk: Desk) -> None:
    with modelled(says(LIMIT)):
        assert "tool_call" not in types(desk.ask())
    for kind, body in (("agent", {}), ("knowledge", {"agent_enabled": True}), ("agent", {"agent_enabled": True})):
        with modelled(SEARCH, says(LIMIT)):
            assert "tool_call" in types(desk.ask(kind, **body)), (kind, body)


def test_knowledge_bases_and_documents_narrow(desk: Desk) -> None:
    for scope in ({"knowledge_base_ids": [str(desk.other.pk)]}, {"knowledge_ids": [str(desk.menu.pk)]}):
        assert "300 yuan" not in str(desk.ask("knowledge", **scope)), scope
    for scope in ({"knowledge_base_ids": [str(desk.base.pk)]}, {"knowledge_ids": [str(desk.document.pk)]}):
        assert "300 yuan" in str(desk.ask("knowledge", **scope)), scope


def test_a_profile_and_a_model_are_used(desk: Desk) -> None:
    profile = AgentProfile.objects.create(name="menu only", uses_tools=False)
    profile.knowledge_bases.add(desk.other)
    assert "300 yuan" not in str(desk.ask("agent", agent_id=str(profile.pk)))
    with modelled(says(LIMIT)) as server:
        LanguageModel.objects.create(name="Big", base_url=server.base_url, model="big-1")
        found = desk.ask(summary_model_id="Big")
    assert {request["model"] for request in server.requests} == {"big-1"}
    assert Message.objects.get(pk=found[0]["id"]).provider == "Big"


def test_a_title_comes_with_the_first_answer_or_not_at_all(desk: Desk) -> None:
    assert "session_title" not in types(desk.ask(disable_title=True))
    assert Session.objects.get().title == ""
    assert [event["content"] for event in desk.ask() if event["response_type"] == "session_title"] == [TAXIS]


def test_null_in_a_field_is_the_field_left_out(desk: Desk) -> None:
    """A program in Go writes a list without elements so, the specification's own client too."""
    fields = (
        "knowledge_base_ids",
        "knowledge_ids",
        "agent_id",
        "web_search_enabled",
        "summary_model_id",
        "disable_title",
    )
    found = desk.ask("knowledge", agent_enabled=None, **dict.fromkeys(fields))
    assert "300 yuan" in "".join(event["content"] for event in found if event["response_type"] == "answer")
    assert desk.post(query=None).status_code == 400
    searched = {"query": TAXIS, "knowledge_base_ids": None, "knowledge_ids": None, "top_k": None}
    hits = desk.client.post("/api/v1/knowledge-search", searched, format="json").json()["hits"]
    assert "300 yuan" in hits[0]["content"]


REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    ("knowledge", {"web_search_enabled": True}, 400, "does not search the web"),
    ("agent", {"agent_enabled": False}, 400, "use knowledge-chat"),
    ("knowledge", {"agent_id": "nope"}, 404, "no assistant “nope”"),
    ("knowledge", {"summary_model_id": "nope"}, 400, "no language model “nope”"),
    ("knowledge", {"query": "x" * 5_000}, 400, "at most 4000 characters"),
    ("knowledge", {"knowledge_base_ids": ["kb-123"]}, 400, "knowledge_base_ids"),
    ("knowledge", {"knowledge_id": []}, 400, "Did you mean “knowledge_ids”?"),
]


def test_what_does_not_work_is_refused_before_the_first_event(desk: Desk) -> None:
    for kind, body, status, said in REFUSED:
        answer = desk.post(kind, **body)
        assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json"), body
        assert said in answer.json()["detail"]
    path = f"/api/v1/knowledge-chat/{desk.session_id}"
    answer = desk.client.post(path, {}, format="json", headers={"Accept": "text/event-stream"})
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    token = client_with(issue_token(Principal.of(desk.reader), name="x", scopes=[TokenScope.SEARCH])[1])
    assert token.post(path, {"query": TAXIS}, format="json").status_code == 403
    assert not Message.objects.exists()


def test_an_answer_is_taken_up_where_it_was_left(desk: Desk) -> None:
    whole = desk.ask()
    message_id = whole[0]["assistant_message_id"]
    assert events(desk.again(message_id)) == whole
    assert events(desk.again(message_id, "&offset=2")) == whole[2:]
    assert events(desk.again(message_id, **{"Last-Event-ID": "1"})) == whole[2:]
    assert events(desk.again(message_id, "&offset=0", **{"Last-Event-ID": "1"})) == whole[2:], "a browser's own header"
    assert events(desk.again(message_id, "&offset=9999")) == whole
    for query, headers in (("&offset=-1", {}), ("&from=2", {}), ("", {"Last-Event-ID": "x"})):
        assert desk.again(message_id, query, **headers).status_code == 400
    stop = desk.client.post(f"/api/v1/sessions/{desk.session_id}/stop", {"message_id": message_id}, format="json")
    assert stop.json() == {"message_id": message_id, "is_stopping": False}, "it is complete"


def test_a_question_that_waits_for_its_answer_is_stopped_like_others(desk: Desk) -> None:
    with modelled(says("", hang="before")) as server, ThreadPoolExecutor(1) as beside:

        def stop() -> None:
            assert server.asked.wait(300)
            with Redis.from_url(settings.REDIS_URL, protocol=2) as valkey:
                for key in valkey.keys("run:*:lease"):
                    valkey.set(build_stop_key(UUID(key.decode().split(":")[1])), "1", ex=60)

        stopping = beside.submit(stop)
        answer = desk.client.post(f"/api/v1/sessions/{desk.session_id}/messages", {"query": TAXIS}, format="json")
        stopping.result()
    assert (answer.status_code, answer.json()["stop_reason"]) == (201, "cancelled")


def test_nobody_else_asks_reads_or_stops_here(desk: Desk) -> None:
    message_id = desk.ask()[0]["assistant_message_id"]
    desk.client = signed_in(make_user())
    stop = desk.client.post(f"/api/v1/sessions/{desk.session_id}/stop", {"message_id": message_id}, format="json")
    assert [answer.status_code for answer in (desk.post(), desk.again(message_id), stop)] == [404] * 3
