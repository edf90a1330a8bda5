"""A question about business data in a real browser: the value, its table, the drawing, the file, the SQL; and nothing of it for others."""

import csv
from itertools import takewhile

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import System
from tests.e2e.talking import ask
from tests.e2e.test_accessibility import faults_of

pytestmark = pytest.mark.browser
BY_REGION = "How many customers are there by region?"
LAST_MONTH = "上个月新增了多少客户？"


def test_an_employee_gets_number_table_chart_file_and_sql(system: System, page: Page) -> None:
    system.sign_in(page, "emma")
    number = ask(page, LAST_MONTH)
    expect(number.locator(".answer-text")).to_contain_text("个客户（新增：")
    number.get_by_text("Details").click()
    expect(number.locator(".result-meaning")).to_contain_text(" to ")
    answer = ask(page, BY_REGION, place=1)
    result = answer.locator(".result")
    expect(result.locator("canvas[data-drawn]")).to_be_visible()
    cells = result.locator("tbody tr td:nth-child(2)")
    counts = [int(text.replace(",", "")) for text in cells.all_inner_texts()]
    head = result.locator("th").nth(1)
    for order, sign in (("ascending", 1), ("descending", -1)):
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", order)
        sorted_now = [int(text.replace(",", "")) for text in cells.all_inner_texts()]
        assert sorted_now == sorted(counts, key=lambda count: sign * count)
    sql = result.locator("details.result-sql")
    expect(sql.locator("code")).to_be_hidden()
    sql.locator("summary").click()
    expect(sql.locator("code")).to_contain_text("SELECT")
    with page.expect_download() as download:
        result.get_by_role("link", name="Download CSV").click()
    with download.value.path().open(encoding="utf-8-sig") as file:
        rows = list(takewhile(lambda row: len(row) > 1, csv.reader(file)))  # below them stands of whose rows they are
    assert sorted(int(row[1]) for row in rows[1:]) == sorted(counts)
    expect(result.get_by_role("link", name="Verify or correct")).to_be_visible()  # her team says what the data mean
    result.get_by_role("button", name="Run again").click()
    expect(page.locator(".message.answer")).to_have_count(3)


def test_a_question_is_asked_of_a_chosen_table_with_the_keyboard_alone(system: System, page: Page) -> None:
    system.sign_in(page, "emma")
    question, chips = page.locator("#question"), page.locator("#scope li")
    chosen = page.locator("#places [aria-selected=true]")
    question.press_sequentially("@order")
    expect(page.locator("#places [data-kind=table]", has_text="order (demo)")).to_be_visible()
    for _option in range(20):
        if (chosen.get_attribute("data-name") or "") == "order (demo)":
            break
        page.keyboard.press("ArrowDown")
    assert faults_of(page) == []
    page.keyboard.press("Enter")
    expect(chips).to_have_text(["in the table order (demo)"])
    expect(ask(page, "How many orders are there?").locator(".answer-text")).to_contain_text("600")
    page.reload()
    expect(chips).to_have_text(["in the table order (demo)"])
    answer = ask(page, "How many customers are there by region?", place=1)
    expect(answer).to_contain_text("The chosen tables do not answer this.")
    expect(answer.locator(".result, .cite")).to_have_count(0)
    page.goto(page.url)
    chips.get_by_role("button").press("Enter")
    expect(chips).to_have_count(0)
