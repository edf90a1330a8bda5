"""Shared code of wiki connectors: a page's HTML as a document, with the sections that can be linked to."""

from html import escape
from typing import Any

from django.utils.translation import gettext as _
from lxml import html

from knowledge.sources.base import Missed, Unreadable

MAX_NAME = 120  # characters of one part of a path
HEADINGS = "//h1[@id] | //h2[@id] | //h3[@id] | //h4[@id] | //h5[@id]"


def format_path_name(title: Any) -> str:
    """Return a page's title as one part of a path."""
    return str(title).replace("/", "-").strip()[:MAX_NAME] or "_"


def list_html_sections(body: str) -> tuple[tuple[str, str], ...]:
    """Return the headings of a page that have an id, with it."""
    found = html.fromstring(f"<div>{body}</div>").xpath(HEADINGS)
    return tuple((" ".join(item.text_content().split()), item.get("id")) for item in found)


def build_html_document(title: str, body: str) -> bytes:
    """Return a whole HTML document of a page's body."""
    return f'<html><head><meta charset="utf-8"><title>{escape(title)}</title></head><body>{body}</body></html>'.encode()


def build_unknown_page(page_id: Any) -> Missed:
    """Return a missed page whose listing lacks its data."""
    return Missed(str(page_id), _("The wiki does not say what this page is now."))


def build_refusal_error(why: Any) -> Unreadable:
    """Return the error for a wiki's refusal, in its words."""
    return Unreadable(_("The wiki refuses: %(why)s") % {"why": str(why)[:300]})


def build_account_error(url: str) -> Unreadable:
    """Return the error for an account or password that a wiki does not know."""
    return Unreadable(_("%(url)s needs another account or password.") % {"url": url})
