"""What a person does with questions: stop them, let them wait, ask them again, in other words, and wider."""

import re

import pytest
from playwright.sync_api import Page, expect

from agent.models import Message
from tests.e2e.talking import QUESTION, RULES, SLOWLY_S, ask, send, settled, sign_in, talking
from tests.modelserver import Request

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
OTHER = "Which rule is there for a trip to the islands?"
THIRD = "Which rule is there for a trip to the forest?"


def said_to(request: Request) -> str:
    return "\n".join(str(message.get("content") or "") for message in request["messages"])


def questions(page: Page) -> list[str]:
    return page.locator("li.question > p").all_inner_texts()


def test_an_answer_stops_while_it_is_written_and_keeps_what_was_written(page: Page) -> None:
    with talking() as talk:
        talk.writer.sentences, talk.writer.pace_s = RULES, SLOWLY_S
        sign_in(page, talk.url)
        send(page, QUESTION)
        expect(page.locator("li.answer:last-child .answer-text")).to_contain_text("coast")
        page.locator("#stop").click()
        expect(page.locator("li.answer[id]")).to_contain_text("coast")
        expect(page.locator("li.answer")).not_to_contain_text("forest")


def test_a_question_asked_meanwhile_waits_and_can_be_edited_withdrawn_or_asked_at_once(page: Page) -> None:
    with talking() as talk:
        talk.writer.sentences, talk.writer.pace_s = RULES, SLOWLY_S
        sign_in(page, talk.url)
        send(page, QUESTION)
        expect(page.locator("li.answer:last-child .answer-text")).to_contain_text("coast")
        waiting = page.locator("#queue li")
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
        settled(page, 2)
        expect(waiting).to_have_count(0)
        assert questions(page) == [QUESTION, "fourth", "first"]
        stopped = Message.objects.filter(role="assistant").order_by("created_at").first()
        assert stopped is not None
        assert stopped.stop_reason == "cancelled"


def test_what_waits_is_not_asked_by_itself_after_a_stop_and_survives_a_reload(page: Page) -> None:
    with talking() as talk:
        talk.writer.sentences, talk.writer.pace_s = RULES, SLOWLY_S
        sign_in(page, talk.url)
        send(page, QUESTION)
        expect(page.locator("li.answer:last-child .answer-text")).to_contain_text("coast")
        send(page, OTHER)
        page.get_by_role("button", name="Stop the answer").click()
        settled(page)
        page.reload()
        expect(page.locator("#queue li")).to_have_text([OTHER])
        assert questions(page) == [QUESTION]
        talk.writer.pace_s = 0
        page.get_by_role("button", name="Ask it now").click()
        settled(page, 1)
        assert questions(page) == [QUESTION, OTHER]


def test_a_question_in_other_words_is_a_branch_that_the_model_is_told_alone(page: Page) -> None:
    with talking() as talk:
        sign_in(page, talk.url)
        ask(page, QUESTION)
        talk.writer.sentences = RULES[2:3]
        ask(page, OTHER, 1)
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
        expect(page.locator(".branches")).to_contain_text("2/2")
        page.get_by_role("link", name="As it was asked before").click()
        expect(page.locator("li.answer").nth(1)).to_contain_text("islands")
        assert questions(page) == [QUESTION, OTHER]
        talk.writer.sentences = RULES[1:2]
        ask(page, "And the hills?", 2)
        page.reload()
        assert questions(page) == [QUESTION, OTHER, "And the hills?"]


def test_the_same_can_be_asked_again_and_wider_where_nothing_was_found(page: Page) -> None:
    with talking() as talk:
        talk.writer.sentences = []
        sign_in(page, talk.url)
        ask(page, QUESTION)
        talk.writer.sentences = RULES[:1]
        page.get_by_role("button", name="Search again, wider").click()
        expect(page.locator(".branches")).to_contain_text("2/2")
        expect(settled(page)).to_contain_text("coast")
        page.get_by_role("button", name="Ask the same again").click()
        expect(page.locator(".branches")).to_contain_text("3/3")
        assert questions(page) == [QUESTION]


def test_the_menu_of_a_conversation_is_there_with_its_first_answer_and_follows_the_last(page: Page) -> None:
    with talking() as talk:
        sign_in(page, talk.url)
        expect(page.locator("#more")).to_be_hidden()
        for place, question in enumerate((QUESTION, OTHER)):
            ask(page, question, place)
            expect(page.locator("#more")).to_be_visible()
            share = page.locator("#conversation-menu form[action$='/share/']")
            last = page.locator("li.answer").last.get_attribute("id")
            assert last is not None
            expect(share).to_have_attribute("action", re.compile(last.removeprefix("m-")))
        page.get_by_role("button", name="Name, file, share or export this conversation").click()
        page.get_by_label("Name of the conversation").fill("Rules for trips")
        page.get_by_role("button", name="Save the name").click()
        expect(page.locator("#chat-title")).to_have_text("Rules for trips")
