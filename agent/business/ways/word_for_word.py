"""The way without a model: every word of the question stands for something in the layer, or there is no answer."""

from dataclasses import dataclass
from datetime import date

from agent.business.ask.describe import describe
from agent.business.ask.understand import understand
from agent.business.ask.words.lexicon import Lexicon
from agent.business.guard.refusal import SqlRefused
from agent.business.ways.base import Written


@dataclass(frozen=True)
class WordForWord:
    """language: of the meaning's words. today: the company's date; None for now."""

    language: str
    today: date | None = None

    async def write(self, question: str, lexicon: Lexicon, *, named_in: str = "") -> Written:
        understood = understand(question, lexicon, today=self.today, named_in=named_in)
        return Written(understood.sql, describe(understood.question, lexicon, self.language))

    async def mend(self, written: Written, refused: SqlRefused) -> Written | None:
        """The same question is read the same way: there is nothing to mend."""
        return None
