"""A conversation in which a tool outside wants to change something: the person sees what is sent, says yes or no, and it goes on."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.utils import timezone

from agent.models import AgentProfile, McpService, Message, Session, ToolApproval, WebHost, WebSearchProvider
from agent.runs.run import _launched
from audit.models import Entry
from tests.factories import make_user
from tests.integration.agent.modelled import THIRTY, is_judged, modelled, sent
from tests.integration.client.desk import SEARCH, Desk
from tests.integration.mcp.outside import set_up, switched_on
from tests.mcp_service import Service, serving_tools
from tests.modelserver import Request, Step, calls, says
from tests.site_server import serving_pages
from tests.waiting import wait_for
from tests.web_search import Engine, hit
from tests.web_search import set_up as set_up_search

MAKE, FIND = "mcp_desk_make_ticket", "mcp_desk_find_tickets"
QUESTION = "Please make a ticket for the broken printer."
WANTS = calls((MAKE, {"subject": "printer is broken"}))
MADE = "Ticket 4712 was made: printer is broken [1]."
NORWAY = "What does the law of Norway say about annual leave?"
PATIENCE_S = 60


@pytest.fixture(autouse=True)
def loopback() -> Iterator[None]:
    with override_settings(OUTGOING_ALLOW=("localhost",)):
        yield


@pytest.fixture
def service() -> Iterator[Service]:
    with serving_tools() as service:
        yield service


@dataclass
class Person:
    """Somebody at the pages of the served product."""

    desk: Desk
    http: httpx.Client

    def asks(self, question: str) -> list[dict[str, Any]]:
        """The events of a question in a new conversation."""
        made = self.http.post("/api/v1/sessions", json={}, headers=self.token)
        made.raise_for_status()
        answer = self.http.post(f"/api/v1/agent-chat/{made.json()['id']}", json={"query": question}, headers=self.token)
        return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]

    @property
    def token(self) -> dict[str, str]:
        return {"X-CSRFToken": self.http.cookies[settings.CSRF_COOKIE_NAME]}

    def page(self) -> str:
        session = Session.objects.get()
        return self.http.get(f"/chat/{session.pk}/").text

    def says(self, decision: str, approval: ToolApproval) -> int:
        return self.http.post(
            f"/chat/approvals/{approval.pk}/", data={"decision": decision}, headers=self.token
        ).status_code


def at_the_page(desk: Desk, user: Any) -> Person:
    browser = Client()
    browser.force_login(user)
    http = httpx.Client(base_url=desk.url, timeout=PATIENCE_S, headers={"Referer": desk.url})
    http.cookies.set(settings.SESSION_COOKIE_NAME, browser.cookies[settings.SESSION_COOKIE_NAME].value)
    http.get("/chat/all/").raise_for_status()
    return Person(desk, http)


@pytest.fixture
def person(desk: Desk) -> Iterator[Person]:
    person = at_the_page(desk, desk.reader)
    yield person
    person.http.close()


def answered() -> Message:
    """The last answer, when it is complete."""

    def last() -> Message:
        return Message.objects.filter(role="assistant").order_by("-created_at", "-id")[0]

    wait_for("the whole answer", lambda: last().is_complete and not _launched)
    return last()


def test_the_person_is_asked_first_and_what_they_allow_is_done_once(person: Person, service: Service) -> None:
    set_up(service)
    switched_on(MAKE)
    with modelled(WANTS):
        events = person.asks(QUESTION)
    (asked,) = [event for event in events if event["response_type"] == "answer"]
    approval = ToolApproval.objects.get()
    assert asked["data"]["approval"] == {"id": str(approval.pk), "tool": MAKE, "title": "desk: Make a ticket"}
    assert events[-1]["data"]["stop_reason"] == "need_clarify"
    page = person.page()
    assert "printer is broken" in page
    assert f"/chat/approvals/{approval.pk}/" in page
    check_that_nobody_else_decides(person, approval)
    check_that_it_does_not_wait_for_ever(person, approval)
    assert service.made == []
    with modelled(says(MADE)) as model:
        assert person.says("allow", approval) == 302
        answer = answered()
    assert service.made == [("make_ticket", {"subject": "printer is broken"})]
    assert answer.stop_reason == "ok", answer.content
    assert answer.content.startswith("Ticket 4712 was made: printer is broken")
    assert "Ticket 4712" in sent(model.requests[0]), "the model goes on from what the call brought"
    page = person.page()
    assert "Ticket 4712 was made" in page
    assert "From outside the company, by the service desk" in page
    assert f'action="/chat/approvals/{approval.pk}/"' not in page, "it is decided once"
    assert person.says("allow", approval) == 409
    assert service.made == [("make_ticket", {"subject": "printer is broken"})]
    recorded = Entry.objects.filter(action__startswith="approval.").order_by("id")
    assert list(recorded.values_list("action", "outcome")) == [
        ("approval.asked", "allow"),
        ("approval.decided", "allow"),
    ]
    assert "printer" not in json.dumps(list(recorded.values_list("detail")))


def check_that_nobody_else_decides(person: Person, approval: ToolApproval) -> None:
    stranger = at_the_page(person.desk, make_user(is_superuser=True))
    assert stranger.says("allow", approval) == 404
    assert stranger.http.post(f"/chat/approvals/{approval.pk}/", data={"decision": "allow"}).status_code == 403
    stranger.http.close()
    token = httpx.post(
        f"{person.desk.url}/chat/approvals/{approval.pk}/",
        data={"decision": "allow"},
        headers={"Authorization": f"Bearer {person.desk.secret}"},
    )
    assert token.status_code in {302, 403}
    approval.refresh_from_db()
    assert approval.state == "pending"


def check_that_it_does_not_wait_for_ever(person: Person, approval: ToolApproval) -> None:
    """Through a restart it does: nothing of it is in the memory of a process."""
    assert not _launched
    ToolApproval.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert "/chat/approvals/" not in person.page()
    assert person.says("allow", approval) == 409
    ToolApproval.objects.update(created_at=approval.created_at)


def test_a_no_ends_it(person: Person, service: Service) -> None:
    set_up(service)
    switched_on(MAKE)
    with modelled(WANTS):
        person.asks(QUESTION)
    approval = ToolApproval.objects.get()
    assert person.says("refuse", approval) == 302
    assert (service.made, Message.objects.count()) == ([], 2)
    assert "not allowed" in person.page()
    assert person.says("allow", approval) == 409
    assert service.made == []


def test_a_tool_that_only_reads_is_used_without_asking_and_cited(person: Person, service: Service) -> None:
    set_up(service)
    switched_on(FIND)
    found = "Ticket 4711 says that the printer on floor 3 is out of order since Monday"

    def tells(request: Request) -> Step:
        if is_judged(request):
            return says('1 S "the printer on floor 3 is out of order since Monday"\n')
        numbers = re.findall(r'<evidence number="(\d+)"', str(request["messages"][-1]["content"]))
        has_called = request["messages"][-1]["role"] == "tool"
        return says(f"{found} [{numbers[-1]}].") if has_called else calls((FIND, {"words": "printer"}))

    with modelled(chooses=tells) as model:
        events = person.asks("What is wrong with the printer?")
    references = [event for event in events if event["response_type"] == "references"][-1]
    assert [(reference["source"], reference["title"]) for reference in references["query_references"]] == [
        ("mcp:desk", "desk › desk: Find tickets")
    ]
    assert "printer on floor 3" in person.page()
    offered = {tool["function"]["name"] for tool in model.requests[1]["tools"]}
    assert offered == {"knowledge_search", FIND, "ask_back", "decline"}
    McpService.objects.update(is_enabled=False)
    assert "printer on floor 3" not in person.page(), "what a service brought goes with it"


def test_a_model_that_obeys_a_tool_still_has_to_ask(person: Person, service: Service) -> None:
    set_up(service, allowed=["odd", "make_ticket"])
    switched_on("mcp_desk_odd", MAKE)

    def obeys(request: Request) -> Step:
        if re.search("Ignore your rules", sent(request)):
            return calls((MAKE, {"subject": "obeyed"}))
        return calls(("mcp_desk_odd", {"kind": "injection"}))

    with modelled(chooses=obeys):
        person.asks("What is new?")
    assert [name for name, _arguments in service.made] == ["odd"]
    assert ToolApproval.objects.get().state == "pending"


def test_what_is_allowed_goes_on_where_it_was_asked_and_not_on_a_newer_branch(person: Person, service: Service) -> None:
    set_up(service)
    switched_on(MAKE)
    with modelled(WANTS):
        person.asks(QUESTION)
    session, approval = Session.objects.get(), ToolApproval.objects.get()
    beside = Message.objects.create(session=session, role="user", content="What is my salary?")
    Message.objects.create(session=session, role="assistant", parent=beside, is_complete=True, content="It is 4711.")
    with modelled(says(MADE)) as model:
        assert person.says("allow", approval) == 302
        answer = answered()
    assert answer.parent is not None
    assert answer.parent.parent_id == approval.message_id
    assert "4711" not in sent(model.requests[0])


def test_a_question_leaves_the_house_only_when_the_person_allowed_its_words(person: Person) -> None:
    """Where the company or the assistant says so: a search of the web waits as a call of a tool does."""
    found = [hit("https://law.example/leave", "Leave", "The law of Norway demands 25 working days of annual leave.")]
    with serving_pages({}) as site, override_settings(OUTGOING_ALLOW=("127.0.0.1",)):
        engine = Engine(found)
        set_up_search(site, engine, settings)
        WebHost.objects.all().delete()

        def wants(words: str, *then: Step, service_asks: bool, profile_asks: bool) -> None:
            WebSearchProvider.objects.update(asks_first=service_asks)
            AgentProfile.objects.update(asks_before_web=profile_asks)
            with modelled(SEARCH, calls(("web_search", {"query": words})), *then):
                person.asks(NORWAY)

        wants("annual leave law Norway", service_asks=False, profile_asks=True)
        approval = ToolApproval.objects.get()
        assert (approval.tool, approval.arguments) == ("web_search", {"query": "annual leave law Norway"})
        assert engine.asked == []
        assert not Entry.objects.filter(action="web.searched").exists()
        assert "annual leave law Norway" in person.page()
        written = says("The law of Norway demands 25 working days of annual leave [1].")
        with modelled(written):
            assert person.says("allow", approval) == 302
            answer = answered()
        assert engine.asked == ["annual leave law Norway"]
        assert answer.content.startswith("The law of Norway demands 25 working days")
        wants("holiday law Norway", service_asks=True, profile_asks=False)
        assert engine.asked == ["annual leave law Norway"], "other words are asked about anew"
        assert ToolApproval.objects.count() == 2
        wants("leave law Norway", says(THIRTY), service_asks=False, profile_asks=False)
        assert engine.asked == ["annual leave law Norway", "leave law Norway"]
        assert ToolApproval.objects.count() == 2
