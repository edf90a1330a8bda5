"""The client for programs that wait."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import httpx

from copilot_client.errors import Unreachable
from copilot_client.events import SearchResult, StreamResponse
from copilot_client.reconnect import Again, Backoff, Course, check_response
from copilot_client.requests import KnowledgeQARequest, SearchKnowledgeRequest

TIMEOUT = httpx.Timeout(10.0, read=30.0)  # s; a stream says every few seconds that it lives
ACCEPT = {"Accept": "text/event-stream"}


class Client:
    """One server, as one person. token: `ekc_…` with the scopes `chat` and `search`, from the person's tokens page."""

    def __init__(self, base_url: str, token: str, *, backoff: Backoff | None = None, timeout: Any = TIMEOUT) -> None:
        self._http = httpx.Client(base_url=base_url, headers={"Authorization": f"Bearer {token}"}, timeout=timeout)
        self._backoff = backoff or Backoff()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def create_session(self) -> str:
        """Begin a conversation; return its id."""
        return str(self._send_request("POST", "/api/v1/sessions", {})["id"])

    def knowledge_qa_stream(self, session_id: str, request: KnowledgeQARequest) -> Iterator[StreamResponse]:
        """Ask a question, and yield events to the last one, over as many connections as it takes.

        The answer goes on when iterating ends early; `stop_session` stops it. Raises Refused, and Unreachable.
        """
        return self._stream_answer(f"/api/v1/knowledge-chat/{session_id}", session_id, request)

    def agent_qa_stream(self, session_id: str, request: KnowledgeQARequest) -> Iterator[StreamResponse]:
        """Ask like `knowledge_qa_stream`, with an agent that chooses tools."""
        return self._stream_answer(f"/api/v1/agent-chat/{session_id}", session_id, request)

    def continue_stream(self, session_id: str, message_id: str, *, after: int = -1) -> Iterator[StreamResponse]:
        """Reconnect to an answer. after: the last `seq` seen, -1 for all of it."""
        course = Course(session_id, message_id, after, self._backoff)
        path, query, headers = course.place
        return self._follow_stream(course, "GET", path, params=query, headers=headers)

    def stop_session(self, session_id: str, message_id: str) -> bool:
        """Stop an answer, keeping its text so far; return False if it was complete already."""
        answer = self._send_request("POST", f"/api/v1/sessions/{session_id}/stop", {"message_id": message_id})
        return bool(answer["is_stopping"])

    def search_knowledge(self, request: SearchKnowledgeRequest) -> list[SearchResult]:
        """Return the best matching passages, best first."""
        return [
            SearchResult.of(row)
            for row in self._send_request("POST", "/api/v1/knowledge-search", request.body())["hits"]
        ]

    def _stream_answer(self, path: str, session_id: str, request: KnowledgeQARequest) -> Iterator[StreamResponse]:
        return self._follow_stream(Course(session_id, backoff=self._backoff), "POST", path, json=request.body())

    def _follow_stream(self, course: Course, method: str, path: str, **options: Any) -> Iterator[StreamResponse]:
        while True:
            try:
                with self._open_stream(method, path, **options) as answer:
                    course.connected()
                    for piece in answer.iter_bytes():
                        for event in course.take(piece):
                            yield event
                            if event.is_last:
                                return
                failure: Exception = Again("the connection ended early")
            except (httpx.TransportError, Again) as error:
                failure = error
            time.sleep(course.after_failure(failure))
            if course.message_id:  # else it was not accepted, and is sent again
                method, (path, query, headers) = "GET", course.place
                options = {"params": query, "headers": headers}

    @contextmanager
    def _open_stream(self, method: str, path: str, **options: Any) -> Iterator[httpx.Response]:
        headers = ACCEPT | options.pop("headers", {})
        with self._http.stream(method, path, headers=headers, **options) as answer:
            if answer.is_error:
                check_response(answer.status_code, read_body(answer.read()), answer.headers)
            yield answer

    def _send_request(self, method: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
        for _attempt in range(self._backoff.attempts):
            try:
                answer = self._http.request(method, path, json=body)
                found = read_body(answer.content)
                check_response(answer.status_code, found, answer.headers)
            except (httpx.TransportError, Again) as error:
                failure: Exception = error
            else:
                return found
            later_s = failure.retry_after_s if isinstance(failure, Again) else 0.0
            if not later_s:
                break
            time.sleep(self._backoff.later(later_s))
        raise Unreachable(f"The server does not answer ({failure}).") from failure


def read_body(body: bytes) -> dict[str, Any]:
    """Return the JSON of a body; an empty object where a proxy sent something else."""
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
