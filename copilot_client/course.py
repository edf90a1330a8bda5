"""What both clients know about one stream between two connections: where it is, and whether and when to come back. No I/O."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from copilot_client.errors import Refused, Unreachable
from copilot_client.events import StreamResponse
from copilot_client.sse import Frames

AGAIN = frozenset({408, 429, 500, 502, 503, 504})  # statuses that may be others in a moment


@dataclass(frozen=True)
class Backoff:
    """Waits between attempts in seconds: doubling, with jitter. attempts: in a row without a new event."""

    first_s: float = 0.25
    longest_s: float = 8.0
    attempts: int = 8

    def wait(self, attempt: int) -> float:
        """attempt: 1 for the first."""
        longest = min(self.longest_s, self.first_s * 2 ** (attempt - 1))
        return random.uniform(longest / 2, longest)  # noqa: S311 - spreads load, hides nothing


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
        """A connection begins: half a frame of the one before means nothing."""
        self.frames = Frames()

    def take(self, piece: bytes) -> Iterator[StreamResponse]:
        """The events in a piece of a body; one that was seen already is left out."""
        for frame in self.frames.take(piece):
            event = StreamResponse.of(frame.data)
            self.message_id = event.assistant_message_id or self.message_id
            if event.seq in {0, self.seq + 1} or event.is_last:
                self.seq, self.failures = event.seq, 0
                yield event

    def after_failure(self, error: Exception) -> float:
        """Seconds to wait before coming back. Raises Unreachable where nothing says to what, or it was tried often enough."""
        self.failures += 1
        if not self.message_id:
            raise Unreachable(f"The question was sent, and no answer began ({error}).") from error
        if self.failures > self.backoff.attempts:
            raise Unreachable(f"The answer could not be followed to its end ({error}).") from error
        return self.backoff.wait(self.failures)

    @property
    def place(self) -> tuple[str, dict[str, str], dict[str, str]]:
        """Path, query and headers that lead back to it."""
        headers = {"Last-Event-ID": str(self.seq)} if self.seq >= 0 else {}
        return f"/api/v1/sessions/continue-stream/{self.session_id}", {"message_id": self.message_id}, headers


class Again(Exception):
    """A connection ended too early, or the server asked to come later."""


def check(status: int, body: Mapping[str, Any]) -> None:
    """Raises Refused for a problem document, Again where a later attempt may go well."""
    if status < 400:
        return
    detail = str(body.get("detail") or f"The server answered with status {status}.")
    if status in AGAIN:
        raise Again(detail)
    raise Refused(status, detail, str(body.get("code", "")))
