"""The way with a language model: it sees the linked tables and a few confirmed examples, and writes one statement.

What it writes is a proposal: it runs behind the same walls as everything else, and one refusal is shown to it for a second try.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from pydantic import BaseModel

from agent.business.ask.meaning import NotUnderstood
from agent.business.ask.words.function_words import FUNCTION_WORDS
from agent.business.ask.words.lexicon import Lexicon
from agent.business.ask.words.units import key_of
from agent.business.examples import Example
from agent.business.guard.grammar import nodes, parse_query
from agent.business.guard.refusal import Reason, SqlRefused
from agent.business.ways.base import Written
from agent.business.ways.linking import Linked, link
from agent.business.ways.telling import told
from agent.prompting import Prompt, prompt
from agent.providers.base import ChatModel, Message
from agent.providers.structured import ask_for
from agent.tools.output import escaped

MOST_EXAMPLES = 3
_EMPTY = frozenset(unit for key in FUNCTION_WORDS for unit in key if len(key) == 1 or unit.isascii())
LEAST_ALIKE = 0.1  # of what both questions say: an example of something else only misleads


class SqlAnswer(BaseModel):
    """What the model is asked to write. sql: "" where the tables cannot answer; missing: then, what is not in them."""

    sql: str = ""
    missing: str = ""


@dataclass(frozen=True)
class ByModel:
    """language: of the prompt and of the meaning. examples: confirmed pairs of this source. use: notes a prompt, gives its text."""

    model: ChatModel
    language: str
    examples: Sequence[Example] = ()
    today: date | None = None
    use: Callable[[Prompt], str] = lambda given: given.text

    async def write(self, question: str, lexicon: Lexicon, *, named_in: str = "") -> Written:
        """Raises NotUnderstood, and ModelError where the model fails."""
        linked = link(f"{question} {named_in}", lexicon)
        turns: list[Message] = [
            {"role": "system", "content": self.use(prompt("sql", self.language))},
            {"role": "user", "content": self._asked(question, lexicon, linked, named_in)},
        ]
        return await self._proposed(turns)

    async def mend(self, written: Written, refused: SqlRefused) -> Written | None:
        """Once, and never what costs too much: to ask for less would be another question."""
        if refused.reason is Reason.COST or not written.turns:
            return None
        why = f"{self.use(prompt('sql_mend', self.language))}\n\n{refused}"
        turns = [
            *written.turns,
            {"role": "assistant", "content": json.dumps({"sql": written.sql}, ensure_ascii=False)},
            {"role": "user", "content": why},
        ]
        answer, _replies = await ask_for(self.model, turns, SqlAnswer)
        return Written(answer.sql) if answer.sql.strip() else None

    def _asked(self, question: str, lexicon: Lexicon, linked: Linked, named_in: str) -> str:
        layer = lexicon.layer
        day = self.today or datetime.now(ZoneInfo(layer.time_zone)).date()
        parts = [f"<tables>\n{escaped(told(linked))}\n</tables>"]
        parts += [
            f"<example>\n{escaped(example.question)}\n{escaped(example.sql)}\n</example>"
            for example in alike(question, self.examples)
        ]
        parts += [f"<named>\n{escaped(named_in)}\n</named>"] if named_in else []
        return "\n\n".join([*parts, f"today: {day} ({layer.time_zone})", f"question: {question}"])

    async def _proposed(self, turns: list[Message]) -> Written:
        answer, _replies = await ask_for(self.model, turns, SqlAnswer)
        if not answer.sql.strip():
            raise NotUnderstood(answer.missing.strip()[:200] or "the tables cannot answer it")
        _require_table(answer.sql)
        return Written(answer.sql, turns=tuple(turns))


def _require_table(sql: str) -> None:
    """Raises NotUnderstood for a statement that reads no table; one that cannot be parsed is refused when it is run."""
    with suppress(SqlRefused):
        if not any(node.DESCRIPTOR.name == "RangeVar" for node in nodes(parse_query(sql))):
            raise NotUnderstood("the statement reads no table")


def alike(question: str, examples: Sequence[Example], most: int = MOST_EXAMPLES) -> list[Example]:
    """The examples whose questions share the most words with this one, best last: next to the question."""
    wanted = _grams(question)
    scored = []
    for place, example in enumerate(examples):
        given = _grams(example.question)
        scored.append((len(wanted & given) / max(1, len(wanted | given)), -place))
    best = sorted(one for one in scored if one[0] >= LEAST_ALIKE)[-most:]
    return [examples[-place] for _score, place in best]


def _grams(text: str) -> frozenset[tuple[str, ...]]:
    """What a question is about: words of English, characters of Chinese, and pairs of neighbours; no function words."""
    units = [unit for unit in key_of(text) if unit not in _EMPTY]
    return frozenset([*((unit,) for unit in units), *pairwise(units)])
