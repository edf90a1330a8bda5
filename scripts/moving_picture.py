"""The moving picture of the README: two people ask the same question, and once more after an administrator has taken a right away.

Each frame is a picture of the running demo under a caption. The right is given back in the end. `make screenshots` calls it.
"""

import base64
from collections.abc import Iterator
from html import escape
from io import BytesIO
from typing import NamedTuple

from PIL import Image
from playwright.sync_api import Browser, Page, expect

from demo.company import ADMINISTRATOR
from scripts.browsing import IMAGES, ROOT, Screen, ask, signed_in

WIDTH, HEIGHT, CAPTION, NAME = 960, 700, 56, 40  # pixels of a frame, its caption and a person's name above their page
SCALE = 0.82
COLOURS = 128  # of a frame
BAR, COMPOSER = 56, 300  # pixels of a chat page that a frame leaves out: its title, and at the end where one writes


class Story(NamedTuple):
    """Question, people and captions of the film in one language."""

    name: str
    language: str
    question: str
    figure: str  # what the first answer alone says
    reader: tuple[str, str]  # sign-in name, and name and work; loses the right
    other: tuple[str, str]
    again: tuple[str, str]  # above the new answer, and above the earlier one
    reason: str
    place: tuple[str, str]  # base and folder that the reader loses
    captions: tuple[str, str, str, str, str, str]


SECONDS = (2.5, 6.0, 4.0, 4.0, 2.5, 6.0)  # of each frame
STORIES = (
    Story(
        name="rights-en",
        language="en-GB",
        question="What is the salary band of level E5 in Rotterdam?",
        figure="88,000",
        reader=("lin", "Lin Yue · HR manager"),
        other=("emma", "Emma de Vries · product manager"),
        again=("Lin Yue · asks again", "Lin Yue · opens the earlier answer"),
        reason="Moved to another team",
        place=("People", "Compensation"),
        captions=(
            "Two people ask the same question.",
            "HR finds the salary bands. Product finds only what all staff may read.",
            "Lin leaves HR. An administrator denies her the folder …",
            "… and sees who loses what before saving.",
            "Saved. A denial wins over every grant.",
            "The same question again: no salaries. The earlier answer hides them, too.",
        ),
    ),
    Story(
        name="rights-zh",
        language="zh-CN",
        question="2026 年调薪怎么安排？",
        figure="4.5%",
        reader=("lin", "林悦 · 人力资源经理"),
        other=("chen", "陈伟 · 平台工程师"),
        again=("林悦 · 再次提问", "林悦 · 打开之前的回答"),
        reason="调往其他部门",
        place=("人力资源", "薪酬"),
        captions=(
            "两个人问同一个问题。",
            "人力资源看到调薪预算，工程师看到全员可读的规定。",
            "林悦调离人力资源，管理员禁止她查看“薪酬”文件夹……",
            "……保存之前，先看到谁会失去什么。",
            "已保存。禁止优先于任何授权。",
            "再次提问，调薪预算已不再出现，之前的回答中也一样。",
        ),
    ),
)


STYLE = f"""
* {{ margin: 0; box-sizing: border-box }}
body {{ font: 16px "Noto Sans", "Noto Sans CJK SC", sans-serif; background: #f8f7f4 }}
h1 {{ height: {CAPTION}px; padding: 14px 24px; font-size: 21px; line-height: 28px; color: #fff; background: #0c665f }}
h2 {{ height: {NAME}px; padding: 9px 14px; font-size: 15px; line-height: 22px; background: #e2f0ed }}
main {{ display: flex }}
img {{ display: block; width: 100% }}
section {{ width: 50% }}
section + section {{ border-left: 2px solid #0c665f }}
section div {{ height: {HEIGHT - CAPTION - NAME}px; overflow: hidden }}
section img {{ margin-top: {-BAR * SCALE}px }}
"""


