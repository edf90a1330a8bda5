"""What a run has used, while several calls of its model are made."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pytest

from agent.budget import Budget, Spent
from agent.providers.base import Delta, Message, Prices, Shape, Usage
from agent.providers.metered import Metered, OutOfBudget


class Slow:
    """Answers with one word, and counts fewer tokens than are estimated."""

    name = "slow"
    prices = Prices(input=Decimal(1_000_000))
    context_tokens = 8_000

    async def stream(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = (), shape: Shape | None = None
    ) -> AsyncIterator[Delta]:
        await asyncio.sleep(0)
        yield Delta(text="Yes.", usage=Usage(3, 1))

    async def aclose(self) -> None:
        """Nothing is held."""


def test_what_a_call_reads_is_counted_before_another_one_is_made() -> None:
    spent = Spent()
    metered = Metered(Slow(), Budget(tokens=20), spent)
    messages = [{"role": "user", "content": "annual leave " * 20}]

    async def both() -> None:
        first = metered.stream(messages)
        begun = asyncio.ensure_future(anext(first))
        await asyncio.sleep(0)
        with pytest.raises(OutOfBudget):
            await anext(metered.stream(messages))
        await begun
        async for _delta in first:
            pass

    asyncio.run(both())
    assert (spent.input_tokens, spent.output_tokens, spent.cost) == (3, 1, Decimal(3))
