"""Tavily and services that speak its API.

Only pages are requested: an answer written by another service is no evidence.
"""

from typing import Any

from agent.web.providers.base import Asking, WebHit, hits_of, kinds


class TavilyShaped:
    name = "tavily"
    label = "Tavily"
    needs_key = True
    address = "https://api.tavily.com"

    def asking(self, base_url: str, key: str, query: str, *, count: int, language: str) -> Asking:
        body = {"query": query, "max_results": count, "search_depth": "basic", "include_answer": False}
        return Asking(f"{base_url}/search", headers={"Authorization": f"Bearer {key}"}, body=body)

    def hits(self, answer: Any) -> list[WebHit]:
        return hits_of(answer["results"], url="url", title="title", excerpt="content")


kinds.add(TavilyShaped.name, TavilyShaped())
