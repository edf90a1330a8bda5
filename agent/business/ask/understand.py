"""A question in Chinese or English to SQL without a model: understood word for word, or not at all."""

from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from agent.business.ask.build import build_sql
from agent.business.ask.items import read_items
from agent.business.ask.lexicon import Lexicon
from agent.business.ask.meaning import Question
from agent.business.ask.named import among_named
from agent.business.ask.patterns import read_question


@dataclass(frozen=True)
class Understood:
    """question: the one reading; sql: before the guard."""

    question: Question
    sql: str


def understand(text: str, lexicon: Lexicon, *, today: date | None = None, named_in: str = "") -> Understood:
    """Read a question by the words of a layer. Raises NotUnderstood, with the words that stand for nothing or the choices there are.

    today: the company's date; None for now in the layer's time zone. named_in: a text that names which rows are meant.
    """
    day = today or datetime.now(ZoneInfo(lexicon.layer.time_zone)).date()
    question = read_question(read_items(text, lexicon, day), lexicon)
    if named_in:
        question = among_named(question, named_in, lexicon)
    return Understood(question, build_sql(question, lexicon))
