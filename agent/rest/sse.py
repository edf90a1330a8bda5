"""A run as Server-Sent Events: one frame per event, with its `seq` as the id for resuming."""

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.http import StreamingHttpResponse
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request

from agent.events import Error
from agent.run_state.run import Run
from agent.runs.follow import follow_run
from agent.runs.log import LogEntry
from agent.runs.run import launch_run
from authz.principal import Principal
from copilot_site.lib.errors import CopilotError

EVENT_STREAM = "text/event-stream"
ALIVE = b": nothing new\n\n"  # a comment: keeps proxies from cutting a connection on which the model is thinking


class WhateverIsAccepted(DefaultContentNegotiation):
    """Use the view's first renderer, whatever the client accepts; refusals before the stream are problem documents."""

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> tuple[Any, str]:
        return renderers[0], renderers[0].media_type


class EventStream(StreamingHttpResponse):
    """An answer that follows a run. Read without an event loop, it comes when the run is over."""

    def __init__(self, frames: AsyncIterator[bytes]) -> None:
        headers = {"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"}
        super().__init__(frames, content_type=f"{EVENT_STREAM}; charset=utf-8", headers=headers)

    def __iter__(self) -> Iterator[bytes]:
        return iter(async_to_sync(self._collect_to_end)())

    async def _collect_to_end(self) -> list[bytes]:
        return [part async for part in self]


def start_event_stream(principal: Principal, run: Run) -> EventStream:
    """Follow a run that `start` made, and launch it where it is not running yet."""
    return EventStream(_iterate_frames(principal, run.session_id, run.message_id, -1, run))


def resume_event_stream(principal: Principal, session_id: UUID, message_id: UUID, *, after: int) -> EventStream:
    return EventStream(_iterate_frames(principal, session_id, message_id, after, None))


async def _iterate_frames(
    principal: Principal, session_id: UUID, message_id: UUID, after: int, run: Run | None
) -> AsyncIterator[bytes]:
    if run is not None:
        launch_run(run)
    try:
        async for entry in follow_run(
            principal, session_id=session_id, message_id=message_id, after=after, is_own=run is not None
        ):
            yield ALIVE if entry is None else _format_frame(entry)
    except CopilotError as problem:  # the conversation was deleted, the account disabled
        yield _format_frame(
            LogEntry.of(Error(content=str(problem), done=True).placed(after + 1, session_id, message_id))
        )


def _format_frame(entry: LogEntry) -> bytes:
    return f"id: {entry.seq}\nevent: message\ndata: {entry.body}\n\n".encode()
