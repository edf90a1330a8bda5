"""A question in Chinese or English to SQL without a model: understood word for word, or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from zoneinfo import ZoneInfo

from agent.business.ask.build import build_sql
from agent.business.ask.items import read_items, require_known
from agent.business.ask.lexicon import Lexicon, MeasureRef
from agent.business.ask.meaning import NotUnderstood, Question
from agent.business.ask.named import among_named
from agent.business.ask.reader import read_question
from agent.business.ask.wording import rephrased


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
    items = rephrased(read_items(text, lexicon, day), lexicon)
    require_known(items)
    question = read_question(items, lexicon)
    if named_in:
        question = among_named(question, named_in, lexicon)
    return _built(question, lexicon)


def _built(question: Question, lexicon: Lexicon) -> Understood:
    """Measures of one name are one figure, kept at several grains: the first that the question can be asked of is taken."""
    first: NotUnderstood | None = None
    for reading in _at_each_grain(question, lexicon):
        try:
            return Understood(reading, build_sql(reading, lexicon))
        except NotUnderstood as error:
            first = first or error
    assert first is not None  # there is always the question itself
    raise first


def _at_each_grain(question: Question, lexicon: Lexicon) -> Iterator[Question]:
    yield question
    if len(question.figures) != 1 or not isinstance(question.figures[0], MeasureRef):
        return
    own = question.figures[0]
    for model in lexicon.layer.semantic_models:
        if model.name != own.model and any(measure.name == own.measure for measure in model.measures):
            times = tuple(replace(t, model=None) if t.model == own.model else t for t in question.times)
            yield replace(question, figures=(MeasureRef(model.name, own.measure),), times=times)
