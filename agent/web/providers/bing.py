"""Bing's Web Search API and services that speak it."""

from typing import Any

from agent.web.providers.base import Asking, WebHit, hits_of, kinds


class BingCompatible:
    name = "bing"
    label = "Bing"
    needs_key = True
    address = "https://api.bing.microsoft.com"

    def asking(self, base_url: str, key: str, query: str, *, count: int, language: str) -> Asking:
        market = "zh-CN" if language == "zh" else "en-US"
        params = {"q": query, "count": str(count), "mkt": market, "responseFilter": "Webpages", "textFormat": "Raw"}
        return Asking(f"{base_url}/v7.0/search", params=params, headers={"Ocp-Apim-Subscription-Key": key})

    def hits(self, answer: Any) -> list[WebHit]:
        found = answer.get("webPages") or {"value": []}  # nothing was found
        return hits_of(found["value"], url="url", title="name", excerpt="snippet")


kinds.add(BingCompatible.name, BingCompatible())
