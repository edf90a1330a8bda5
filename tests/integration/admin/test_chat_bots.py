"""A bot in a chat platform is tried before it is switched on; its secrets are for its own app, and nobody sees them again."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from agent.chat_platforms.setting_up import build_bot_account
from agent.models import ChatBot, ChatMessage
from audit.actions import Action
from audit.models import Entry
from tests.factories import make_user
from tests.feishu_chat import APP, BOT, KEY, SECRET, SECRETS, TOKEN, Feishu, make_bot, serving_feishu
from tests.integration.governance.world import client_of, staff, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def root() -> User:
    return make_user("root", is_superuser=True)


@pytest.fixture
def feishu(settings: Any) -> Iterator[Feishu]:
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    with serving_feishu() as served:
        yield served


def form(feishu: Feishu, **fields: Any) -> dict[str, Any]:
    return {"name": "Copilot", "platform": "feishu", "base_url": f"{feishu.url}/", "app_id": APP, **SECRETS, **fields}


def saved(user: User, feishu: Feishu, **fields: Any) -> Any:
    row = ChatBot.objects.first()
    name, args = ("change", [row.pk]) if row else ("add", [])
    return client_of(user).post(reverse(f"admin:agent_chatbot_{name}", args=args), form(feishu, **fields))


def test_a_bot_that_is_switched_on_has_answered_who_it_is(root: User, feishu: Feishu) -> None:
    assert saved(root, feishu, is_active="on").status_code == 302
    row = ChatBot.objects.get()
    assert (row.is_active, row.bot_id, row.site, row.base_url) == (True, BOT, "http://testserver", feishu.url)
    page = text_of(client_of(root).get(reverse("admin:agent_chatbot_change", args=[row.pk])))
    assert f"http://testserver/hooks/chat/{row.pk}" in page
    detail = Entry.objects.get(action=Action.AGENT_CHANGED).detail
    assert detail["active"] is True
    assert {"name", "app_secret"} <= set(detail["fields"])


def test_secrets_are_sealed_and_never_shown(root: User, feishu: Feishu) -> None:
    saved(root, feishu, is_active="on")
    row = ChatBot.objects.get()
    page = client_of(root).get(reverse("admin:agent_chatbot_change", args=[row.pk])).content.decode()
    for secret in (SECRET, KEY, TOKEN):
        assert secret not in row.encrypted_secrets
        assert secret not in page
        assert secret not in str(list(Entry.objects.values()))
    account = build_bot_account(row)
    assert (account.app_secret, account.encrypt_key, account.verification_token) == (SECRET, KEY, TOKEN)


def test_a_bot_whose_secret_is_wrong_is_not_switched_on(root: User, feishu: Feishu) -> None:
    answer = saved(root, feishu, is_active="on", app_secret="wrong")
    assert "10003 invalid param" in text_of(answer)
    assert not ChatBot.objects.exists()


def test_all_three_secrets_are_needed(root: User, feishu: Feishu) -> None:
    for name in SECRETS:
        assert saved(root, feishu, **{name: ""}).status_code == 200
    assert not ChatBot.objects.exists()


def test_secrets_stay_as_long_as_the_app_does(root: User, feishu: Feishu) -> None:
    saved(root, feishu)
    empty = dict.fromkeys(SECRETS, "")
    assert saved(root, feishu, **empty, name="Helper").status_code == 302
    assert build_bot_account(ChatBot.objects.get()).app_secret == SECRET
    assert saved(root, feishu, **empty | {"verification_token": "newer"}).status_code == 302
    account = build_bot_account(ChatBot.objects.get())
    assert (account.app_secret, account.verification_token) == (SECRET, "newer")
    assert "enter all three" in text_of(saved(root, feishu, **empty, app_id="cli_b2"))
    assert "enter all three" in text_of(saved(root, feishu, **empty | {"app_secret": "s"}, app_id="cli_b2"))
    assert saved(root, feishu, app_id="cli_b2").status_code == 302


def test_an_address_inside_is_refused(root: User, feishu: Feishu, settings: Any) -> None:
    settings.OUTGOING_ALLOW = ()
    assert saved(root, feishu, is_active="on", base_url="http://169.254.169.254").status_code == 200
    assert not ChatBot.objects.exists()


def test_it_is_tried_before_it_is_saved(root: User, feishu: Feishu) -> None:
    tried = client_of(root).post(reverse("chat-bot-try"), form(feishu))
    assert "It answers as “Copilot”. Save it now." in text_of(tried)
    assert not ChatBot.objects.exists()
    wrong = client_of(root).post(reverse("chat-bot-try"), form(feishu, app_secret="wrong"))
    assert "10003 invalid param" in text_of(wrong)
    assert Entry.objects.filter(action=Action.CHAT_BOT_TESTED).count() == 2


def test_only_who_may_change_it_tries_it(feishu: Feishu) -> None:
    assert client_of(staff("clerk")).post(reverse("chat-bot-try"), form(feishu)).status_code == 403
    assert feishu.asked == []


def test_the_list_of_messages_says_who_and_never_what(root: User, feishu: Feishu, settings: Any) -> None:
    row = ChatMessage.objects.create(
        bot=make_bot(feishu, settings), event_id="e", chat_id="oc", message_id="om", sender_id="ou", is_group=False,
        is_outside=False, text="What is my own salary?", user=root, problem="230002 out of the chat",
    )  # fmt: skip
    client = client_of(root)
    for url in (
        reverse("admin:agent_chatmessage_changelist"),
        reverse("admin:agent_chatmessage_change", args=[row.pk]),
    ):
        page = text_of(client.get(url))
        assert "230002 out of the chat" in page
        assert "my own salary" not in page
