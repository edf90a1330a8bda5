"""What a person does with questions: stop them, let them wait, ask them again, in other words, and wider."""

import re

import pytest
from playwright.sync_api import Page, expect

from agent.models import Message
from tests.e2e.talking import QUESTION, RULES, SLOWLY_S, Talk, ask, send, settled
from tests.modelserver import Request

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OTHER = "Which rule is there for a trip to the islands?"
THIRD = "Which rule is there for a trip to the forest?"


def said_to(request: Request) -> str:
    return "\n".join(str(message.get("content") or "") for message in request["messages"])


def questions(page: Page) -> list[str]:
    return page.locator("li.question > p").all_inner_texts()


def test_an_answer_is_stopped_and_what_was_asked_meanwhile_waits_until_it_is_asked_for(page: Page, talk: Talk) -> None:
    """Edit, withdraw and ask a waiting question at once; it survives a stop and a reload."""
    talk.writer.sentences, talk.writer.pace_s = RULES, SLOWLY_S
    waiting, writing = page.locator("#queue li"), page.locator("li.answer:last-child .answer-text")
    send(page, QUESTION)
    expect(writing).to_contain_text("coast")
    send(page, OTHER)
    page.get_by_role("button", name="Stop the answer").click()
    stopped = settled(page)
    expect(stopped).to_contain_text("coast")
    expect(stopped).not_to_contain_text("forest")
    page.reload()
    expect(waiting).to_have_text([OTHER])
    assert questions(page) == [QUESTION]
    page.get_by_role("button", name="Ask it now").click()
    expect(writing).to_contain_text("coast")
    for question in ("first", "second", "third", "fourth"):
        send(page, question)
    expect(waiting).to_have_count(4)
    expect(page.locator("#question")).to_have_value("")
    waiting.nth(1).get_by_role("button", name="Do not ask it").click()
    waiting.nth(1).get_by_role("button", name="Edit it").click()
    expect(page.locator("#question")).to_have_value("third")
    page.fill("#question", "")
    assert waiting.all_inner_texts() == ["first", "fourth"]
    talk.writer.pace_s = 0
    waiting.nth(1).get_by_role("button", name="Ask it now").click()
    settled(page, 3)
    expect(waiting).to_have_count(0)
    assert questions(page) == [QUESTION, OTHER, "fourth", "first"]
    answers = Message.objects.filter(role="assistant").order_by("created_at")
    assert [answer.stop_reason == "cancelled" for answer in answers] == [True, True, False, False]


def test_a_question_is_asked_again_wider_and_in_other_words_as_a_branch_that_the_model_is_told_alone(
    page: Page, talk: Talk
) -> None:
    expect(page.locator("#more")).to_be_hidden()
    talk.writer.sentences = []
    ask(page, QUESTION)
    talk.writer.sentences = RULES[:1]
    page.get_by_role("button", name="Search again, wider").click()
    expect(page.locator(".branches")).to_contain_text("2/2")
    expect(settled(page)).to_contain_text("coast")
    page.get_by_role("button", name="Ask the same again").click()
    expect(page.locator(".branches")).to_contain_text("3/3")
    assert questions(page) == [QUESTION]

    talk.writer.sentences = RULES[2:3]
    ask(page, OTHER, 1)
    share = page.locator("#conversation-menu form[action$='/share/']")
    last = page.locator("li.answer").last.get_attribute("id") or ""
    expect(share).to_have_attribute("action", re.compile(last.removeprefix("m-")))
    page.get_by_role("button", name="Name, file, share or export this conversation").click()
    page.get_by_label("Name of the conversation").fill("Rules for trips")
    page.get_by_role("button", name="Save the name").click()
    expect(page.locator("#chat-title")).to_have_text("Rules for trips")

    page.locator("li.question").nth(1).hover()
    page.get_by_role("button", name="Edit the question and ask again").nth(1).click()
    page.locator("#edited").fill(THIRD)
    talk.writer.sentences = RULES[9:]
    asked_before = len(talk.model.requests)
    page.get_by_role("button", name="Ask again", exact=True).click()
    expect(settled(page, 1)).to_contain_text("forest")
    assert questions(page) == [QUESTION, THIRD]
    told = [said_to(request) for request in talk.model.requests[asked_before:]]
    assert any("coast" in text for text in told), "the way to the question is told"
    assert not any(OTHER in text for text in told), "what stands beside it is not"
    expect(page.locator(".branches").last).to_contain_text("2/2")
    page.get_by_role("link", name="As it was asked before").last.click()
    expect(page.locator("li.answer").nth(1)).to_contain_text("islands")
    assert questions(page) == [QUESTION, OTHER]
    talk.writer.sentences = RULES[1:2]
    ask(page, "And the hills?", 2)
    page.reload()
    assert questions(page) == [QUESTION, OTHER, "And the hills?"]
