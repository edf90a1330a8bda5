"""What one question may cost a source: its time above all. A plan is judged only for what no time limit interrupts."""

from dataclasses import dataclass

MAX_ROWS = 50  # of any answer, whatever a source allows


@dataclass(frozen=True)
class Limits:
    """seconds: of the database for a whole question: plan, rows and their count. rows: of an answer.

    gathered_bytes: what may come into one value, as the planner estimates; the server copies it a few times.
    """

    seconds: float = 10
    rows: int = MAX_ROWS
    gathered_bytes: int = 64_000_000

    @property
    def ms(self) -> int:
        return max(1, round(self.seconds * 1000))
