"""Asked in a group: exactly what all of its members may read, and nothing where nobody can say who they are."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from agent.dialogue.controls import CONTROLS
from agent.models import AgentProfile, ChatMessage, Message, Session
from agent.profile_choice import FOR_ALL, find_requested_profile
from agent.profiles.settings import Options
from agent.run_state.threads import run_front_call
from agent.runs.run import complete_run
from agent.tools.base import list_default_tools, list_enabled_tools
from audit.actions import Action
from audit.models import Entry
from authz.models import PermissionSnapshot
from authz.permissions import Right
from authz.principal import Principal
from knowledge.models import Chunk
from knowledge.services import access
from tests.factories import allow, make_base, make_document, make_user
from tests.feishu_chat import message_id, to_group
from tests.integration.agent.conversations import LEAVE as QUESTION
from tests.integration.agent.modelled import SEARCH, THIRTY, modelled
from tests.integration.chat_platforms.company import GROUP, LEAVE, SALARY, Company
from tests.modelserver import says

NOT_ALL = "Not everyone in this group has an account here, so I do not answer here. Ask me directly."
UNSEEN = "I cannot tell who is in this group, so I do not answer here. Ask me directly."


def asked(company: Company, text: str, **more: Any) -> str:
    return company.told(to_group(text, GROUP, **more))


def test_what_all_may_read_is_answered_and_what_one_may_not_is_not_there(company: Company) -> None:
    assert "30 days of annual leave" in asked(company, LEAVE)
    assert "420,000" in company.asked(SALARY)  # Anna alone may read it
    said = asked(company, SALARY)
    assert "420,000" not in said
    assert company.secret.title not in said
    assert "I found nothing about this" in said or "Best match (not verified)" in said
    allow(company.ben, company.secret.knowledge_base)
    assert "420,000" in asked(company, SALARY)


def test_an_answer_links_the_document_alone_and_the_log_says_who_read_along(company: Company) -> None:
    event = to_group(LEAVE, GROUP)
    company.told(event)
    assert [company.manual.title in title for title in company.feishu.links(message_id(event))] == [True]
    assert Message.objects.get(role="user").content == LEAVE, "the mention is no part of the question"
    entry = Entry.objects.get(action=Action.QUESTION_ASKED)
    assert (entry.actor_name, entry.detail["channel"], entry.detail["audience"]) == ("anna", "feishu:group", 1)
    answer = Message.objects.get(role="assistant")
    snapshot = PermissionSnapshot.objects.get(pk=answer.state["authz"]["perm_snapshot_id"])
    assert snapshot.principal["audience"] == [company.ben.pk]


def test_one_member_who_is_nobody_here_ends_it(company: Company) -> None:
    for number, mail in enumerate(["eve@example.com", ""]):
        company.feishu.employ(f"ou_{number}", mail)
        company.feishu.groups[GROUP] = ["ou_anna", "ou_ben", f"ou_{number}"]
        assert asked(company, LEAVE) == NOT_ALL
    company.feishu.groups[GROUP] = ["ou_anna", "ou_ben", "ou_of_nobody"]
    assert asked(company, LEAVE) == NOT_ALL
    assert not Session.objects.exists()


def test_a_member_on_the_last_page_counts(company: Company) -> None:
    company.feishu.page_size = 2
    people = [make_user(email=f"p{number}@example.com") for number in range(4)]
    ids = [company.feishu.employ(f"ou_p{number}", person.email) for number, person in enumerate(people)]
    company.feishu.groups[GROUP] = ["ou_anna", "ou_ben", *ids]
    for person in people[:3]:
        allow(person, company.base)
    assert "30 days" not in asked(company, LEAVE)
    allow(people[3], company.base)
    assert "30 days" in asked(company, LEAVE)


def broken_list(company: Company) -> None:
    company.feishu.faults[f"im/v1/chats/{GROUP}/members"] = {"code": 232011, "msg": "out of the chat"}


def endless_list(company: Company) -> None:
    rows = [{"member_id": "ou_anna", "member_id_type": "open_id"}]
    data = {"items": rows, "has_more": True, "page_token": "same"}
    company.feishu.faults[f"im/v1/chats/{GROUP}/members"] = {"code": 0, "data": data}


def empty_list(company: Company) -> None:
    company.feishu.faults[f"im/v1/chats/{GROUP}/members"] = {"code": 0, "data": {"items": [], "has_more": False}}


def list_of_another_form(company: Company) -> None:
    data = {"items": [{"id": "ou_anna"}], "has_more": False}
    company.feishu.faults[f"im/v1/chats/{GROUP}/members"] = {"code": 0, "data": data}


def too_many(company: Company) -> None:
    company.feishu.page_size = 100
    company.feishu.groups[GROUP] = ["ou_anna", "ou_ben", *(f"ou_{number}" for number in range(500))]


def test_a_list_of_members_that_cannot_be_read_ends_it(company: Company) -> None:
    for number, fault in enumerate((broken_list, endless_list, empty_list, list_of_another_form, too_many), 1):
        company.feishu.faults.clear()
        fault(company)
        assert asked(company, LEAVE) == UNSEEN, fault.__name__
        assert not Session.objects.exists()
        assert Entry.objects.filter(action=Action.ACCESS_DENIED).count() == number


def test_somebody_who_comes_in_while_it_is_answered_is_shown_nothing(company: Company) -> None:
    calls = iter([None, lambda: company.feishu.groups.update({GROUP: ["ou_anna", "ou_ben", "ou_eve"]})])
    company.feishu.page_size = 100

    def on_members() -> None:
        if come := next(calls, None):
            come()

    company.feishu.on_members = on_members
    assert asked(company, LEAVE) == "Someone joined this group while I was answering. Ask again."


@pytest.mark.parametrize("what", ["loses a right", "is disabled"])
def test_a_member_who_may_read_less_meanwhile_ends_the_answer(company: Company, monkeypatch: Any, what: str) -> None:
    async def slow(run: Any) -> Any:
        done = await complete_run(run)
        if what == "loses a right":
            await run_front_call(access.revoke_place_rights, None, [Right.VIEW], company.base, of=company.ben)
        else:
            await run_front_call(User.objects.filter(pk=company.ben.pk).update, is_active=False)
        return done

    monkeypatch.setattr("agent.chat_platforms.answering.complete_run", slow)
    assert "30 days" not in asked(company, LEAVE)
    assert "30 days" in Message.objects.get(role="assistant").content


def test_a_group_s_conversation_is_told_nothing_of_elsewhere(company: Company) -> None:
    """Neither another member's, nor what its person asked on the page in the same conversation."""
    with modelled(SEARCH, says(THIRTY)):
        asked(company, LEAVE)
    session, first = Session.objects.get(), ChatMessage.objects.get().answer_id
    question = Message.objects.create(session=session, parent_id=first, role="user", content="My own plan is Zanzibar")
    Message.objects.create(session=session, parent=question, role="assistant", content="Zanzibar", stop_reason="ok")
    asked(company, "And when is a sick note due?")
    asked(company, LEAVE, sender="ou_ben")
    assert set(Session.objects.values_list("user__username", flat=True)) == {"anna", "ben"}
    follow_up = Message.objects.get(role="user", content="And when is a sick note due?")
    assert follow_up.parent_id == first


