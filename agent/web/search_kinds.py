"""The kinds of web search services: what each is asked, and what its answer says. A new kind is one more class in `KINDS`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class WebSearchRequest:
    """One request. body: JSON to POST; None for a GET. params: query parameters."""

    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class WebHit:
    """A search hit: the address of a page and the service's description of it, as plain text."""

    url: str
    title: str
    excerpt: str


class SearchKind(Protocol):
    """One kind of service; instances hold no state.

    label: its name, the same in every language. needs_key: it requires a key. address: the usual one, "" for none.
    """

    name: str
    label: str
    needs_key: bool
    address: str

    def asking(self, base_url: str, key: str, query: str, *, count: int, language: str) -> WebSearchRequest:
        """Return the request for a query. base_url: without a trailing slash. language: `en` or `zh`."""

    def hits(self, answer: Any) -> list[WebHit]:
        """Return the hits of a JSON response, best first. Raises KeyError, TypeError or ValueError for another format."""


def parse_hits(rows: Any, *, title: str, excerpt: str) -> list[WebHit]:
    """Return the hits of rows with these names of title and excerpt, without rows that have no address.

    Raises TypeError for another format.
    """
    if not isinstance(rows, list):
        raise TypeError("the results are no list")
    return [
        WebHit(str(row["url"]), str(row.get(title) or ""), str(row.get(excerpt) or ""))
        for row in rows
        if row.get("url")
    ]


class BingCompatible:
    """Bing's Web Search API and services that speak it."""

    name = "bing"
    label = "Bing"
    needs_key = True
    address = "https://api.bing.microsoft.com"

    def asking(self, base_url: str, key: str, query: str, *, count: int, language: str) -> WebSearchRequest:
        market = "zh-CN" if language == "zh" else "en-US"
        params = {"q": query, "count": str(count), "mkt": market, "responseFilter": "Webpages", "textFormat": "Raw"}
        return WebSearchRequest(f"{base_url}/v7.0/search", params=params, headers={"Ocp-Apim-Subscription-Key": key})

    def hits(self, answer: Any) -> list[WebHit]:
        found = answer.get("webPages") or {"value": []}  # nothing was found
        return parse_hits(found["value"], title="name", excerpt="snippet")


class Brave:
    """Brave Search."""

    name = "brave"
    label = "Brave Search"
    needs_key = True
    address = "https://api.search.brave.com"

    def asking(self, base_url: str, key: str, query: str, *, count: int, language: str) -> WebSearchRequest:
        lang = "zh-hans" if language == "zh" else "en"
        params = {"q": query, "count": str(count), "search_lang": lang, "text_decorations": "false"}
        headers = {"X-Subscription-Token": key, "Accept": "application/json"}
        return WebSearchRequest(f"{base_url}/res/v1/web/search", params=params, headers=headers)

    def hits(self, answer: Any) -> list[WebHit]:
        found = answer.get("web") or {"results": []}  # nothing was found
        return parse_hits(found["results"], title="title", excerpt="description")


class SearXNG:
    """SearXNG, a self-hosted search engine: its JSON API, which `search.formats` in its settings must allow."""

    name = "searxng"
    label = "SearXNG"
    needs_key = False
    address = ""

    def asking(self, base_url: str, key: str, query: str, *, count: int, language: str) -> WebSearchRequest:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        params = {
            "q": query,
            "format": "json",
            "language": "zh-CN" if language == "zh" else language,
            "safesearch": "1",
        }
        return WebSearchRequest(f"{base_url}/search", params=params, headers=headers)

    def hits(self, answer: Any) -> list[WebHit]:
        return parse_hits(answer["results"], title="title", excerpt="content")


class TavilyShaped:
    """Tavily and services that speak its API.

    Only pages are requested: an answer written by another service is no evidence.
    """

    name = "tavily"
    label = "Tavily"
    needs_key = True
    address = "https://api.tavily.com"

    def asking(self, base_url: str, key: str, query: str, *, count: int, language: str) -> WebSearchRequest:
        body = {"query": query, "max_results": count, "search_depth": "basic", "include_answer": False}
        return WebSearchRequest(f"{base_url}/search", headers={"Authorization": f"Bearer {key}"}, body=body)

    def hits(self, answer: Any) -> list[WebHit]:
        return parse_hits(answer["results"], title="title", excerpt="content")


KINDS: Mapping[str, SearchKind] = {kind.name: kind for kind in (BingCompatible(), Brave(), SearXNG(), TavilyShaped())}