def film(browser: Browser, url: str, story: Story) -> None:
    """Write docs/images/NAME.gif."""
    half = Screen(
        round(WIDTH / 2 / SCALE), round((HEIGHT - CAPTION - NAME) / SCALE) + BAR + COMPOSER, story.language, scale=SCALE
    )
    whole = Screen(round(WIDTH / SCALE), round((HEIGHT - CAPTION) / SCALE), story.language, scale=SCALE)
    with (
        signed_in(browser, url, half, story.reader[0]) as reader,
        signed_in(browser, url, half, story.other[0]) as other,
        signed_in(browser, url, whole, ADMINISTRATOR) as administrator,
    ):
        people = (story.reader[1], story.other[1])
        for page in (reader, other):
            page.get_by_role("textbox").fill(story.question)
        scenes = [beside(people, (reader.screenshot(), other.screenshot()))]
        for page in (reader, other):
            ask(page, story.question)
        expect(reader.locator("#thread")).to_contain_text(story.figure)
        scenes.append(beside(people, (answer(reader), answer(other, without=story.figure))))
        try:
            scenes += [f"<img src='{source(picture)}'>" for picture in deny(administrator, url, story)]
            reader.reload()
            earlier = answer(reader, without=story.figure)
            reader.goto(url)
            reader.wait_for_load_state("networkidle")
            ask(reader, story.question)
            scenes.append(beside(story.again, (answer(reader, without=story.figure), earlier)))
        finally:
            give_back(administrator)
    with browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}).new_page() as easel:
        save(story.name, [draw(easel, *captioned) for captioned in zip(story.captions, scenes, strict=True)])


def deny(page: Page, url: str, story: Story) -> Iterator[bytes]:
    """Deny the reader the folder on the page of its rights; pictures of the form, of what it would change, and of the end."""
    page.locator("[data-fold]").click()
    page.goto(f"{url}/admin/rights/")
    page.locator("select[name=base]").select_option(label=story.place[0])
    page.locator("form:has(select[name=base]) button").click()
    page.get_by_role("link", name=story.place[1], exact=True).click()
    page.locator("input[name=holder_kind][value=user]").check()
    page.locator("#holder").fill(story.reader[0])
    page.locator("#reason").fill(story.reason)
    for button in ("button[value=deny]", "form:has(input[name=confirmed]) button"):
        for lost in page.locator("details.pad > summary").all():
            lost.click()
        page.locator(button).evaluate("button => button.style.boxShadow = '0 0 0 4px orange'")
        yield page.screenshot(animations="disabled", caret="hide")
        page.locator(button).click()
        page.wait_for_load_state("networkidle")
    expect(page.locator(".row-denied")).to_be_visible()
    yield page.screenshot(animations="disabled")


def give_back(page: Page) -> None:
    """Take the denial back, where one stands."""
    if page.locator(".row-denied").count():
        page.locator(".row-denied button").click()
        page.locator("form:has(input[name=confirmed]) button").click()
        expect(page.locator(".row-denied")).to_have_count(0)


def answer(page: Page, *, without: str | None = None) -> bytes:
    """The answer from its question on; fails where it holds what it must not."""
    page.wait_for_load_state("networkidle")
    if without is not None:
        expect(page.locator("#thread")).not_to_contain_text(without)
    page.evaluate("scrollTo(0, 0)")
    return page.screenshot(animations="disabled")


def beside(names: tuple[str, str], pictures: tuple[bytes, bytes]) -> str:
    """Two pages beside each other, each under a name."""
    return "".join(
        f"<section><h2>{escape(name)}</h2><div><img src='{source(picture)}'></div></section>"
        for name, picture in zip(names, pictures, strict=True)
    )


def source(picture: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(picture).decode()


def draw(easel: Page, caption: str, scene: str) -> Image.Image:
    """A frame: a caption over a scene."""
    easel.set_content(f"<style>{STYLE}</style><h1>{escape(caption)}</h1><main>{scene}</main>", wait_until="load")
    return Image.open(BytesIO(easel.screenshot())).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)


def save(name: str, frames: list[Image.Image]) -> None:
    path = IMAGES / f"{name}.gif"
    durations = [round(seconds * 1000) for seconds in SECONDS]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")
