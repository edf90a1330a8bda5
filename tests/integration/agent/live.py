"""Runs that live on their own, and readers who come and go."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync, sync_to_async
from pydantic import TypeAdapter

from agent.conversations.sessions import create_session
from agent.events import Event
from agent.models import Session
from agent.profiles.settings import Options
from agent.runs.follow import follow_run
from agent.runs.log import LogEntry
from agent.runs.run import launch_run
from agent.runs.start import prepare_run
from authz.principal import Principal
from knowledge.retrieval.search import Scope

EVENT: TypeAdapter[Any] = TypeAdapter(Event)


class Live:
    """One run of one person; every method that waits is called inside `lived`."""

    def __init__(self, principal: Principal, question: str, session: Session | None = None, **options: Any) -> None:
        self.principal, self.question, self.options = principal, question, Options(**options)
        self.session_id = (session or create_session(principal)).pk
        self.message_id = UUID(int=0)

    async def start(self) -> None:
        run = await sync_to_async(prepare_run)(
            self.principal, self.session_id, self.question, scope=Scope(), language="en", options=self.options
        )
        self.message_id = launch_run(run)

    def follow(self, after: int = -1) -> AsyncIterator[LogEntry | None]:
        return follow_run(self.principal, session_id=self.session_id, message_id=self.message_id, after=after)

    async def read(
        self, after: int = -1, *, until: Callable[[LogEntry], bool] = lambda _entry: False
    ) -> list[LogEntry]:
        """What one reader gets after a place, to the end or to the first entry for which `until` is true."""
        found: list[LogEntry] = []
        reader = self.follow(after)
        async for entry in reader:
            if entry is not None:
                found.append(entry)
                if until(entry):
                    break
        await reader.aclose()  # type: ignore[attr-defined]
        return found


def lived(live: Live, talk: Callable[[Live], Awaitable[Any]]) -> Any:
    """Start the run and do something with it."""

    async def run() -> Any:
        await live.start()
        return await talk(live)

    return async_to_sync(run)()


def events_of(entries: list[LogEntry]) -> list[Any]:
    """As typed events; each body is one."""
    return [EVENT.validate_python(json.loads(entry.body)) for entry in entries]


def text_of(entries: list[LogEntry]) -> str:
    """The answer, as a client puts it together: `seq` 0 begins anew."""
    text = ""
    for event in events_of(entries):
        text = "" if event.seq == 0 else text
        text += event.content if event.response_type == "answer" else ""
    return text
