"""The state of a stream between connections, for both clients: its position, and when to reconnect. No I/O."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from copilot_client.errors import Refused, Unreachable
from copilot_client.events import StreamResponse
from copilot_client.sse import Frames

AGAIN = frozenset({408, 429, 500, 502, 503, 504})  # transient statuses
LATER = frozenset({429, 503})  # with Retry-After: nothing was done, and the request may be sent again


@dataclass(frozen=True)
class Backoff:
    """Waits between attempts in seconds: doubling, with jitter. attempts: in a row without a new event."""

    first_s: float = 0.25
    longest_s: float = 8.0
    attempts: int = 8

    def wait(self, attempt: int) -> float:
        """Return the wait in seconds. attempt: 1 for the first."""
        longest = min(self.longest_s, self.first_s * 2 ** (attempt - 1))
        return random.uniform(longest / 2, longest)  # noqa: S311 - spreads load, hides nothing

    def later(self, seconds: float) -> float:
        """Return the wait that the server asks for, with jitter: it asks all clients for the same."""
        return seconds + random.uniform(0.0, min(self.longest_s, seconds))  # noqa: S311 - as above


@dataclass
class Course:
    """message_id: of the answer, "" as long as nothing has said it. seq: the last that was seen, -1 for none."""

    session_id: str
    message_id: str = ""
    seq: int = -1
    backoff: Backoff = field(default_factory=Backoff)
    failures: int = 0
    frames: Frames = field(default_factory=Frames)

    def connected(self) -> None:
        """Begin a connection, discarding a partial frame of the one before."""
        self.frames = Frames()

    def take(self, piece: bytes) -> Iterator[StreamResponse]:
        """Return the new events in a piece of a body."""
        for frame in self.frames.take(piece):
            event = StreamResponse.of(frame.data)
            self.message_id = event.assistant_message_id or self.message_id
            if event.seq in {0, self.seq + 1} or event.is_last:
                self.seq, self.failures = event.seq, 0
                yield event

    def after_failure(self, error: Exception) -> float:
        """Return the seconds to wait before reconnecting, or before sending an unaccepted request again.

        Raises Unreachable without a stream to reconnect to, or after too many attempts.
        """
        self.failures += 1
        later_s = error.retry_after_s if isinstance(error, Again) else 0.0
        if later_s and self.failures <= self.backoff.attempts:
            return self.backoff.later(later_s)
        if not self.message_id:
            raise Unreachable(f"The question was sent, and no answer began ({error}).") from error
        if self.failures > self.backoff.attempts:
            raise Unreachable(f"The answer could not be followed to its end ({error}).") from error
        return self.backoff.wait(self.failures)

    @property
    def place(self) -> tuple[str, dict[str, str], dict[str, str]]:
        """Return path, query and headers for reconnecting."""
        headers = {"Last-Event-ID": str(self.seq)} if self.seq >= 0 else {}
        return f"/api/v1/sessions/continue-stream/{self.session_id}", {"message_id": self.message_id}, headers


class Again(Exception):
    """A connection ended too early, or the server asked to come later.

    retry_after_s: then, and it has done nothing of what it was asked; 0 where nobody says so.
    """

    def __init__(self, detail: str, retry_after_s: float = 0.0) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


def check_response(status: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """Raise Refused for a problem document, Again where a later attempt may go well."""
    if status < 400:
        return
    detail = str(body.get("detail") or f"The server answered with status {status}.")
    if status in AGAIN:
        after = headers.get("Retry-After", "")
        raise Again(detail, float(after) if status in LATER and after.isascii() and after.isdecimal() else 0.0)
    raise Refused(status, detail, str(body.get("code", "")))
