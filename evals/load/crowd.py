"""Let people ask a web process over HTTP, read their answers, think, and do other things; note how each went."""

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import httpx

from authz.principal import Principal
from evals.load.transfers import KINDS, UPLOADS, Transfers

PATIENCE_S = 600.0  # of a client for one event
UPLOAD_PAUSE_S = 5.0


@dataclass(frozen=True)
class Person:
    """A person who asks. token: of the API. session_id: their conversation."""

    principal: Principal
    token: str
    session_id: str


@dataclass(frozen=True)
class Flood:
    """A person who always has so many requests of a kind open: `questions`, or one of the transfers."""

    person: Person
    kind: str
    at_once: int


@dataclass
class Asked:
    """A question on the clock of this process. places: [(when, how many before it)], as the product told."""

    at: float
    first_at: float = 0.0
    begun_at: float = 0.0
    ended_at: float = 0.0
    end: str = ""
    places: list[tuple[float, int]] = field(default_factory=list)


@dataclass
class Met:
    """The experience of a crowd. moved_s: seconds of each transfer. statuses: of HTTP, by kind of request.

    later: how often somebody was told to come later.
    """

    asked: list[Asked] = field(default_factory=list)
    moved_s: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    later: int = 0
    seconds: float = 0.0

    @property
    def answered(self) -> list[Asked]:
        return [item for item in self.asked if item.end == "complete"]

    @property
    def errors(self) -> int:
        """Count questions without an answer, and requests that failed."""
        failed = sum(count for status, count in self.statuses.items() if status.split()[-1] not in {"200", "201"})
        return failed + sum(1 for item in self.asked if item.end not in {"complete", "later"})

    def places(self) -> tuple[int, int]:
        """Count the places that were told, and those that came true within one: as many who waited already were begun before."""
        begun = sorted((item.begun_at, item.at) for item in self.asked if item.begun_at)
        shown = true = 0
        for item in self.asked:
            for when, before in item.places if item.begun_at else ():
                came = sum(1 for begun_at, asked_at in begun if when < begun_at < item.begun_at and asked_at < when)
                shown, true = shown + 1, true + (abs(came - before) <= 1)
        return shown, true


class Crowd:
    """Asks the web process at `url`. questions: asked in turn."""

    def __init__(self, url: str, questions: Sequence[str], transfers: Transfers, *, seed: int = 1) -> None:
        self._url, self._questions, self._transfers = url, cycle(questions), transfers
        self._chance = random.Random(seed)  # noqa: S311 - repeats a run, hides nothing

    async def meet(
        self,
        people: Sequence[Person],
        *,
        seconds: float,
        think_s: float,
        beside: str = "",
        flood: Flood | None = None,
        uploaders: int = 0,
    ) -> tuple[Met, Met]:
        """Return the experience of the people, and that of the flooding one.

        think_s: on average between an answer and the next question. beside: a kind of transfers, one of which each makes after each
        question. uploaders: how many of them put small files into the base every 5 s.
        """
        met, flooded, ends = Met(), Met(), time.monotonic() + seconds
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        async with httpx.AsyncClient(base_url=self._url, timeout=PATIENCE_S, limits=limits) as http:
            busy = [self._asks(http, item, met, ends=ends, think_s=think_s, beside=beside) for item in people]
            busy += [self._uploads(http, item, met, ends=ends) for item in people[:uploaders]]
            if flood:
                busy += [self._floods(http, flood, flooded, ends=ends) for _place in range(flood.at_once)]
            began = time.monotonic()
            await asyncio.gather(*busy)
            met.seconds = time.monotonic() - began
        return met, flooded

    async def _asks(
        self, http: httpx.AsyncClient, person: Person, met: Met, *, ends: float, think_s: float, beside: str
    ) -> None:
        """Ask, and make a transfer `beside` each question, at least once; what was begun before the end is finished."""
        await asyncio.sleep(self._chance.uniform(0.0, think_s))
        is_over = False
        while not is_over:
            await self._ask(http, person, met, ends=ends)
            await asyncio.sleep(self._chance.uniform(0.5, 1.5) * think_s)
            if beside:
                await self._move(http, person, met, beside, ends=ends)
                await asyncio.sleep(self._chance.uniform(0.5, 1.5) * think_s)
            is_over = time.monotonic() >= ends

    async def _floods(self, http: httpx.AsyncClient, flood: Flood, met: Met, *, ends: float) -> None:
        while time.monotonic() < ends:
            if flood.kind in KINDS:
                await self._move(http, flood.person, met, flood.kind, ends=ends)
            else:
                await self._ask(http, flood.person, met, ends=ends)

    async def _uploads(self, http: httpx.AsyncClient, person: Person, met: Met, *, ends: float) -> None:
        while time.monotonic() < ends:
            await self._move(http, person, met, UPLOADS, ends=ends)
            await asyncio.sleep(UPLOAD_PAUSE_S)

    async def _ask(self, http: httpx.AsyncClient, person: Person, met: Met, *, ends: float) -> None:
        """Ask one question to its end, as a client does that waits when it is told to."""
        asked = Asked(time.monotonic())
        met.asked.append(asked)
        path, body = f"/api/v1/knowledge-chat/{person.session_id}", {"query": next(self._questions)}
        while True:
            try:
                async with http.stream("POST", path, json=body, headers=_headers(person)) as answer:
                    if answer.status_code == 200:
                        met.statuses["question 200"] += 1
                        await _read(answer, asked)
                        return
                    wait_s = _wait_s(answer)
            except httpx.TransportError as error:
                met.statuses[f"question {type(error).__name__}"] += 1
                return
            if not wait_s:
                met.statuses[f"question {answer.status_code}"] += 1
                return
            met.later += 1
            if time.monotonic() + wait_s > ends:
                asked.end = "later"
                return
            await asyncio.sleep(wait_s)

    async def _move(self, http: httpx.AsyncClient, person: Person, met: Met, kind: str, *, ends: float) -> None:
        """Make one transfer to its end, as a client does that waits when it is told to."""
        began = time.monotonic()
        while True:
            try:
                answer = await self._transfers.send(http, kind, _headers(person))
            except httpx.TransportError as error:
                met.statuses[f"{kind} {type(error).__name__}"] += 1
                return
            wait_s = _wait_s(answer)
            if not wait_s:
                break
            met.later += 1
            if time.monotonic() + wait_s > ends:
                return
            await asyncio.sleep(wait_s)
        met.statuses[f"{kind} {answer.status_code}"] += 1
        met.moved_s.append(time.monotonic() - began)


async def _read(answer: httpx.Response, asked: Asked) -> None:
    with suppress(httpx.TransportError):
        async for line in answer.aiter_lines():
            if not line.startswith("data: "):
                continue
            event, now = json.loads(line.removeprefix("data: ")), time.monotonic()
            asked.first_at = asked.first_at or now
            _note(event, asked, now)


def _note(event: dict[str, Any], asked: Asked, now: float) -> None:
    match event["response_type"]:
        case "queued":
            asked.places.append((now, event["data"]["before"]))
        case "agent_query":
            asked.begun_at = now
        case "complete" | "error" as end:
            asked.end, asked.ended_at = end, now


def _headers(person: Person) -> dict[str, str]:
    return {"Authorization": f"Bearer {person.token}"}


def _wait_s(answer: httpx.Response) -> float:
    """Return the seconds that an answer asks to wait; 0 where it asks for nothing."""
    return float(answer.headers.get("Retry-After", 0)) if answer.status_code in {429, 503} else 0.0
