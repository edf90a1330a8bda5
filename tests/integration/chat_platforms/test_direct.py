"""Asked in a chat with the bot alone: by whom, what comes back, and what does not."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from agent.chat_platforms.messages import find_abandoned_messages
from agent.chat_platforms.tasks import answer_chat_message
from agent.models import ChatMessage, Message, Session
from agent.run_state.threads import run_front_call
from agent.runs.run import complete_run
from audit.actions import Action
from audit.models import Entry
from authz.permissions import Right
from knowledge.services import access
from tests.factories import make_user
from tests.feishu_chat import SITE, encrypted, message, message_id, signed
from tests.integration.chat_platforms.company import LEAVE, SALARY, Company

UNKNOWN = "I do not know you: no account here has your mail address. Ask the desk."


def test_a_question_is_answered_as_its_person_with_links_to_its_sources(company: Company) -> None:
    event = message(LEAVE)
    assert "30 days of annual leave" in company.told(event)
    links = company.feishu.links(message_id(event))
    session = Session.objects.get(user=company.anna)
    assert session.title == LEAVE
    assert links["Open in the chat"] == f"{SITE}/chat/{session.pk}/"
    (source,) = [url for title, url in links.items() if title.startswith(company.manual.title)]
    path = source.removeprefix(SITE)
    client = Client()
    client.force_login(company.anna)
    assert path.startswith(f"/documents/{company.manual.pk}/")
    assert client.get(path).status_code == 200
    entry = Entry.objects.get(action=Action.QUESTION_ASKED)
    assert (entry.actor_name, entry.detail["channel"]) == ("anna", "feishu:direct")
    row = ChatMessage.objects.get()
    assert (row.user, row.text, row.problem) == (company.anna, "", "")
    assert row.answered_at is not None


def test_nobody_gets_what_they_may_not_read(company: Company) -> None:
    assert "420,000" in company.asked(SALARY)
    said = company.asked(SALARY, sender="ou_ben")
    assert "420,000" not in said
    assert "I found nothing about this" in said or "Best match (not verified)" in said


def test_a_right_that_ends_before_the_answer_is_sent_ends_it(company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(run: Any) -> Any:
        done = await complete_run(run)
        await run_front_call(
            access.revoke_place_rights, None, [Right.VIEW], company.secret.knowledge_base, of=company.anna
        )
        return done

    monkeypatch.setattr("agent.chat_platforms.answering.complete_run", slow)
    said = company.asked(SALARY)
    assert "420,000" in Message.objects.get(role="assistant").content  # it was written
    assert said == "Your access changed while this was answered. Ask again.\nOpen in the chat"


def test_whoever_is_nobody_here_is_told_whom_to_ask_and_nothing_else(company: Company) -> None:
    company.feishu.employ("ou_eve", "eve@example.com")
    assert company.asked(LEAVE, sender="ou_eve") == UNKNOWN
    assert company.asked(LEAVE, sender="ou_nobody") == UNKNOWN
    assert not Session.objects.exists()
    assert [entry.reason for entry in Entry.objects.filter(action=Action.ACCESS_DENIED)] == ["unknown sender"] * 2


def test_who_is_not_one_active_account_here_and_one_person_there_is_nobody(company: Company) -> None:
    for status in ("is_resigned", "is_frozen", "is_exited"):
        company.feishu.employ("ou_left", "anna@example.com", status={status: True})
        assert company.asked(LEAVE, sender="ou_left") == UNKNOWN, status
    event = message(LEAVE)
    event["event"]["sender"]["tenant_key"] = "tenant-2"
    assert company.told(event) == UNKNOWN, "of another company"
    User.objects.filter(pk=company.ben.pk).update(is_active=False)
    assert company.asked(LEAVE, sender="ou_ben") == UNKNOWN, "a disabled account"
    make_user("anna2", email="ANNA@example.com", is_active=False)
    assert company.asked(LEAVE) == UNKNOWN, "an address of two accounts"


def test_an_address_that_people_enter_themselves_counts_only_where_it_is_said_to(company: Company) -> None:
    company.feishu.employ("ou_ben", "", email="anna@example.com")
    assert company.asked(SALARY, sender="ou_ben") == UNKNOWN
    company.bot.takes_contact_mail = True
    company.bot.save()
    assert "420,000" in company.asked(SALARY, sender="ou_ben")


def test_a_question_is_answered_in_its_language_and_what_is_no_text_gets_one_sentence(company: Company) -> None:
    assert company.asked("", kind="image", content={"image_key": "i"}) == "I read text only: write your question."
    assert "打开" in company.asked("员工每年有多少天年假？")
    company.feishu.people.clear()
    assert company.asked("员工每年有多少天年假？") == "我不认识您：这里没有账号使用您的邮箱地址。请咨询the desk。"


def test_the_same_event_again_is_answered_once_and_forgotten_after_a_month(company: Company) -> None:
    event = message(LEAVE)
    company.told(event)
    company.told(event)
    assert ChatMessage.objects.count() == 1
    assert Entry.objects.filter(action=Action.QUESTION_ASKED).count() == 1
    ChatMessage.objects.update(received_at=timezone.now() - timedelta(days=31))
    assert find_abandoned_messages() == []
    assert not ChatMessage.objects.exists()


def test_a_conversation_goes_on_for_a_day_or_until_a_new_one_is_wished(company: Company) -> None:
    company.asked(LEAVE)
    company.asked("And when is a sick note due?")
    assert Session.objects.count() == 1
    assert company.asked(" /NEW ") == "A new conversation begins with your next question."
    company.asked(LEAVE)
    assert Session.objects.count() == 2
    ChatMessage.objects.update(received_at=timezone.now() - timedelta(days=1, minutes=1))
    company.asked(LEAVE)
    assert Session.objects.count() == 3


def test_what_cannot_be_sent_is_tried_again_and_asked_once(company: Company) -> None:
    event = message(LEAVE)
    path = f"im/v1/messages/{message_id(event)}/reply"
    company.feishu.faults[path] = {"code": 230002, "msg": "Bot can NOT be out of the chat."}
    company.post(event)
    company.work()
    row = ChatMessage.objects.get()
    assert row.answered_at is None
    assert "230002" in row.problem
    assert find_abandoned_messages() == []  # whoever had it may still be at it
    ChatMessage.objects.update(claimed_at=timezone.now() - timedelta(minutes=2))
    assert find_abandoned_messages() == [row.pk]
    company.feishu.faults.clear()
    company.work()
    assert len(company.feishu.said(message_id(event))) == 1
    assert Entry.objects.filter(action=Action.QUESTION_ASKED).count() == 1


def test_what_another_process_has_begun_is_not_asked_again_before_it_is_closed(company: Company) -> None:
    event = message(LEAVE)
    path = f"im/v1/messages/{message_id(event)}/reply"
    company.feishu.faults[path] = {"code": 230020, "msg": "limited"}
    company.post(event)
    company.work()
    company.feishu.faults.clear()
    Message.objects.filter(role="assistant").update(is_complete=False)
    ChatMessage.objects.update(claimed_at=None)
    company.work()
    assert company.feishu.said(message_id(event)) == []
    Message.objects.filter(role="assistant").update(is_complete=True)
    ChatMessage.objects.update(claimed_at=None)
    company.work()
    assert "30 days" in company.feishu.said(message_id(event))[0]
    assert Entry.objects.filter(action=Action.QUESTION_ASKED).count() == 1


def test_a_worker_takes_up_what_nobody_answers(company: Company) -> None:
    """As beat has it looked for: a process that took a message and died leaves it to the workers after a minute."""
    event = message(LEAVE)
    company.post(event)
    assert find_abandoned_messages() == []  # whoever took it has a moment
    ChatMessage.objects.update(received_at=timezone.now() - timedelta(minutes=1))
    answer_chat_message.apply(args=(str(find_abandoned_messages()[0]),))
    assert "30 days" in company.feishu.said(message_id(event))[0]
    assert find_abandoned_messages() == []


def test_what_can_never_be_sent_is_given_up(company: Company) -> None:
    company.feishu.faults["contact/v3/users/batch"] = {"code": 99991672, "msg": "Access denied."}
    event = message(LEAVE)
    company.post(event)
    for _attempt in range(4):
        ChatMessage.objects.update(claimed_at=None)
        company.work()
    row = ChatMessage.objects.get()
    assert (row.attempts, company.feishu.said(message_id(event))) == (3, [])
    assert row.answered_at is not None
    assert "99991672" in row.problem


def test_the_address_says_that_it_is_ours_and_takes_nothing_unsigned_or_for_a_bot_that_is_off(company: Company) -> None:
    challenge = encrypted({"challenge": "c-9", "token": "verify-token", "type": "url_verification"})
    answer = Client().post(company.address, challenge, content_type="application/json")
    assert (answer.status_code, answer.json()) == (200, {"challenge": "c-9"})
    body = encrypted(message(LEAVE))
    for headers in ({}, signed(body, key="other"), {**signed(body), "X-Lark-Signature": ""}):
        answer = Client().post(company.address, body, content_type="application/json", headers=headers)
        assert (answer.status_code, answer.json()) == (401, {"msg": "not signed"})
    company.bot.is_active = False
    company.bot.save()
    assert company.post(message(LEAVE)).status_code == 200
    assert not ChatMessage.objects.exists()
