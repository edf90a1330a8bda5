"""Exchanges of a run with outside services, as its state keeps them: web pages, queries, tool calls."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import BaseModel, Field

from copilot_site.lib.text.one_line import Line, fold_to_one_line

TITLE_CHARACTERS = 300
SERVICE_SOURCE = "mcp:"  # begins the source of what a service outside brought; no data source has a colon in its name


@dataclass(frozen=True)
class WebPassage:
    """A piece of a web page: a search excerpt, or a span of a page's main text.

    url: after redirects. start, end: character offsets into the text read; for an excerpt, into the excerpt. read_at:
    aware.
    """

    url: str
    title: str
    text: str
    start: int
    end: int
    read_at: datetime

    def __post_init__(self) -> None:
        object.__setattr__(self, "title", fold_to_one_line(self.title))

    @property
    def host(self) -> str:
        return parse_url_host(self.url)

    @property
    def hash(self) -> str:
        """Return the hexadecimal SHA-256 of its text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def evidence_id(self) -> str:
        """Return an id made from its place and text: `web:1a2b3c4d5e6f:0-812:9f8e7d6c`."""
        address = hashlib.sha256(self.url.encode()).hexdigest()[:12]
        return f"web:{address}:{self.start}-{self.end}:{self.hash[:8]}"


def parse_url_host(url: str) -> str:
    """Return the host of an address, "" where it has none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


class AskedOutside(BaseModel):
    """A query sent outside, word for word. to: the host that received it; provider: its name here."""

    query: str
    provider: str
    to: str


class FetchedOutside(BaseModel):
    """A requested page. code: "ok", or why it was not read (`agent.web.fetching.Code`)."""

    url: str
    code: str


class WebSummary(BaseModel):
    """The web queries and page requests that this run sent outside."""

    asked: list[AskedOutside] = Field(default_factory=list)
    fetched: list[FetchedOutside] = Field(default_factory=list)


class AskedApproval(BaseModel):
    """A call of an outside tool that waits for approval. title: of service and tool, for people."""

    id: UUID
    tool: str
    title: Line


@dataclass(frozen=True)
class AllowedCall:
    """A call that the person approved, with the arguments that they saw; the run makes it first."""

    approval_id: UUID
    tool: str
    arguments: dict[str, Any]
