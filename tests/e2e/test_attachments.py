"""Files in the chat: chosen, dropped, followed, asked with, refused, and filed into a folder."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from authz.permissions import Right
from knowledge.ingestion.pipeline import run_ingestion
from knowledge.models import ATTACHMENTS, Document, DocumentVersion, KnowledgeBase, ParseStatus
from knowledge.services.folders import find_root_folder
from tests.e2e.talking import QUESTION, Talk, send, settled
from tests.e2e.test_accessibility import unusable
from tests.factories import allow

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CONTRACT = "# Contract with Meyer\n\nRule 99: a trip that Meyer pays for is reported to nobody but Meyer.\n"
IS_READ_FIRST = "The question is sent as soon as its files are read."


def drop(page: Page, path: Path) -> None:
    """A drag out of the operating system onto the composer, as the browser gets it."""
    box = page.locator("#composer").bounding_box()
    assert box is not None
    devtools = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, "x": box["x"] + 90, "y": box["y"] + 20, "data": data})


def chips(page: Page) -> Locator:
    return page.locator("#attachments > .file-chip")


def read_all() -> None:
    """What a worker does."""
    for version in DocumentVersion.unscoped.filter(
        document__knowledge_base=ATTACHMENTS, parse_status=ParseStatus.PENDING
    ):
        run_ingestion(version.pk)


def test_files_are_dropped_refused_taken_out_read_asked_with_and_filed(page: Page, talk: Talk, tmp_path: Path) -> None:
    talk.writer.sentences = ["Rule 99: a trip that Meyer pays for is reported to nobody but Meyer."]
    contract, old, broken = (tmp_path / name for name in ("meyer.md", "old.doc", "broken.pdf"))
    contract.write_text(CONTRACT)
    old.write_bytes(b"old")
    broken.write_bytes(b"%PDF-1.4 nothing")
    state, sent = page.locator("#attachments-state"), page.locator("li.question")

    page.set_input_files("#attach", [old, broken])
    expect(chips(page)).to_have_count(2)
    expect(chips(page).filter(has_text="old.doc")).to_contain_text("save it as .docx")
    expect(chips(page).filter(has_text="broken.pdf")).to_contain_text("waits to be read")
    read_all()
    expect(chips(page).filter(has_text="broken.pdf")).to_have_class(re.compile("is-failed"))
    page.fill("#question", QUESTION)
    expect(page.locator("#send")).to_be_disabled()
    expect(state).to_contain_text("Remove files that cannot be read")
    assert unusable(page) == []
    for name in ("old.doc", "broken.pdf"):
        chips(page).filter(has_text=name).get_by_role("button").click()
    expect(chips(page)).to_have_count(0)
    expect(page.locator("#send")).to_be_enabled()
    expect(page.locator("#question")).to_be_focused()

    drop(page, contract)
    expect(chips(page)).to_contain_text(["waits to be read"])
    expect(state).to_have_text("Send when you are ready: the question waits until its files are read.")
    page.press("#question", "Enter")
    expect(state).to_have_text(IS_READ_FIRST)
    expect(sent).to_have_count(0)
    page.locator("#question").press_sequentially(" ")  # whoever writes on has not sent it
    expect(state).to_have_text("Send when you are ready: the question waits until its files are read.")
    page.reload()
    expect(chips(page)).to_contain_text(["meyer.md"])
    send(page, QUESTION)
    expect(state).to_have_text(IS_READ_FIRST)
    expect(page.locator("#narrow")).to_be_disabled()
    expect(sent).to_have_count(0)
    read_all()
    answer = settled(page)
    expect(answer).to_contain_text("nobody but Meyer")
    expect(page.locator("#question")).to_have_value("")
    expect(chips(page)).to_have_count(0)
    expect(page.locator(".question .question-files .attached-name")).to_have_text(["meyer.md"])
    names = set(Document.unscoped.filter(knowledge_base=ATTACHMENTS).values_list("filename", flat=True))
    assert names == {"meyer.md"}, "what was taken out is deleted"
    answer.locator(".cite").first.click()
    expect(page.locator("#drawer-body")).to_contain_text("nobody but Meyer")
    expect(page.locator("#drawer-body .source-facts").first).to_contain_text("meyer.md")
    page.keyboard.press("Escape")
    drop(page, contract)  # again
    expect(chips(page)).to_contain_text(["ready"])
    chips(page).get_by_role("button").click()
    expect(chips(page)).to_have_count(0)

    base = KnowledgeBase.unscoped.get(name="Travel")
    page.get_by_role("link", name="File meyer.md into a folder").click()
    expect(page.get_by_role("main")).to_contain_text("You cannot add files to any folder")
    allow(talk.nina, base, Right.ADD)
    page.reload()
    assert unusable(page) == []
    page.get_by_role("radio", name="Travel").check()
    page.get_by_role("button", name="File it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Travel")
    expect(page.get_by_role("main")).to_contain_text("meyer.md")
    assert Document.unscoped.filter(folder=find_root_folder(base), filename="meyer.md").exists()
