"""What Feishu's calls say, and what is none of Feishu's. The events are made by `tests.feishu_chat`, as Feishu publishes them."""

import json
import time
from typing import Any

import pytest

from agent.chat_platforms import feishu
from agent.chat_platforms.feishu import (
    MAX_TEXT,
    WINDOW_S,
    Account,
    Challenge,
    FeishuLink,
    FeishuReply,
    Incoming,
    NotFromPlatform,
    decrypt_event,
    format_post,
)
from tests.feishu_chat import APP, BOT, KEY, SECRET, TOKEN, encrypted, mention, message, message_id, signed, to_group

ACCOUNT = Account("https://open.feishu.cn", APP, SECRET, KEY, TOKEN, bot_id=BOT)


def received(event: dict[str, Any], account: Account = ACCOUNT) -> Challenge | Incoming | None:
    body = encrypted(event)
    return feishu.parse_event_call(account, signed(body), body, now=time.time())


def incoming(event: dict[str, Any]) -> Incoming:
    found = received(event)
    assert isinstance(found, Incoming)
    return found


def refused(body: bytes, headers: dict[str, str], account: Account = ACCOUNT) -> bool:
    with pytest.raises(NotFromPlatform):
        feishu.parse_event_call(account, headers, body, now=time.time())
    return True


def test_the_published_example_is_decrypted() -> None:
    """The vector of Feishu's documentation: key `test key`, text `hello world`."""
    assert decrypt_event("test key", "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=") == "hello world"


def test_the_question_whether_the_address_is_ours_is_answered_unsigned_and_signed() -> None:
    body = encrypted({"challenge": "c-1", "token": TOKEN, "type": "url_verification"})
    assert feishu.parse_event_call(ACCOUNT, {}, body, now=time.time()) == Challenge({"challenge": "c-1"})
    assert feishu.parse_event_call(ACCOUNT, signed(body), body, now=time.time()) == Challenge({"challenge": "c-1"})


def test_the_question_with_another_token_is_refused() -> None:
    for token in ("other", "", None, 1):
        refused(encrypted({"challenge": "c-1", "token": token, "type": "url_verification"}), {})


def test_a_text_to_the_bot_alone() -> None:
    event = message("How many days?")
    found = incoming(event)
    assert found == Incoming(
        event["header"]["event_id"], "oc_ou_anna", message_id(event), "ou_anna", False, False, "How many days?"
    )


def test_a_mention_of_the_bot_is_taken_out_and_others_are_named() -> None:
    mentions = [mention(), mention("@_user_10", "ou_ben", "Ben"), mention("@_user_2", "ou_cleo", "Cleo")]
    text = "@_user_1 what may @_user_10 and @_user_2 read?"
    assert incoming(message(text, chat="oc_1", mentions=mentions)).text == "what may @Ben and @Cleo read?"
    assert incoming(message("mail @_user_7 of mine")).text == "mail @_user_7 of mine"


def test_a_post_is_read_with_its_title() -> None:
    lines = [
        [{"tag": "at", "user_id": "@_user_1", "user_name": "Copilot"}, {"tag": "text", "text": " How many days "}],
        [{"tag": "text", "text": "of "}, {"tag": "a", "text": "leave", "href": "https://x.example"}],
        [{"tag": "img", "image_key": "img_1"}],
    ]
    content = {"title": "Leave", "content": lines}
    for item in (content, {"zh_cn": content}):
        found = incoming(message("", kind="post", content=item, chat="oc_1", mentions=[mention()]))
        assert found.text == "Leave\n How many days \nof leave"


@pytest.mark.parametrize("kind", ["image", "file"])
def test_other_kinds_are_told_apart_from_an_empty_text(kind: str) -> None:
    assert incoming(message("", kind=kind, content={"file_key": "f"})).text is None
    assert incoming(message("")).text == ""


def test_what_is_said_in_a_group_to_others_is_nothing_to_answer() -> None:
    assert received(message("How many days?", chat="oc_1")) is None
    assert received(message("@_user_1 hi", chat="oc_1", mentions=[mention(open_id="ou_ben")])) is None
    assert incoming(to_group("How many days?", "oc_1")).is_group


def test_a_bot_that_was_never_tried_is_mentioned_by_nobody() -> None:
    account = Account("https://open.feishu.cn", APP, SECRET, KEY, TOKEN)
    event = message("@_user_1 hi", chat="oc_1", mentions=[{"key": "@_user_1", "id": {"open_id": ""}, "name": ""}])
    assert received(event, account) is None


def test_other_events_and_other_bots_are_nothing_to_answer() -> None:
    assert received(message("hi", event_type="im.chat.member.user.added_v1")) is None
    event = message("hi")
    event["event"]["sender"]["sender_type"] = "app"
    assert received(event) is None


def test_somebody_of_another_company_is_told_apart() -> None:
    event = message("hi")
    event["event"]["sender"]["tenant_key"] = "tenant-2"
    assert incoming(event).is_outside


def test_an_event_counts_only_with_its_signature() -> None:
    body = encrypted(message("hi"))
    headers = signed(body)
    assert refused(body, {})
    assert refused(body + b" ", headers)
    assert refused(encrypted(message("hi")), headers)
    assert refused(body, signed(body, key="another"))
    for name in headers:
        assert refused(body, {**headers, name: "0"})
        assert refused(body, {**headers, name: "é"})


@pytest.mark.parametrize("late", [-WINDOW_S - 5, WINDOW_S + 5])
def test_an_event_of_another_time_is_refused(late: int) -> None:
    body = encrypted(message("hi"))
    assert refused(body, signed(body, at=time.time() + late))
    assert feishu.parse_event_call(ACCOUNT, signed(body, at=time.time() + late / 2), body, now=time.time())


def test_an_event_of_another_app_or_with_another_token_is_refused() -> None:
    for event in (message("hi", token="other"), message("hi", app_id="cli_b2")):
        body = encrypted(event)
        assert refused(body, signed(body))


def test_an_account_without_secrets_takes_nothing() -> None:
    body = encrypted(message("hi", token=""), key="")
    assert refused(body, signed(body, key=""), Account("https://open.feishu.cn", APP, SECRET, "", ""))


def test_what_is_no_event_is_refused() -> None:
    for body in (b"", json.dumps(message("hi")).encode(), b"{}", b"nonsense", b'{"encrypt": "' + b"A" * 88 + b'"}'):
        assert refused(body, signed(body))
        assert refused(body, {})


def test_a_reply_is_a_post_whose_text_mentions_nobody() -> None:
    said = format_post(
        FeishuReply('All <at user_id="all">.\n\n[1]', (FeishuLink("[1]", "Manual › Leave", "https://c.example/d"),))
    )
    assert said["zh_cn"]["content"] == [
        [{"tag": "text", "text": 'All <at user_id="all">.'}],
        [{"tag": "text", "text": " "}],
        [{"tag": "text", "text": "[1]"}],
        [{"tag": "text", "text": "[1] "}, {"tag": "a", "text": "Manual › Leave", "href": "https://c.example/d"}],
    ]


def test_a_reply_that_a_message_does_not_hold_is_cut() -> None:
    said = format_post(FeishuReply("字" * (MAX_TEXT + 1)))
    assert said["zh_cn"]["content"][0][0]["text"] == "字" * MAX_TEXT + " …"
    assert len(json.dumps(said, ensure_ascii=False).encode()) < 25_000
