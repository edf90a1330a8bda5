"""Let people ask a web process over HTTP, read their answers, think, and do other things; note how each went."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any
from uuid import uuid4

import httpx

from authz.principal import Principal

PATIENCE_S = 600.0  # of a client for one event
UPLOAD_PAUSE_S = 5.0
TOP_K = 10
QUESTIONS, UPLOADS, SEARCHES = KINDS = ("questions", "uploads", "searches")


@dataclass(frozen=True)
class Person:
    """A person who asks. token: of the API. session_id: their conversation."""

    principal: Principal
    token: str
    session_id: str


@dataclass
class Sent:
    """A request on the clock of this process. first_at: the first event of an answer. end: "complete", "error", "later" or none."""

    kind: str
    at: float
    first_at: float = 0.0
    ended_at: float = 0.0
    end: str = ""


@dataclass
class Met:
    """The experience of a crowd. statuses: of HTTP, by kind of request. later: how often somebody was told to come later."""

    sent: list[Sent] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    later: int = 0
    seconds: float = 0.0

    @property
    def asked(self) -> list[Sent]:
        return [item for item in self.sent if item.kind == QUESTIONS]

    @property
    def errors(self) -> int:
        """Count questions without an answer, and requests that failed."""
        failed = sum(count for status, count in self.statuses.items() if status.split()[-1] not in {"200", "201"})
        return failed + sum(item.end not in {"complete", "later"} for item in self.asked)

    def done(self, kind: str = QUESTIONS) -> list[Sent]:
        """Return the questions that were answered, or the other requests of a kind that had any answer."""
        return [item for item in self.sent if item.kind == kind and item.end == "complete"]


class Crowd:
    """Asks the web process at `url`. questions: asked, and searched for, in turn. folder: id of where uploads go. uploaded: their ids."""

    def __init__(self, url: str, questions: Sequence[str], folder: str) -> None:
        self._url, self._questions, self._folder = url, cycle(questions), folder
        self._chance = random.Random(1)  # noqa: S311 - repeats a run, hides nothing
        self.uploaded: list[str] = []

    async def meet(
        self,
        people: Sequence[Person],
        *,
        seconds: float,
        think_s: float,
        beside: str = "",
        flood: tuple[Person, str, int] | None = None,
        uploaders: int = 0,
    ) -> tuple[Met, Met]:
        """Return the experience of the people, and that of the flooding one.

        think_s: on average between an answer and the next question. beside: what kind of request each makes after each question, if
        any. flood: who always has so many requests of a kind open. uploaders: how many put small files into the base every 5 s.
        """
        met, flooded, ends = Met(), Met(), time.monotonic() + seconds
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        async with httpx.AsyncClient(base_url=self._url, timeout=PATIENCE_S, limits=limits) as http:
            busy = [self._asks(http, item, met, ends=ends, think_s=think_s, beside=beside) for item in people]
            busy += [self._repeats(http, item, met, UPLOADS, ends, UPLOAD_PAUSE_S) for item in people[:uploaders]]
            if flood:
                person, kind, at_once = flood
                busy += [self._repeats(http, person, flooded, kind, ends, 0.0) for _place in range(at_once)]
            began = time.monotonic()
            await asyncio.gather(*busy)
            met.seconds = time.monotonic() - began
        return met, flooded

    async def _asks(
        self, http: httpx.AsyncClient, person: Person, met: Met, *, ends: float, think_s: float, beside: str
    ) -> None:
        """Ask, and make a request `beside` each question, at least once; what was begun before the end is finished."""
        await asyncio.sleep(self._chance.uniform(0.0, think_s))
        is_over = False
        while not is_over:
            for kind in filter(None, (QUESTIONS, beside)):
                await self._send(http, person, met, kind, ends)
                await asyncio.sleep(self._chance.uniform(0.5, 1.5) * think_s)
            is_over = time.monotonic() >= ends

    async def _repeats(  # noqa: PLR0917 - as `_send`
        self, http: httpx.AsyncClient, person: Person, met: Met, kind: str, ends: float, pause_s: float
    ) -> None:
        while time.monotonic() < ends:
            await self._send(http, person, met, kind, ends)
            await asyncio.sleep(pause_s)

    async def _send(self, http: httpx.AsyncClient, person: Person, met: Met, kind: str, ends: float) -> None:
        """Make one request to its end, as a client does that waits when it is told to."""
        sent = Sent(kind, time.monotonic())
        met.sent.append(sent)
        request = self._request(person, kind)
        while True:
            try:
                async with http.stream(
                    "POST", headers={"Authorization": f"Bearer {person.token}"}, **request
                ) as answer:
                    wait_s = float(answer.headers.get("Retry-After", 0)) if answer.status_code in {429, 503} else 0.0
                    if not wait_s:
                        met.statuses[f"{kind} {answer.status_code}"] += 1
                        await self._read(answer, sent)
                        return
            except httpx.TransportError as error:
                if not sent.first_at:  # else it is a question without an end
                    met.statuses[f"{kind} {type(error).__name__}"] += 1
                return
            met.later += 1
            if time.monotonic() + wait_s > ends:
                sent.end = "later"
                return
            await asyncio.sleep(wait_s)

    def _request(self, person: Person, kind: str) -> dict[str, Any]:
        if kind == QUESTIONS:
            return {"url": f"/api/v1/knowledge-chat/{person.session_id}", "json": {"query": next(self._questions)}}
        if kind == SEARCHES:
            return {"url": "/api/v1/knowledge-search", "json": {"query": next(self._questions), "top_k": TOP_K}}
        name = f"{uuid4()}.md"
        files = {"file": (name, f"# Note {name}\n\nA note of {len(name)} letters, {name}.".encode())}
        return {"url": f"/api/v1/folders/{self._folder}/documents", "files": files}

    async def _read(self, answer: httpx.Response, sent: Sent) -> None:
        if sent.kind != QUESTIONS:
            await answer.aread()
            sent.end, sent.ended_at = "complete", time.monotonic()
            if answer.status_code == httpx.codes.CREATED:
                self.uploaded.append(answer.json()["document"]["id"])
            return
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                kind, now = json.loads(line.removeprefix("data: "))["response_type"], time.monotonic()
                sent.first_at = sent.first_at or now
                if kind in {"complete", "error"}:
                    sent.end, sent.ended_at = kind, now
