"""A chat page that talks with a scripted model: it searches, then writes the sentences of one manual, as slowly as it is told."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.test import override_settings
from playwright.sync_api import Locator, Page, expect

from tests.factories import allow, make_base, make_document, make_user
from tests.modelserver import ModelServer, Request, Step, calls, says, says_json, serving
from tests.served import serving_site

PASSWORD = "a long password"
RULES = [
    f"Rule {number}: a trip of {number} days to the {place} is reported to the head of travel before it begins."
    for number, place in enumerate(
        ["coast", "hills", "islands", "capital", "border", "valley", "harbour", "plateau", "delta", "forest"], 2
    )
]
SLOWLY_S = 0.0015  # between two bytes: about four pieces of the answer a second
QUESTION = "Which rules are there for trips?"


class Writer:
    """What the model says. sentences: of the manual, in the order in which they are written. pace_s: between two bytes."""

    def __init__(self) -> None:
        self.sentences = RULES[:2]
        self.pace_s = 0.0

    def __call__(self, request: Request) -> Step:
        said = "\n".join(str(message.get("content") or "") for message in request["messages"])
        if "tools" in request:
            if not any(message["role"] == "tool" for message in request["messages"]):
                return calls(("knowledge_search", {"queries": ["rules for trips"]}))
            return says(" ".join(self._cited(said)), size=40, pace_s=self.pace_s)
        return says_json({"judgements": [], "passage": 0, "quote": ""})

    def _cited(self, said: str) -> Iterator[str]:
        evidence = re.findall(r'<evidence number="(\d+)"[^>]*>(.*?)</evidence>', said, flags=re.DOTALL)
        for sentence in self.sentences:
            number = next((number for number, text in evidence if sentence in text), None)
            if number:
                yield sentence.removesuffix(".") + f" [{number}]."


@dataclass(frozen=True)
class Talk:
    """A running chat, whose only reader is `nina`."""

    url: str
    model: ModelServer
    writer: Writer
    nina: User


@contextmanager
def talking() -> Iterator[Talk]:
    """The site on the database of the test, with a base that `nina` may read. In a thread: a process would load the product again."""
    base = make_base("Travel")
    make_document(base, "trips.md", "# Trips\n\n" + "\n\n".join(RULES), ingested=True)
    nina = make_user("nina", password=PASSWORD)
    allow(nina, base)
    writer = Writer()
    with serving(chooses=writer) as model:
        chosen = settings.LLM | {"base_url": model.base_url, "model": "scripted"}
        with override_settings(LLM=chosen), serving_site(sockets=True) as url:
            yield Talk(url, model, writer, nina)


def sign_in(page: Page, url: str, name: str = "nina") -> None:
    page.goto(f"{url}/sign-in/")
    page.fill("#id_username", name)
    page.fill("#id_password", PASSWORD)
    page.click(".sign-in form .button-main")
    page.wait_for_url(f"{url}/")
    page.wait_for_load_state()


def send(page: Page, question: str) -> None:
    page.fill("#question", question)
    page.press("#question", "Enter")


def settled(page: Page, place: int = 0) -> Locator:
    """The answer at this place, when it stands as the server renders it."""
    answer = page.locator("li.message.answer[id^=m-]").nth(place)
    expect(answer.locator(".answer-foot").or_(answer.locator(".answer-state")).first).to_be_visible()
    return answer


def ask(page: Page, question: str, place: int = 0) -> Locator:
    send(page, question)
    return settled(page, place)


def top_of(item: Locator) -> float:
    """How far below the top of the window it begins, in pixels."""
    box: dict[str, Any] | None = item.bounding_box()  # type: ignore[assignment]
    assert box
    return float(box["y"])
