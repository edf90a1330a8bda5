"""A model that is asked late: rights are looked at before each call."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from asgiref.sync import sync_to_async

from agent.providers.base import Delta, Message, Shape, WrappedModel
from agent.revocation import require_visible
from agent.run import Run


@dataclass
class LooksFirst(WrappedModel):
    """A model before each of whose calls rights are looked at: the judge is asked late, and may be asked again."""

    run: Run

    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), shape: Shape | None = None
    ) -> AsyncIterator[Delta]:
        """Raises EvidenceGone, and what the model raises."""
        await sync_to_async(require_visible)(self.run)
        async for delta in self.model.stream(messages, tools=tools, shape=shape):
            yield delta
