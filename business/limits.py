"""Limits on a question's cost to a source, mainly time; plans are checked only for what no time limit interrupts."""

from dataclasses import dataclass

MAX_ROWS = 50  # of any answer, whatever the source's limit


@dataclass(frozen=True)
class StatementLimits:
    """seconds: database time for a whole question: plan, rows and their count. rows: of an answer.

    gathered_bytes: most bytes aggregated into one value, by the planner; the server copies it a few times.
    """

    seconds: float = 10
    rows: int = MAX_ROWS
    gathered_bytes: int = 64_000_000

    @property
    def ms(self) -> int:
        return max(1, round(self.seconds * 1000))
