"""A model with a budget: usage is counted, and no call is made once the budget is spent."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from agent.budget import HARD, Budget, Limit, ModelCall, Spent
from agent.prompting import count_message_tokens, count_tokens
from agent.providers.base import Delta, Message, ModelError, Shape, Usage, WrappedModel
from agent.providers.reply import Reply


class OutOfBudget(ModelError):
    """A limit of the run is reached; nothing failed."""

    def __init__(self, limit: Limit) -> None:
        super().__init__(f"the run has come to its limit: {limit.value}")
        self.limit = limit


@dataclass
class Metered(WrappedModel):
    """A ChatModel whose usage is added to `spent`; its calls end when the run's time does."""

    budget: Budget
    spent: Spent

    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), shape: Shape | None = None
    ) -> AsyncIterator[Delta]:
        """Stream a reply within the budget. Raises OutOfBudget before or during a call, and the model's errors."""
        limit = self.spent.limit_reached(self.budget)
        if limit in HARD:
            raise OutOfBudget(limit)
        asked = Usage(count_message_tokens(messages), 0)
        self._add_usage(asked)  # before the call: others may be made meanwhile
        reply, began_ns, error = Reply(), time.time_ns(), ""
        deltas: Any = self.model.stream(messages, tools=tools, shape=shape)
        try:
            async with aclosing(deltas):
                while (delta := await self._read_next_delta(deltas)) is not None:
                    reply.take(delta)
                    yield delta
        except ModelError as failure:
            error = type(failure).__name__
            raise
        finally:
            usage = self._count_usage(asked, reply)
            self.spent.model_calls.append(
                ModelCall(began_ns, time.time_ns(), usage.input_tokens, usage.output_tokens, error)
            )

    async def _read_next_delta(self, deltas: AsyncIterator[Delta]) -> Delta | None:
        """Return the next delta, None at the end. Raises OutOfBudget where the run's time ends first."""
        try:
            async with asyncio.timeout(self.spent.seconds_left(self.budget)):
                return await anext(deltas, None)
        except TimeoutError:
            raise OutOfBudget(Limit.SECONDS) from None

    def _count_usage(self, asked: Usage, reply: Reply) -> Usage:
        """Count the usage reported by the service, else an estimate, instead of the estimate made before the call.

        Returns it.
        """
        text = f"{reply.text}{reply.reasoning}{''.join(call.arguments for call in reply.calls)}"
        usage = reply.usage or Usage(asked.input_tokens, count_tokens(text))
        self._add_usage(asked, -1)
        self._add_usage(usage)
        return usage

    def _add_usage(self, usage: Usage, times: int = 1) -> None:
        self.spent.input_tokens += times * usage.input_tokens
        self.spent.output_tokens += times * usage.output_tokens
        self.spent.cached_tokens += times * usage.cached_tokens
        self.spent.cost += times * self.prices.of(usage)
