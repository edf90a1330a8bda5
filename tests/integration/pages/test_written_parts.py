"""What a model writes at length: blocks of code with a button that copies them, and a line of contents above many parts."""

import re
from typing import Any

from django.urls import reverse

from agent.models import Role
from tests.integration.pages.house import House, client_of, plain

CODE = "```\nkubectl get pods\necho '<script>alert(1)</script>'\n```"


def body_with(house: House, *texts: str) -> str:
    """The page of an answer that a model wrote in these blocks."""
    sentences: list[dict[str, Any]] = [
        {"text": text, "citations": [], "gap": "\n\n" if place else ""} for place, text in enumerate(texts)
    ]
    house.session.messages.filter(role=Role.ASSISTANT).update(provider="model", sentences=sentences)
    return plain(client_of(house.reader).get(reverse("conversation", args=[house.session.pk])).content)


def test_a_block_of_code_has_a_button_of_its_own(house: House) -> None:
    body = body_with(house, "Do this:", CODE)
    assert body.count("data-copy-code") == 1
    block = re.search(r'<div class="code-block">.*?</div>', body, re.DOTALL)
    assert block
    assert "kubectl get pods" in block[0]
    assert "<script>" not in block[0]


def test_many_parts_are_listed_above_and_few_are_not(house: House) -> None:
    parts = ("# One & all", "Text.", "## Two", "Text.", "## *Three*", "Text.")
    body = body_with(house, *parts)
    contents = re.search(r'<nav class="contents".*?</nav>', body, re.DOTALL)
    assert contents
    links = re.findall(r'href="#([^"]+)"[^>]*>([^<]+)<', contents[0])
    assert [words for _anchor, words in links] == ["One &amp; all", "Two", "Three"]
    assert [body.count(f'id="{anchor}"') for anchor, _words in links] == [1, 1, 1]
    assert '<nav class="contents"' not in body_with(house, *parts[:4])
