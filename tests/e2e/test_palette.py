"""The palette, the list of shortcuts, and a question that is narrowed to places and fields, with the keyboard alone."""

import re

import pytest
from playwright.sync_api import Page, expect

from agent.models import Session
from knowledge.services.fields import FieldSpec, change_metadata, set_fields
from tests.e2e.talking import QUESTION, Talk, ask, send, settled, sign_in, talking
from tests.e2e.test_accessibility import faults_of
from tests.factories import allow, keeper_of, make_base, make_document

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_palette_opens_anywhere_finds_and_goes_with_the_keyboard_alone(page: Page, talk: Talk) -> None:
    ask(page, QUESTION)
    page.goto(f"{talk.url}/library/")
    palette, options = page.locator("#palette"), page.locator("#palette [role=option]")
    page.keyboard.press("Control+k")
    expect(palette.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("trips")
    expect(options).to_contain_text([QUESTION, "Trips", "Find “trips”"])
    page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    expect(palette.get_by_role("combobox")).to_have_attribute("aria-activedescendant", "palette-list-1")
    page.keyboard.press("Enter")
    page.wait_for_url("**/documents/**")
    page.keyboard.press("Control+k")
    page.keyboard.type("plateau")
    expect(options).to_contain_text(["Rule 9: a trip of 9 days to the plateau", "Find “plateau”"])
    options.nth(1).hover()
    expect(page.locator("#palette [aria-selected=true]")).to_have_count(1)
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Control+k")
    page.keyboard.press("Control+k")
    expect(options.first).to_contain_text(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_url("**/chat/**")
    page.keyboard.press("Control+k")
    expect(palette).to_be_visible()
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("?")
    expect(page.locator("#shortcuts")).to_be_hidden()
    expect(page.locator("#question")).to_have_value("?")
    page.locator(".brand").focus()
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()


def test_a_question_is_narrowed_to_places_and_fields_until_they_are_taken_away(page: Page, talk: Talk) -> None:
    kitchen, canteen = make_base("Kitchen"), make_base("Canteen")
    for base, filename, state in (
        (kitchen, "soup.md", "valid"),
        (kitchen, "old.md", "ended"),
        (canteen, "bar.md", "secret"),
    ):
        document = make_document(base, filename, "# Food\n\nSoup is served at noon.", ingested=True)
        keeper = keeper_of(document.folder)
        set_fields(keeper, base.pk, [FieldSpec("State")])
        change_metadata(keeper, document_id=document.pk, values={"State": state})
    allow(talk.nina, kitchen)
    places, chips = page.locator("#places [role=option]"), page.locator("#scope li")
    question = page.locator("#question")
    question.press_sequentially("@state")
    expect(places).to_have_text([re.compile("State: ended"), re.compile("State: valid")])
    assert faults_of(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(chips).to_have_text(["with State: valid: one document you can read"])
    question.press_sequentially("@kitchen")
    expect(places).to_have_text([re.compile("Kitchen")])
    page.keyboard.press("Enter")
    in_kitchen = "in Kitchen: 2 documents you can read"
    expect(chips).to_have_text(["with State: valid: one document you can read", in_kitchen])
    question.press_sequentially(f"{QUESTION} @ended")
    expect(places).to_have_text([re.compile("State: ended")])
    page.keyboard.press("Enter")  # of one field one value
    told = [in_kitchen, "with State: ended: one document you can read"]
    expect(chips).to_have_text(told)
    page.reload()
    expect(chips).to_have_text(told)
    expect(question).to_have_value(f"{QUESTION} ")
    page.keyboard.press("Enter")
    expect(settled(page)).not_to_contain_text("coast")
    scope = {"knowledge_base_ids": [str(kitchen.pk)], "metadata": [{"field": "State", "equals": "ended"}]}
    assert Session.objects.get().scope == scope
    page.evaluate("sessionStorage.clear()")
    page.reload()
    expect(chips).to_have_text(told)
    page.locator("li.question").hover()
    page.get_by_role("button", name="Edit the question and ask again").click()
    page.get_by_role("button", name="Ask again", exact=True).click()
    expect(settled(page)).not_to_contain_text("coast")
    assert Session.objects.get().scope == scope
    assert Session.objects.get().messages.count() == 4

    question.press_sequentially("half a question")
    address = page.url
    page.get_by_role("button", name="Account and settings").click()
    page.locator("#account button[value=zh-hans]").click()
    expect(chips.first).to_have_text("范围：Kitchen（您可阅读 2 份文档）")
    assert page.url == address
    expect(question).to_have_value("half a question")
    page.get_by_role("button", name="账号与设置").click()
    page.locator("#account button[value=en]").click()
    expect(chips).to_have_text(told)
    page.wait_for_load_state()  # the chips are of the server; what takes them away is of the script

    for chip in (1, 0):
        chips.nth(chip).get_by_role("button").press("Enter")
    expect(chips).to_have_count(0)
    send(page, QUESTION)
    expect(settled(page, 1)).to_contain_text("coast")
    assert Session.objects.get().scope == {}
    page.get_by_role("button", name="Search in one place only").click()
    expect(places.first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#places")).to_be_hidden()
    expect(question).to_have_value("@")


def test_a_finger_chooses_a_place_and_nothing_that_lies_under_it(page: Page) -> None:
    with talking() as talk:
        assert page.context.browser is not None
        phone = page.context.browser.new_context(has_touch=True, viewport={"width": 390, "height": 500}, locale="en")
        page = phone.new_page()
        sign_in(page, talk.url)
        ask(page, QUESTION)
        page.goto(talk.url)
        page.locator("#narrow").tap()
        under = page.get_by_role("button", name=QUESTION)
        option = page.locator("#places [role=option]").first
        expect(option).to_be_visible()
        place = option.bounding_box()
        assert place is not None
        moved = f"button => {{ button.style.cssText = 'position: fixed; inset: {place['y']}px 0 auto; height: {place['height']}px'; }}"
        under.evaluate(moved)
        option.tap()
        expect(page.locator("#scope li")).to_have_count(1)
        expect(page.locator("#question")).to_be_focused()
        page.wait_for_timeout(400)  # a click that comes late would have asked by now
        expect(page.locator("li.question")).to_have_count(0)
        phone.close()
