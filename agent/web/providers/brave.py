"""Brave Search."""

from typing import Any

from agent.web.providers.base import Asking, WebHit, hits_of, kinds


class Brave:
    name = "brave"
    label = "Brave Search"
    needs_key = True
    address = "https://api.search.brave.com"

    def asking(self, base_url: str, key: str, query: str, *, count: int, language: str) -> Asking:
        lang = "zh-hans" if language == "zh" else "en"
        params = {"q": query, "count": str(count), "search_lang": lang, "text_decorations": "false"}
        headers = {"X-Subscription-Token": key, "Accept": "application/json"}
        return Asking(f"{base_url}/res/v1/web/search", params=params, headers=headers)

    def hits(self, answer: Any) -> list[WebHit]:
        found = answer.get("web") or {"results": []}  # nothing was found
        return hits_of(found["results"], url="url", title="title", excerpt="description")


kinds.add(Brave.name, Brave())
