"""What connectors of wikis share: the HTML of a page as a document, with the sections that can be linked to."""

from html import escape
from typing import Any

from lxml import html

LONGEST_NAME = 120  # characters of one part of a path
HEADINGS = "//h1[@id] | //h2[@id] | //h3[@id] | //h4[@id] | //h5[@id]"


def name_of(title: Any) -> str:
    """A page's title as one part of a path."""
    return str(title).replace("/", "-").strip()[:LONGEST_NAME] or "_"


def sections_of_html(body: str) -> tuple[tuple[str, str], ...]:
    """The headings of a page that have an id, with it."""
    found = html.fromstring(f"<div>{body}</div>").xpath(HEADINGS)
    return tuple((" ".join(each.text_content().split()), each.get("id")) for each in found)


def document_of(title: str, body: str) -> bytes:
    """A whole HTML document of a page's body."""
    return f'<html><head><meta charset="utf-8"><title>{escape(title)}</title></head><body>{body}</body></html>'.encode()
