"""The modern pages of a site of SharePoint, by Microsoft Graph v1.0: their list and their content.

learn.microsoft.com/graph: sitePage, canvasLayout, webPart (textWebPart, standardWebPart), publicationFacet.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from django.utils.translation import gettext as _

from knowledge.sources.answers import dug, listed
from knowledge.sources.base import Content, Unreadable
from knowledge.sources.microsoft_graph import Graph
from knowledge.sources.wiki_pages import document_of, sections_of_html

KIND = "microsoft.graph.sitePage"
SELECT = "id,title,webUrl,eTag,publishingState,parentReference"


@dataclass(frozen=True)
class Page:
    """library: id of the list that it lies in. is_published: as it is now; was_published: once, and is edited since."""

    id: str
    title: str
    version: str
    library: str
    is_published: bool
    was_published: bool


def pages_of(graph: Graph, site: str) -> dict[str, Page]:
    """Return the pages of a site, by their `place_of` keys."""
    found = graph.pages(f"sites/{site}/pages/{KIND}?$select={SELECT}")
    return {place_of(str(item.get("webUrl") or "")): _page(item) for item in found}


def place_of(url: str) -> str:
    """Return the normalised path of an address, the same for a page and for its file."""
    return unquote(urlsplit(url).path).casefold()


def read_page(graph: Graph, site: str, page_id: str) -> Content:
    """Return the content of a published page. Raises NotThere, Unreadable."""
    reply = graph.ask(f"sites/{site}/pages/{quote(page_id, safe='')}/{KIND}?$expand=canvasLayout")
    page = _page(reply)
    if not page.is_published:
        raise Unreadable(edited(page))
    body = f"<h1>{escape(page.title)}</h1>{''.join(_parts(reply.get('canvasLayout')))}"
    return Content(document_of(page.title, body), title=page.title, sections=sections_of_html(body))


def edited(page: Page) -> str:
    return _("“%(name)s” is being edited there: it is read again when it is published.") % {"name": page.title}


def _page(data: Mapping[str, Any]) -> Page:
    state = data.get("publishingState")
    return Page(
        id=str(data.get("id") or ""),
        title=str(data.get("title") or ""),
        version=str(data.get("eTag") or "")[:200],
        library=str(dug(data, "parentReference", "listId") or ""),
        is_published=dug(state, "level") == "published",
        was_published=str(dug(state, "versionId") or "0").partition(".")[0] != "0",
    )


def _parts(canvas: Any) -> Iterator[str]:
    """Yield the web parts from top to bottom, those of the vertical section last."""
    for section in listed(canvas, "horizontalSections"):
        for column in listed(section, "columns"):
            yield from map(_part, listed(column, "webparts"))
    yield from map(_part, listed(canvas, "verticalSection", "webparts"))


def _part(part: Mapping[str, Any]) -> str:
    """Return a web part's text; of parts other than text, what SharePoint's own search reads."""
    if isinstance(part.get("innerHtml"), str):
        return f"<div>{part['innerHtml']}</div>"
    made = dug(part, "data", "serverProcessedContent")
    plain = [f"<p>{escape(str(item.get('value') or ''))}</p>" for item in listed(made, "searchablePlainTexts")]
    return "".join([*plain, *(f"<div>{item.get('value') or ''}</div>" for item in listed(made, "htmlStrings"))])