def test_a_model_reads_only_what_all_may_read_and_is_offered_only_tools_that_do(company: Company) -> None:
    with modelled(SEARCH, says(THIRTY)) as model:
        said = asked(company, QUESTION)
        read = json.dumps(list(model.requests))
    assert "30 days of annual leave" in said
    assert "annual leave" in read
    assert "420,000" not in read
    offered = {tool["function"]["name"] for request in model.requests for tool in request.get("tools", ())}
    assert offered
    assert offered - CONTROLS.keys() <= FOR_ALL
    every = [*list_default_tools(), "web_search", "web_fetch", "execute_skill_script", "read_skill"]
    AgentProfile.objects.create(name="All", allowed_tools=every, is_default=True)
    alone = Principal.of(company.anna)
    before = alone.before([company.ben.pk])
    assert set(list_enabled_tools(find_requested_profile(alone, Options()).tools)) - FOR_ALL
    assert set(find_requested_profile(before, Options()).tools or ()) == set(every) & FOR_ALL
    assert find_requested_profile(before, Options()).outside == ()


def test_each_group_sees_exactly_the_intersection(company: Company) -> None:
    """Three people read four documents in different sets: a group is answered from what all of it may read."""
    people = [make_user(email=f"q{number}@example.com") for number in range(3)]
    ids = [company.feishu.employ(f"ou_q{number}", person.email) for number, person in enumerate(people)]
    codes = {}
    for number, readers in enumerate([{0}, {0, 1}, {0, 2}, {0, 1, 2}]):
        base, code = make_base(), f"PX-{number}{number}7"
        text = f"# Code\n\nThe access code of building {number} is {code}."
        make_document(base, f"code-{number}.md", text, ingested=True)
        for reader in readers:
            allow(people[reader], base)
        codes[code] = readers
    for group in ([0, 1], [0, 2], [0, 1, 2]):
        company.feishu.groups["oc_q"] = [ids[number] for number in group]
        company.told(to_group("What is the access code of the building?", "oc_q", sender=ids[group[0]]))
        answer = Message.objects.filter(role="assistant").latest("created_at")
        found = {item["source"]["chunk_id"] for item in answer.state["evidence_items"]}
        texts = " ".join(Chunk.unscoped.filter(id__in=found).values_list("text", flat=True))
        seen = {code for code in codes if code in texts}
        assert seen == {code for code, readers in codes.items() if set(group) <= readers}, group
