"""Looking after documents in a real browser: files dropped with a drag, cancelled and tried again; several chosen; the trash."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import System

pytestmark = pytest.mark.browser


def drop(page: Page, *paths: Path) -> None:
    """A drag of files and folders out of the operating system, as the browser gets it."""
    page.wait_for_load_state("networkidle")  # the page listens
    box = page.locator("#drop").bounding_box()
    assert box is not None
    devtools = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": kind, "x": box["x"] + 40, "y": box["y"] + 20, "data": data})


def line(name: str) -> str:
    return f"#uploads-list li:has-text('{name}') .upload-state"


def test_files_are_dropped_cancelled_tried_again_chosen_and_trashed(page: Page, system: System, tmp_path: Path) -> None:
    """By Pieter, who manages all of engineering, in the folder of runbooks."""
    faults: list[str] = []
    page.on(
        "console",
        lambda said: faults.append(said.text) if said.type == "error" and "Failed to load" not in said.text else None,
    )
    system.sign_in(page, "pieter")
    page.goto(f"{system.url}/library/")
    page.get_by_role("link", name=re.compile("Engineering")).first.click()
    page.get_by_role("link", name=re.compile("Runbooks")).last.click()
    dragged = tmp_path / "dragged" / "below"
    dragged.mkdir(parents=True)
    (dragged / "dropped-three.md").write_text("# Three")
    for name in ("dropped-one.md", "dropped-two.md", "report.doc"):
        (tmp_path / name).write_text(f"# {name}")
    expect(page.locator(".tree [aria-current]")).to_contain_text("Runbooks")
    count = page.locator(".tree [aria-current] .tree-count")
    before = int(count.inner_text())
    drop(page, tmp_path / "dropped-one.md", tmp_path / "report.doc", tmp_path / "dragged")
    expect(page.locator(line("report.doc"))).to_contain_text("save it as .docx")
    expect(page.locator(line("dropped-one.md"))).to_contain_text(re.compile("uploaded|ready"))
    expect(page.locator(line("dragged/below/dropped-three.md"))).to_contain_text("ready", timeout=60_000)
    expect(page.locator("#subfolders")).to_contain_text("dragged")  # without a reload
    page.route("**/upload/", lambda route: None)  # never answered, as on a line that hangs
    drop(page, tmp_path / "dropped-two.md")
    page.get_by_role("button", name="Cancel: dropped-two.md").click()
    expect(page.locator(line("dropped-two.md"))).to_contain_text("cancelled")
    page.unroute("**/upload/")
    page.get_by_role("button", name="Try again: dropped-two.md").click()
    expect(page.locator(line("dropped-two.md"))).to_contain_text(re.compile("uploaded|ready"))

    expect(count).to_have_text(str(before + 3))  # without a reload

    page.goto(f"{system.url}/library/find/?q=dropped")
    expect(page.get_by_role("button", name="Move to trash")).to_be_disabled()
    for name in ("dropped-one.md", "dropped-two.md"):
        page.locator(f"tr:has-text('{name}') input[name=documents]").check()
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.get_by_role("button", name="Move to trash").click()
    expect(page.get_by_text("2 documents are in the trash.")).to_be_visible()
    page.goto(f"{system.url}/library/trash/")
    page.locator("tr:has-text('dropped-one.md')").get_by_role("button", name=re.compile("^Restore")).click()
    expect(page.get_by_text("is back where it was.")).to_be_visible()
    page.goto(f"{system.url}/library/trash/")
    expect(page.locator("tbody tr")).to_have_count(1)
    assert faults == []
