"""The way from a document to a cited answer, in a real browser on the real system, and nothing of it for who may not read."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from copilot_site.embedded.process import wait_until
from tests.e2e.conftest import System
from tests.e2e.talking import ask, settled
from tests.evaluation_data import data_folder

pytestmark = pytest.mark.browser
PAGES = "docs/concepts/workloads/controllers"
QUESTION_ZH = "Kubernetes 中 Deployment 的 rolling update 默认策略是什么？"
QUESTION_EN = "What is the default rolling update strategy of a Deployment?"


@pytest.fixture(scope="module")
def kubernetes(system: System, tmp_path_factory: pytest.TempPathFactory) -> System:
    """The system with the pages on workloads of both languages imported; engineers may read them, product managers may not."""
    raw = data_folder("k8s_docs") / "raw"
    tree = tmp_path_factory.mktemp("kubernetes")
    for language in ("en", "zh-cn"):
        shutil.copytree(raw / language / PAGES, tree / language / PAGES)
    assert "0 failed" in _import(system, tree)
    return system


@pytest.mark.data
@pytest.mark.parametrize("question", [QUESTION_ZH, QUESTION_EN])
def test_engineer_gets_the_default_strategy_with_its_source(kubernetes: System, page: Page, question: str) -> None:
    kubernetes.sign_in(page, "chen")
    page.locator("#question").press_sequentially("@Kubernetes")
    page.locator("#places [role=option]").first.wait_for()
    page.keyboard.press("Enter")
    expect(page.locator("#scope li")).to_have_count(1)
    answer = ask(page, question)
    expect(answer).to_contain_text("25%")
    answer.locator("button.source").first.click()
    drawer = page.locator("#drawer")
    expect(drawer).to_contain_text("Deployment")
    expect(drawer.locator("mark").first).to_be_visible()


@pytest.mark.data
@pytest.mark.parametrize("question", [QUESTION_ZH, QUESTION_EN])
def test_product_manager_gets_nothing_of_what_engineers_read(kubernetes: System, page: Page, question: str) -> None:
    kubernetes.sign_in(page, "emma")
    answer = ask(page, question)
    expect(answer).to_contain_text("not verified")  # what comes closest of her own documents
    expect(answer).not_to_contain_text("25%")
    expect(answer).not_to_contain_text("maxUnavailable")


def test_a_line_at_the_foot_of_a_printed_page_is_in_view_when_its_document_opens(
    system: System, page: Page, tmp_path: Path
) -> None:
    """The page's image comes after the page itself, and moves what is cited down with it."""
    page.set_content(
        "<p>Nothing of interest stands here.</p>" * 26 + "<p>The saffron walrus depot opens on 3 May 2027.</p>"
    )
    page.pdf(path=tmp_path / "depots.pdf", format="A4")
    _upload(system, tmp_path / "depots.pdf")
    system.sign_in(page, "pieter")
    ask(page, "When does the saffron walrus depot open?").locator("button.source").first.click()
    expect(page.locator("#drawer-title")).to_have_text(re.compile(r"^Source · \w"))  # its heading is scrolled away
    page.set_viewport_size({"width": 390, "height": 844})  # a printed page stays legible, and moves under the finger
    frame = page.locator("#drawer .sheet-frame")
    assert frame.evaluate("frame => frame.offsetWidth") >= 600
    assert page.locator("#drawer").evaluate("drawer => drawer.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("link", name="Open the document").click()
    expect(page.locator(".sheet-frame img")).to_have_js_property("complete", True)
    expect(page.locator("#cited")).to_be_in_viewport()


def test_conversation_survives_an_idle_minute_of_the_socket(system: System, page: Page) -> None:
    system.sign_in(page, "chen")
    ask(page, "How long do access tokens live?")
    page.wait_for_timeout(8_000)  # longer than a reader of a run waits for an event
    answer = ask(page, "内部服务之间 HTTP 调用的默认超时时间是多少？", place=1)
    expect(answer).to_contain_text("3 秒")


def test_a_click_on_a_reading_asks_it(system: System, page: Page) -> None:
    system.sign_in(page, "chen")
    readings = ask(page, "help").locator("[data-ask]")
    expect(readings).to_have_count(3)
    chosen = readings.nth(1).inner_text().strip()
    readings.nth(1).click()
    answer = settled(page, 1)
    expect(page.locator("li.message.question").nth(1)).to_contain_text(chosen)
    expect(answer.locator("[data-ask]")).to_have_count(0)
    page.reload()
    expect(page.locator("li.message.question")).to_contain_text(["help", chosen])


def _import(system: System, tree: Path) -> str:
    done = system.checkout.manage("import_folder", str(tree), "--kb", "Kubernetes", "--as", "pieter", timeout_s=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _upload(system: System, file: Path) -> None:
    """Let Pieter upload a file into the base Kubernetes, and wait until the worker has read it."""
    with system.signed_in("pieter") as client:
        bases = client.get("/api/v1/knowledge-bases").raise_for_status().json()["results"]
        base = next(base["id"] for base in bases if base["name"] == "Kubernetes")
        folder = client.get("/api/v1/folders", params={"knowledge_base": base}).json()["results"][0]["id"]
        files = {"file": (file.name, file.read_bytes())}
        made = client.post(f"/api/v1/folders/{folder}/documents", files=files).raise_for_status().json()
        address = f"/api/v1/documents/{made['document']['id']}"
        assert wait_until(lambda: client.get(address).json()["parse_status"] == "completed", timeout_s=120)
