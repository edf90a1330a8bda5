"""A DokuWiki, by its XML-RPC API."""

import xmlrpc.client
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from xml.parsers.expat import ExpatError

from django.utils.translation import gettext_lazy as _

from knowledge.sources import base
from knowledge.sources.answers import strange
from knowledge.sources.base import ConnectorContext, Content, Item, Missed, asked
from knowledge.sources.files import gone
from knowledge.sources.http import FolderAddress, HttpConnector, basic
from knowledge.sources.wiki_pages import document_of, other_account, refused, sections_of_html, unknown_page


class DokuWikiSettings(base.Settings):
    url: FolderAddress = asked(
        _("address"), _("Of the wiki, like https://wiki.example.com/ or https://example.com/dokuwiki/.")
    )
    namespace: str = asked(_("namespace"), _("Like handbook:rules. Empty: the whole wiki."), default="")
    username: str = asked(_("account"), _("The account used to read there. Empty: public pages only."), default="")

    @property
    def address(self) -> str:
        return self.url


class DokuWikiConnector(HttpConnector):
    """Pages are known by their names, and change with their revision. What the account may not read is not listed."""

    label = _("DokuWiki")
    about = _(
        "The pages of a DokuWiki, with their authors and links to their sections. Its remote API is switched on there."
    )
    noun = _("wiki page")
    secret_label = _("Password")
    ids_are_paths = True
    wants = DokuWikiSettings

    def __init__(self, settings: DokuWikiSettings, reading: ConnectorContext) -> None:
        self._settings = settings
        self.connect(settings.url, reading, headers=basic(settings.username, reading.secret))
        # a wrong password gives anonymous access, which would withdraw the non-public pages
        if reading.secret and self._call("dokuwiki.login", settings.username, reading.secret) is not True:
            raise other_account(settings.url)

    def listing(self) -> Iterator[Item | Missed]:
        for page in self._call("dokuwiki.getPagelist", self._settings.namespace, {"depth": 0}):
            try:
                yield self._item(page)
            except (LookupError, TypeError, ValueError, OverflowError):
                yield unknown_page(page)

    def fetch(self, item: Item) -> Content:
        """Return the newest revision of a page, and its author."""
        html = str(self._call("wiki.getPageHTML", item.id))
        if not html.strip():
            raise gone(item.id)
        sections = sections_of_html(html)
        title = sections[0][0] if sections else item.id.rpartition(":")[2]
        return Content(document_of(title, html), title=title, author=self._author(item.id), sections=sections)

    def _author(self, page: str) -> str:
        info = self._call("wiki.getPageInfo", page)
        return str(info.get("author", "")) if isinstance(info, dict) else ""

    def _item(self, page: Mapping[str, Any]) -> Item:
        name = str(page["id"])
        return Item(
            id=name,
            path=f"{name.replace(':', '/')}.html",
            version=f"{page['rev']} {page['size']}",  # a revision is named by its second
            url=f"{self._settings.url}doku.php?id={quote(name, safe=':')}",
            modified_at=datetime.fromtimestamp(int(page["rev"]), UTC),
        )

    def _call(self, method: str, *given: Any) -> Any:
        """Call the API. Raises Unreadable for a refusal and for an answer of another program."""
        url = f"{self._settings.url}lib/exe/xmlrpc.php"
        body = xmlrpc.client.dumps(given, method, allow_none=True).encode()
        answer = self._client.request("POST", url, headers={"Content-Type": "text/xml"}, body=body)
        declares = b"<!DOCTYPE" in answer.body or b"<!ENTITY" in answer.body
        try:
            (result,), _method = xmlrpc.client.loads(b"" if declares else answer.body)
        except xmlrpc.client.Fault as error:
            raise refused(error.faultString) from error
        except (ValueError, TypeError, LookupError, ExpatError, xmlrpc.client.ResponseError) as error:
            raise strange(url, "DokuWiki") from error
        return result


base.connectors.add("dokuwiki", DokuWikiConnector)
