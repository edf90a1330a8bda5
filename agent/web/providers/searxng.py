"""SearXNG, a self-hosted search engine: its JSON API, which `search.formats` in its settings must allow."""

from typing import Any

from agent.web.providers.base import Asking, WebHit, hits_of, kinds


class SearXNG:
    name = "searxng"
    label = "SearXNG"
    needs_key = False
    address = ""

    def asking(self, base_url: str, key: str, query: str, *, count: int, language: str) -> Asking:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        params = {
            "q": query,
            "format": "json",
            "language": "zh-CN" if language == "zh" else language,
            "safesearch": "1",
        }
        return Asking(f"{base_url}/search", params=params, headers=headers)

    def hits(self, answer: Any) -> list[WebHit]:
        return hits_of(answer["results"], url="url", title="title", excerpt="content")


kinds.add(SearXNG.name, SearXNG())
