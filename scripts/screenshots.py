"""Takes the pictures of the README from the running demo: `python -m scripts.screenshots` (`make screenshots`).

`--all FOLDER` takes every page instead, to be looked at: `make screenshots PAGES=/tmp/pages`. `--width`, `--theme` and `--language`
name some of 1280 and 390, light and dark, en and zh; without them all are taken.

Uses the demo that answers on PORT; where none does, starts one in a state folder of its own and removes it afterwards.
"""

import argparse
from itertools import product
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect

from demo.company import ADMINISTRATOR
from scripts.browsing import IMAGES, ROOT, Screen, ask, demo_in_browser, signed_in
from scripts.every_page import ADMINISTRATORS, READERS, addresses_of
from scripts.moving_picture import STORIES, film

COLOURS = 160  # of a picture: keeps text sharp and each file below 250 kB
LANGUAGES = {"en": "en-GB", "zh": "zh-CN"}
HEIGHTS = {1280: 800, 390: 844}
LONGEST = 3_000  # pixels of a page that are taken
SOURCE = ".quotation.is-best button.source"
QUESTIONS = {  # of a text, of a PDF, and of business data
    "en": (
        "What is the default timeout of HTTP calls between internal services?",
        "How many days of annual leave do employees in Rotterdam have?",
        "How many customers are there by region?",
    ),
    "zh": ("内部服务之间 HTTP 调用的默认超时时间是多少？", "业务招待餐费上限是每人多少？", "各地区有多少客户？"),
}


def main() -> None:
    asked = arguments()
    with demo_in_browser() as (browser, url):
        if asked.all:
            for width, theme, language in product(asked.width, asked.theme, asked.language):
                screen = Screen(width, HEIGHTS[width], LANGUAGES[language], theme)
                take_every_page(browser, url, screen, asked.all / f"{width}-{theme}-{language}")
        else:
            for language, questions in QUESTIONS.items():
                take_readme(browser, url, language, questions)
            for story in STORIES:
                film(browser, url, story)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="every page, into this folder")
    parser.add_argument("--width", type=int, nargs="+", choices=HEIGHTS, default=list(HEIGHTS))
    parser.add_argument("--theme", nargs="+", choices=("light", "dark"), default=["light", "dark"])
    parser.add_argument("--language", nargs="+", choices=LANGUAGES, default=list(LANGUAGES))
    return parser.parse_args()


def take_every_page(browser: Browser, url: str, screen: Screen, folder: Path) -> None:
    """Each page as a department head and the administrator see it, as FOLDER/NAME.png, and what is wider than the screen."""
    folder.mkdir(parents=True, exist_ok=True)
    for person, places in (("pieter", READERS), (ADMINISTRATOR, ADMINISTRATORS)):
        with signed_in(browser, url, screen, person) as page:
            for name, address in addresses_of(page, url, places):
                page.goto(url + address)
                page.wait_for_load_state("networkidle")
                size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
                clip = {"x": 0, "y": 0, "width": screen.width, "height": min(size[1], LONGEST)}
                page.screenshot(path=folder / f"{name}.png", full_page=True, clip=clip, animations="disabled")  # type: ignore[arg-type]
                print(f"{folder.name}/{name}.png{f': {size[0]} pixels wide' if size[0] > screen.width else ''}")


def take_readme(browser: Browser, url: str, language: str, questions: tuple[str, str, str]) -> None:
    """An answer beside its source, the page of a PDF behind one, business data, and the administrator's first page."""
    screen = Screen(1280, 800, LANGUAGES[language])
    text, page_of_pdf, data = questions
    with signed_in(browser, url, screen, "chen") as page:
        ask(page, text)
        page.locator(SOURCE).click()
        expect(page.locator("#drawer mark").first).to_be_visible()
        keep(page, f"chat-{language}")
    with signed_in(browser, url, screen, "emma") as page:
        ask(page, page_of_pdf)
        page.locator(SOURCE).click()
        page.locator("#drawer a.button-main").click()
        expect(page.locator("#cited, mark").first).to_be_attached()
        keep(page, f"document-{language}")
    with signed_in(browser, url, screen, "emma") as page:
        ask(page, data)
        expect(page.locator("canvas[data-drawn]")).to_be_visible()
        keep(page, f"data-{language}")
    with signed_in(browser, url, screen, ADMINISTRATOR) as page:
        page.goto(f"{url}/admin/")
        expect(page.locator("#health .light").first).to_be_attached()
        keep(page, f"administration-{language}")


def keep(page: Page, name: str) -> None:
    """Write docs/images/NAME.png with a palette."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    page.wait_for_load_state("networkidle")
    path = IMAGES / f"{name}.png"
    page.screenshot(path=path, animations="disabled", caret="hide")
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
