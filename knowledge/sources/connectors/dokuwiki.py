"""A DokuWiki, by its XML-RPC API."""

import xmlrpc.client
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote
from xml.parsers.expat import ExpatError

from django.utils.translation import gettext_lazy as _

from knowledge.sources import base
from knowledge.sources.answers import build_answer_error
from knowledge.sources.base import ConnectorContext, ItemContent, ListedItem, Missed, build_settings_field
from knowledge.sources.files import build_file_gone_error
from knowledge.sources.http import FolderAddress, HttpConnector, build_basic_auth
from knowledge.sources.wiki_pages import (
    build_account_error,
    build_html_document,
    build_refusal_error,
    build_unknown_page,
    list_html_sections,
)


class DokuWikiSettings(base.Settings):
    url: FolderAddress = build_settings_field(
        _("address"), _("Of the wiki, like https://wiki.example.com/ or https://example.com/dokuwiki/.")
    )
    namespace: str = build_settings_field(_("namespace"), _("Like handbook:rules. Empty: the whole wiki."), default="")
    username: str = build_settings_field(
        _("account"), _("The account used to read there. Empty: public pages only."), default=""
    )

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
        self.connect(settings.url, reading, headers=build_basic_auth(settings.username, reading.secret))
        # a wrong password gives anonymous access, which would withdraw the non-public pages
        if reading.secret and self._call_method("dokuwiki.login", settings.username, reading.secret) is not True:
            raise build_account_error(settings.url)

    def listing(self) -> Iterator[ListedItem | Missed]:
        for page in self._call_method("dokuwiki.getPagelist", self._settings.namespace, {"depth": 0}):
            try:
                yield self._build_item(page)
            except (LookupError, TypeError, ValueError, OverflowError):
                yield build_unknown_page(page)

    def fetch(self, item: ListedItem) -> ItemContent:
        """Return the newest revision of a page, and its author."""
        html = str(self._call_method("wiki.getPageHTML", item.id))
        if not html.strip():
            raise build_file_gone_error(item.id)
        sections = list_html_sections(html)
        title = sections[0][0] if sections else item.id.rpartition(":")[2]
        return ItemContent(
            build_html_document(title, html), title=title, author=self._find_author(item.id), sections=sections
        )

    def _find_author(self, page: str) -> str:
        info = self._call_method("wiki.getPageInfo", page)
        return str(info.get("author", "")) if isinstance(info, dict) else ""

    def _build_item(self, page: Mapping[str, Any]) -> ListedItem:
        name = str(page["id"])
        return ListedItem(
            id=name,
            path=f"{name.replace(':', '/')}.html",
            version=f"{page['rev']} {page['size']}",  # a revision is named by its second
            url=f"{self._settings.url}doku.php?id={quote(name, safe=':')}",
            modified_at=datetime.fromtimestamp(int(page["rev"]), UTC),
        )

    def _call_method(self, method: str, *given: Any) -> Any:
        """Call the API. Raises Unreadable for a refusal and for an answer of another program."""
        url = f"{self._settings.url}lib/exe/xmlrpc.php"
        body = xmlrpc.client.dumps(given, method, allow_none=True).encode()
        answer = self._client.request("POST", url, headers={"Content-Type": "text/xml"}, body=body)
        declares = b"<!DOCTYPE" in answer.body or b"<!ENTITY" in answer.body
        try:
            (result,), _method = xmlrpc.client.loads(b"" if declares else answer.body)
        except xmlrpc.client.Fault as error:
            raise build_refusal_error(error.faultString) from error
        except (ValueError, TypeError, LookupError, ExpatError, xmlrpc.client.ResponseError) as error:
            raise build_answer_error(url, "DokuWiki") from error
        return result


base.connectors.add("dokuwiki", DokuWikiConnector)
