"""A sentence of an answer, cut from the passage it cites."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of the answer. passage: index into the passages given. start, end: span in the passage's text.

    score: log-odds scale, comparable within one question. support: the reader's probability that this statement, of all
    it read, is the one that answers; what is shown because it belongs to another quotation has that one's.
    """

    text: str
    passage: int
    start: int
    end: int
    score: float
    support: float
