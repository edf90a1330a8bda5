"""The interface and registry of web search services. To add a kind of service, add a file that calls `kinds.add`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from copilot_site.lib.registry import Registry


@dataclass(frozen=True)
class Asking:
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

    def asking(self, base_url: str, key: str, query: str, *, count: int, language: str) -> Asking:
        """Return the request for a query. base_url: without a trailing slash. language: `en` or `zh`."""

    def hits(self, answer: Any) -> list[WebHit]:
        """Return the hits of a JSON response, best first. Raises KeyError, TypeError or ValueError for another format."""


kinds: Registry[SearchKind] = Registry("search kind")


def hits_of(rows: Any, *, url: str, title: str, excerpt: str) -> list[WebHit]:
    """Return the hits of rows with these field names, without rows that have no address.

    Raises TypeError for another format.
    """
    if not isinstance(rows, list):
        raise TypeError("the results are no list")
    return [
        WebHit(str(row[url]), str(row.get(title) or ""), str(row.get(excerpt) or "")) for row in rows if row.get(url)
    ]
