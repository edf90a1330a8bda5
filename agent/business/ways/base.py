"""From a question to a statement: what every way of getting there has in common."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from agent.business.ask.describe import Meaning
from agent.business.ask.words.lexicon import Lexicon
from agent.business.guard.refusal import SqlRefused
from agent.providers.base import Message

T = TypeVar("T")


@dataclass(frozen=True)
class Written:
    """sql: before the guard. meaning: None where it was not read word for word. turns: what was said with a model, for a second try."""

    sql: str
    meaning: Meaning | None = None
    turns: tuple[Message, ...] = ()


class Way(Protocol):
    """A way from a question to one statement over the tables of a layer."""

    async def write(self, question: str, lexicon: Lexicon, *, named_in: str = "") -> Written:
        """named_in: a text that names what “these” in the question are, such as a passage of a document.

        Raises NotUnderstood where these tables cannot answer, or this way cannot read the question.
        """

    async def mend(self, written: Written, refused: SqlRefused) -> Written | None:
        """The statement once more, knowing why it was not run; None where there is no second try."""


async def run_written(way: Way, written: Written, run: Callable[[str], Awaitable[T]]) -> tuple[Written, T]:
    """Run a statement; where it is refused, what the way makes of the refusal, once. Raises what `run` raises."""
    try:
        return written, await run(written.sql)
    except SqlRefused as refused:
        mended = await way.mend(written, refused)
        if mended is None:
            raise
    return mended, await run(mended.sql)
