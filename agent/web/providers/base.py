"""What a search of the web is asked through, and how one is found. One new kind of service is one new file that calls `kinds.add`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from copilot_site.lib.registry import Registry


@dataclass(frozen=True)
class Asking:
    """One request. body: JSON that is sent with a POST; None asks with a GET. params: of the address."""

    url: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class WebHit:
    """What a search brings: the address of a page and what the service says of it, as plain text."""

    url: str
    title: str
    excerpt: str


class SearchKind(Protocol):
    """How one kind of service is spoken to; instances hold no state.

    label: its name, the same in every language. needs_key: it answers nobody without one. address: the usual one, "" for none.
    """

    name: str
    label: str
    needs_key: bool
    address: str

    def asking(self, base_url: str, key: str, query: str, *, count: int, language: str) -> Asking:
        """base_url: without a slash at its end. language: `en` or `zh`."""

    def hits(self, answer: Any) -> list[WebHit]:
        """Return the hits of an answer's JSON, best first. Raises KeyError, TypeError or ValueError where it is another format."""


kinds: Registry[SearchKind] = Registry("search kind")


def hits_of(rows: Any, *, url: str, title: str, excerpt: str) -> list[WebHit]:
    """Return the hits of rows with these names for their parts, without rows that have no address. Raises TypeError for another format."""
    if not isinstance(rows, list):
        raise TypeError("the results are no list")
    return [
        WebHit(str(row[url]), str(row.get(title) or ""), str(row.get(excerpt) or "")) for row in rows if row.get(url)
    ]
