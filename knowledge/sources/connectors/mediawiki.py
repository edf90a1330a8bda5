"""A MediaWiki, by its Action API (MediaWiki 1.31 and later)."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from html import escape
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext_lazy as _
from lxml import html

from knowledge.sources import base
from knowledge.sources.answers import find_nested_value, iterate_pages, list_nested_objects, read_json_object
from knowledge.sources.base import ConnectorContext, ItemContent, ListedItem, Missed, build_settings_field
from knowledge.sources.http import Address, HttpConnector
from knowledge.sources.wiki_pages import (
    MAX_NAME,
    build_account_error,
    build_html_document,
    build_refusal_error,
    build_unknown_page,
)

PAGES_A_REQUEST = 50


class MediaWikiSettings(base.Settings):
    url: Address = build_settings_field(_("address of the API"), _("Like https://wiki.example.com/w/api.php."))
    namespaces: list[int] = build_settings_field(
        _("namespaces"), _("Numbers, one per line; 0 holds the articles."), default=[0]
    )
    username: str = build_settings_field(
        _("account"),
        _("Of a bot password (Special:BotPasswords), like Robot@copilot. Empty: public pages only."),
        default="",
    )

    @property
    def address(self) -> str:
        return self.url


class MediaWikiConnector(HttpConnector):
    """Pages are known by their page id, which a move keeps, and change with their revision. Redirects are no pages of their own."""

    label = _("MediaWiki")
    about = _("The pages of a MediaWiki, with their authors and links to their sections.")
    noun = _("wiki page")
    secret_label = _("Password of the bot")
    wants = MediaWikiSettings

    def __init__(self, settings: MediaWikiSettings, reading: ConnectorContext) -> None:
        self._settings = settings
        self.connect(settings.url, reading)
        if reading.secret:
            self._sign_in(settings.username, reading.secret)

    def listing(self) -> Iterator[ListedItem | Missed]:
        for namespace in self._settings.namespaces:
            query = {
                "action": "query",
                "generator": "allpages",
                "gapnamespace": namespace,
                "gapfilterredir": "nonredirects",
                "gaplimit": PAGES_A_REQUEST,
                "prop": "info|revisions",
                "inprop": "url",
                "rvprop": "ids|timestamp|user",
            }
            first: Mapping[str, Any] = {**query, "continue": ""}
            for answer in iterate_pages(lambda place: self._ask(**place), first, partial(_find_next_query, query)):
                yield from map(_build_listed_page, list_nested_objects(answer, "query", "pages"))

    def fetch(self, item: ListedItem) -> ItemContent:
        """Return exactly the revision that was listed."""
        reply = self._ask(
            action="parse",
            oldid=item.version,
            prop="text|sections",
            disableeditsection=1,
            disabletoc=1,
            disablelimitreport=1,
        )["parse"]
        sections = tuple(
            (_strip_markup(one["line"]), str(one["anchor"])) for one in reply["sections"] if one.get("anchor")
        )
        return ItemContent(
            build_html_document(item.title, f"<h1>{escape(item.title)}</h1>{reply['text']}"), sections=sections
        )

    def _sign_in(self, username: str, secret: str) -> None:
        """Sign in; the session's cookies hold the sign-in. Raises Unreadable."""
        token = self._ask(action="query", meta="tokens", type="login")["query"]["tokens"]["logintoken"]
        reply = self._ask(is_told=True, action="login", lgname=username, lgpassword=secret, lgtoken=token)
        if reply["login"]["result"] != "Success":
            raise build_account_error(self._settings.url)

    def _ask(self, *, is_told: bool = False, **given: Any) -> Any:
        """Make one call of the API. is_told: by POST, so that parameters are in no log. Raises Unreadable."""
        query = urlencode({**given, "format": "json", "formatversion": 2})
        url = self._settings.url
        if is_told:
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            answer = self._client.request("POST", url, headers=headers, body=query.encode())
        else:
            answer = self._client.get(f"{url}?{query}")
        reply = read_json_object(answer, "MediaWiki")
        if "error" in reply:
            raise build_refusal_error(find_nested_value(reply, "error", "info") or "")
        return reply


def _find_next_query(query: Mapping[str, Any], answer: Any) -> Mapping[str, Any] | None:
    more = find_nested_value(answer, "continue")
    return {**query, **more} if more else None


def _build_listed_page(page: Mapping[str, Any]) -> ListedItem | Missed:
    """Return a page, or a missed one where the wiki withholds its data, such as for a hidden revision."""
    try:
        return _build_item(page)
    except (LookupError, ValueError):
        return build_unknown_page(page.get("pageid", page.get("title")))


def _build_item(page: Mapping[str, Any]) -> ListedItem:
    revision = page["revisions"][0]
    title = str(page["title"])
    return ListedItem(
        id=str(page["pageid"]),
        path="/".join(part.strip()[:MAX_NAME] or "_" for part in title.split("/")) + ".html",
        version=str(revision["revid"]),
        title=title,
        url=str(page["fullurl"]),
        author=str(revision.get("user", "")),
        modified_at=datetime.fromisoformat(revision["timestamp"]),
    )


def _strip_markup(line: str) -> str:
    return " ".join(html.fromstring(f"<p>{line}</p>").text_content().split())


base.connectors.add("mediawiki", MediaWikiConnector)
