"""The same client for programs that do not wait: every name as in `copilot_client.client`, to be awaited."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import httpx

from copilot_client.client import ACCEPT, TIMEOUT, read_body
from copilot_client.errors import Unreachable
from copilot_client.events import SearchResult, StreamResponse
from copilot_client.reconnect import Again, Backoff, Course, check_response
from copilot_client.requests import KnowledgeQARequest, SearchKnowledgeRequest


class AsyncClient:
    """One server, as one person. token: `ekc_…` with the scopes `chat` and `search`, from the person's tokens page."""

    def __init__(self, base_url: str, token: str, *, backoff: Backoff | None = None, timeout: Any = TIMEOUT) -> None:
        self._http = httpx.AsyncClient(base_url=base_url, headers={"Authorization": f"Bearer {token}"}, timeout=timeout)
        self._backoff = backoff or Backoff()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def create_session(self) -> str:
        """Begin a conversation; return its id."""
        return str((await self._send_request("POST", "/api/v1/sessions", {}))["id"])

    def knowledge_qa_stream(self, session_id: str, request: KnowledgeQARequest) -> AsyncIterator[StreamResponse]:
        """Ask a question, and yield events to the last one, over as many connections as it takes.

        The answer goes on when iterating ends early; `stop_session` stops it. Raises Refused, and Unreachable.
        """
        return self._stream_answer(f"/api/v1/knowledge-chat/{session_id}", session_id, request)

    def agent_qa_stream(self, session_id: str, request: KnowledgeQARequest) -> AsyncIterator[StreamResponse]:
        """Ask like `knowledge_qa_stream`, with an agent that chooses tools."""
        return self._stream_answer(f"/api/v1/agent-chat/{session_id}", session_id, request)

    def continue_stream(self, session_id: str, message_id: str, *, after: int = -1) -> AsyncIterator[StreamResponse]:
        """Reconnect to an answer. after: the last `seq` seen, -1 for all of it."""
        course = Course(session_id, message_id, after, self._backoff)
        path, query, headers = course.place
        return self._follow_stream(course, "GET", path, params=query, headers=headers)

    async def stop_session(self, session_id: str, message_id: str) -> bool:
        """Stop an answer, keeping its text so far; return False if it was complete already."""
        answer = await self._send_request("POST", f"/api/v1/sessions/{session_id}/stop", {"message_id": message_id})
        return bool(answer["is_stopping"])

    async def search_knowledge(self, request: SearchKnowledgeRequest) -> list[SearchResult]:
        """Return the best matching passages, best first."""
        found = await self._send_request("POST", "/api/v1/knowledge-search", request.body())
        return [SearchResult.of(row) for row in found["hits"]]

    def _stream_answer(self, path: str, session_id: str, request: KnowledgeQARequest) -> AsyncIterator[StreamResponse]:
        return self._follow_stream(Course(session_id, backoff=self._backoff), "POST", path, json=request.body())

    async def _follow_stream(
        self, course: Course, method: str, path: str, **options: Any
    ) -> AsyncIterator[StreamResponse]:
        while True:
            try:
                async with self._open_stream(method, path, **options) as answer:
                    course.connected()
                    async for piece in answer.aiter_bytes():
                        for event in course.take(piece):
                            yield event
                            if event.is_last:
                                return
                failure: Exception = Again("the connection ended early")
            except (httpx.TransportError, Again) as error:
                failure = error
            await asyncio.sleep(course.after_failure(failure))
            if course.message_id:  # else it was not accepted, and is sent again
                method, (path, query, headers) = "GET", course.place
                options = {"params": query, "headers": headers}

    @asynccontextmanager
    async def _open_stream(self, method: str, path: str, **options: Any) -> AsyncIterator[httpx.Response]:
        headers = ACCEPT | options.pop("headers", {})
        async with self._http.stream(method, path, headers=headers, **options) as answer:
            if answer.is_error:
                check_response(answer.status_code, read_body(await answer.aread()), answer.headers)
            yield answer

    async def _send_request(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        for _attempt in range(self._backoff.attempts):
            try:
                answer = await self._http.request(method, path, json=body)
                found = read_body(answer.content)
                check_response(answer.status_code, found, answer.headers)
            except (httpx.TransportError, Again) as error:
                failure: Exception = error
            else:
                return found
            later_s = failure.retry_after_s if isinstance(failure, Again) else 0.0
            if not later_s:
                break
            await asyncio.sleep(self._backoff.later(later_s))
        raise Unreachable(f"The server does not answer ({failure}).") from failure
