"""Make the requests of people beside their questions: uploads, searches and downloads over the API."""

import random
from collections.abc import Sequence
from itertools import cycle
from typing import Final

import httpx

UPLOADS, SEARCHES, DOWNLOADS = KINDS = ("uploads", "searches", "downloads")
TOP_K: Final = 10


class Transfers:
    """Sends transfers. folder: id of where small files go. documents: ids of what is downloaded. texts: what is searched for.

    uploaded: ids of the documents that were made.
    """

    def __init__(self, folder: str, documents: Sequence[str], texts: Sequence[str], *, seed: int = 1) -> None:
        self._folder, self._documents, self._texts = folder, cycle(documents), cycle(texts)
        self._chance = random.Random(seed)  # noqa: S311 - names of files
        self.uploaded: list[str] = []

    async def send(self, http: httpx.AsyncClient, kind: str, headers: dict[str, str]) -> httpx.Response:
        """Make one transfer of a kind, and read its answer."""
        if kind == SEARCHES:
            wanted = {"query": next(self._texts), "top_k": TOP_K}
            return await http.post("/api/v1/knowledge-search", json=wanted, headers=headers)
        if kind == DOWNLOADS:
            return await http.get(f"/api/v1/documents/{next(self._documents)}/download", headers=headers)
        name = f"{self._chance.getrandbits(64):x}.md"
        files = {"file": (name, f"# Note {name}\n\nA note of {len(name)} letters, {name}.".encode())}
        answer = await http.post(f"/api/v1/folders/{self._folder}/documents", files=files, headers=headers)
        if answer.status_code == httpx.codes.CREATED:
            self.uploaded.append(answer.json()["document"]["id"])
        return answer
