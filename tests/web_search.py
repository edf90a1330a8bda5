"""A search service of a test's own that speaks SearXNG's JSON, and the company's settings for it and for a site of the test."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from json import dumps
from typing import Any
from urllib.parse import parse_qs, urlsplit

from agent.connections.service_keys import save_web_search
from agent.models import AgentProfile, WebHost, WebSearchProvider
from agent.tools.base import list_default_tools
from tests.site_server import Reply, Site

KEY = "searx-key"


@dataclass
class Engine:
    """found: what each search brings. asked: the queries that came, in order."""

    found: Sequence[dict[str, str]]
    asked: list[str] = field(default_factory=list)

    def reply(self, path: str) -> Reply:
        query = parse_qs(urlsplit(path).query)
        if query.get("format") != ["json"]:
            return Reply(b"<html>", 403)
        self.asked += query["q"]
        body = {"query": query["q"][0], "number_of_results": len(self.found), "results": list(self.found)}
        body |= {"answers": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": []}
        return Reply(dumps(body).encode(), type="application/json")


def hit(url: str, title: str, content: str) -> dict[str, Any]:
    """A result as SearXNG has it."""
    return {
        "url": url,
        "title": title,
        "content": content,
        "engine": "duckduckgo",
        "engines": ["duckduckgo"],
        "score": 1.0,
    }


def set_up(site: Site, engine: Engine, settings: Any) -> None:
    """The site is searched through, and read, as an administrator and the operator would have it; the default profile has the web on."""
    settings.OUTGOING_ALLOW = ("127.0.0.1",)
    site.answers = engine.reply
    save_web_search(
        None, WebSearchProvider(name="Our SearXNG", kind="searxng", base_url=site.url, is_used=True), key=KEY
    )
    WebHost.objects.create(entry="127.0.0.1")
    AgentProfile.objects.create(
        name="With the web", allowed_tools=[*list_default_tools(), "web_search", "web_fetch"], is_default=True
    )
