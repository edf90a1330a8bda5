"""The limits on what one question may cost, in one object, and what it has cost so far."""

import time
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum


class Limit(StrEnum):
    STEPS = "steps"
    TOOL_CALLS = "tool_calls"
    TOKENS = "tokens"
    SECONDS = "seconds"
    COST = "cost"
    REPEATED = "repeated_call"  # the same tool with the same arguments again
    NOTHING_NEW = "no_new_evidence"


@dataclass(frozen=True)
class Budget:
    """Limits of one run. A step is one call of the model. cost: in the currency of the model's prices; None: no limit.

    The defaults fit questions that need three or four searches; one that needs more is better split.
    """

    steps: int = 8
    tool_calls: int = 16
    tokens: int = 80_000
    seconds: float = 120.0
    cost: Decimal | None = None
    fruitless: int = 2  # steps in a row that bring no new evidence


@dataclass(frozen=True)
class ModelCall:
    """One call of the model. began_ns, ended_ns: of the wall clock. error: its kind, "" where there was none."""

    began_ns: int
    ended_ns: int
    input_tokens: int
    output_tokens: int
    error: str = ""


@dataclass
class Spent:
    """Usage of a run. cached_tokens: input tokens that services had cached. began: on the monotonic clock."""

    steps: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: Decimal = Decimal(0)
    fruitless: int = 0
    calls_made: set[str] = field(default_factory=set)
    began: float = field(default_factory=time.monotonic)
    stopped_by: Limit | None = None
    model_calls: list[ModelCall] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def seconds_left(self, budget: Budget) -> float:
        return max(0.0, budget.seconds - (time.monotonic() - self.began))

    def limit_reached(self, budget: Budget) -> Limit | None:
        """Return the first limit that forbids another call of the model; None while there is room."""
        reached = {
            Limit.SECONDS: self.seconds_left(budget) <= 0,
            Limit.COST: budget.cost is not None and self.cost >= budget.cost,
            Limit.TOKENS: self.tokens >= budget.tokens,
            Limit.STEPS: self.steps >= budget.steps,
            Limit.TOOL_CALLS: self.tool_calls >= budget.tool_calls,
            Limit.NOTHING_NEW: self.fruitless >= budget.fruitless,
        }
        return next((limit for limit, is_reached in reached.items() if is_reached), None)


HARD = frozenset({Limit.SECONDS, Limit.COST, Limit.TOKENS})
"""Limits after which the model is not called at all; the others only end the loop, and the answer is still written."""
