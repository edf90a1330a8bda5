"""A MediaWiki, by its Action API (MediaWiki 1.31 and later)."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from html import escape
from typing import Any
from urllib.parse import urlencode

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from lxml import html
from pydantic import field_validator

from copilot_site.lib.json_input import loads_answer
from knowledge.sources import base
from knowledge.sources.base import Content, Item, Missed, Reading, Unreadable, asked
from knowledge.sources.http import Client, plausible, require_safe
from knowledge.sources.wiki_pages import LONGEST_NAME, document_of

PAGES_A_REQUEST = 50


class MediaWikiSettings(base.Settings):
    url: str = asked(_("address of the API"), _("Like https://wiki.example.com/w/api.php."))
    namespaces: list[int] = asked(_("namespaces"), _("Numbers, one a line; 0 holds the articles."), default=[0])
    username: str = asked(
        _("account"),
        _("Of a bot password (Special:BotPasswords), like Robot@copilot. Empty: what everybody reads."),
        default="",
    )

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str) -> str:
        plausible(url)
        return url

    @property
    def address(self) -> str:
        return self.url


class MediaWikiConnector(base.Connector):
    """Pages are known by their page id, which a move keeps, and change with their revision. Redirects are no pages of their own."""

    label = _("MediaWiki")
    about = _("The pages of a MediaWiki, with their authors and links to their sections.")
    noun = _("wiki page")
    secret_label = _("Password of the bot")
    wants = MediaWikiSettings

    def __init__(self, settings: MediaWikiSettings, reading: Reading) -> None:
        require_safe(settings.url, has_secret=bool(reading.secret))
        self._settings = settings
        self._client = Client(settings.url, pace=reading.pace)
        if reading.secret:
            self._sign_in(settings.username, reading.secret)

    def listing(self) -> Iterator[Item | Missed]:
        for namespace in self._settings.namespaces:
            more: Mapping[str, Any] = {"continue": ""}
            while more:
                answer = self._ask(
                    action="query",
                    generator="allpages",
                    gapnamespace=namespace,
                    gapfilterredir="nonredirects",
                    gaplimit=PAGES_A_REQUEST,
                    prop="info|revisions",
                    inprop="url",
                    rvprop="ids|timestamp|user",
                    **more,
                )
                for page in answer.get("query", {}).get("pages", []):
                    yield _listed(page)
                more = answer.get("continue", {})

    def fetch(self, item: Item) -> Content:
        """Exactly the revision that was listed."""
        said = self._ask(
            action="parse",
            oldid=item.version,
            prop="text|sections",
            disableeditsection=1,
            disabletoc=1,
            disablelimitreport=1,
        )["parse"]
        sections = tuple((_plain(each["line"]), str(each["anchor"])) for each in said["sections"] if each.get("anchor"))
        return Content(document_of(item.title, f"<h1>{escape(item.title)}</h1>{said['text']}"), sections=sections)

    def close(self) -> None:
        self._client.close()

    def _sign_in(self, username: str, secret: str) -> None:
        """The session's cookies hold the sign-in. Raises Unreadable."""
        token = self._ask(action="query", meta="tokens", type="login")["query"]["tokens"]["logintoken"]
        said = self._ask(is_told=True, action="login", lgname=username, lgpassword=secret, lgtoken=token)
        if said["login"]["result"] != "Success":
            raise Unreadable(gettext("%(url)s wants another account or password.") % {"url": self._settings.url})

    def _ask(self, *, is_told: bool = False, **given: Any) -> Any:
        """One call of the API. is_told: by POST, so that what is given stands in no log. Raises Unreadable."""
        query = urlencode({**given, "format": "json", "formatversion": 2})
        url = self._settings.url
        if is_told:
            headers = {"Content-Type": "application/x-www-form-urlencoded"}
            answer = self._client.request("POST", url, headers=headers, body=query.encode())
        else:
            answer = self._client.get(f"{url}?{query}")
        try:
            said = loads_answer(answer.body)
        except ValueError as error:
            raise Unreadable(gettext("%(url)s does not answer as MediaWiki does.") % {"url": url}) from error
        if not isinstance(said, dict) or "error" in said:
            why = said["error"].get("info", "") if isinstance(said, dict) else ""
            raise Unreadable(gettext("The wiki refuses: %(why)s") % {"why": str(why)[:300]})
        return said


def _listed(page: Mapping[str, Any]) -> Item | Missed:
    """A page without what the wiki says of others, such as one whose revision is hidden, is missed."""
    try:
        return _item(page)
    except (LookupError, ValueError):
        return Missed(
            str(page.get("pageid", page.get("title"))), gettext("The wiki does not say what this page is now.")
        )


def _item(page: Mapping[str, Any]) -> Item:
    revision = page["revisions"][0]
    title = str(page["title"])
    return Item(
        id=str(page["pageid"]),
        path="/".join(part.strip()[:LONGEST_NAME] or "_" for part in title.split("/")) + ".html",
        version=str(revision["revid"]),
        title=title,
        url=str(page["fullurl"]),
        author=str(revision.get("user", "")),
        modified_at=datetime.fromisoformat(revision["timestamp"]),
    )


def _plain(line: str) -> str:
    return " ".join(html.fromstring(f"<p>{line}</p>").text_content().split())


base.connectors.add("mediawiki", MediaWikiConnector)
