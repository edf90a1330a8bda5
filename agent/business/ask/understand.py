"""A question in Chinese or English to SQL without a model: understood word for word, or not at all."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from zoneinfo import ZoneInfo

from agent.business.ask.chinese import keywords
from agent.business.ask.meaning import NotUnderstood, Question
from agent.business.ask.reading.named import among_named
from agent.business.ask.reading.reader import read_question
from agent.business.ask.reading.second import asks_twice, parts_of, with_second
from agent.business.ask.rewording.wording import rephrased
from agent.business.ask.sql.build import build_sql
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item, read_items, require_known
from agent.business.ask.words.lexicon import Lexicon, MeasureRef
from agent.business.ask.words.units import prepared

_HOW = "多"  # of the words that ask, those for an amount: 多久, 有多长, 是多少


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
    question = _read_somehow(text, lexicon, day)
    _require_happened(question, day)
    _require_amount(question, text, lexicon, day)
    if named_in:
        question = among_named(question, named_in, lexicon)
    return _built(question, lexicon)


def _require_happened(question: Question, day: date) -> None:
    """A figure of a time that has not come is a prediction; rows may be dated ahead. Raises NotUnderstood."""
    is_ahead = any(time.window and time.window.start and time.window.start > day for time in question.times)
    if is_ahead and any(isinstance(figure, MeasureRef) for figure in question.figures):
        raise NotUnderstood("a time that has not come")


def _require_amount(question: Question, text: str, lexicon: Lexicon, day: date) -> None:
    """Names are no answer to a question for an amount (“how long is the probation of new employees”). Raises NotUnderstood."""
    shows = question.figures or question.columns or question.also or question.order or question.derived
    if not shows and any(item.kind is Kind.ASK and _HOW in item.text for item in read_items(text, lexicon, day)):
        raise NotUnderstood("an amount that the tables do not keep")


def _read_somehow(text: str, lexicon: Lexicon, day: date) -> Question:
    """The question as it is put; else, where all its words are known, as its pieces alone say it."""
    try:
        return _read(text, lexicon, day)
    except NotUnderstood as error:
        if error.unknown or error.choices or error.figures or asks_twice(prepared(text)):
            raise
        with suppress(NotUnderstood):
            return _read_whole(text, lexicon, day, is_free=True)
        raise


def _read(text: str, lexicon: Lexicon, day: date) -> Question:
    """The question as a whole, else its first part with what its second asks besides.

    Where two parts ask, the whole would be a question that puts both into one: only a figure compared or beside another is one.
    """
    plain = prepared(text)
    are_two = asks_twice(plain)
    if are_two and (question := _read_in_two(plain, lexicon, day)) is not None:
        return question
    try:
        question = _read_whole(text, lexicon, day)
    except NotUnderstood:
        found = None if are_two else _read_in_two(plain, lexicon, day) or _read_keywords(text, lexicon, day)
        if found is None:
            raise
        return found
    if are_two and question.derived is None and len(question.figures) < 2:
        raise NotUnderstood("two questions")
    return question


def _read_keywords(text: str, lexicon: Lexicon, day: date) -> Question | None:
    """“地区 客户数”: by each region, where the words alone say no question."""
    for said in keywords(text):
        with suppress(NotUnderstood):
            question = _read_whole(said, lexicon, day)
            return question if question.groups else None
    return None


def _read_in_two(text: str, lexicon: Lexicon, day: date) -> Question | None:
    for first, second in parts_of(text):
        with suppress(NotUnderstood):
            question = _read(first, lexicon, day)
            items = [item for item in read_items(first, lexicon, day) if item.kind is not Kind.UNKNOWN]
            return with_second(question, items, second, lexicon, partial(_going_on, lexicon=lexicon, day=day))
    return None


def _read_whole(text: str, lexicon: Lexicon, day: date, *, is_free: bool = False) -> Question:
    items = rephrased(read_items(text, lexicon, day), lexicon)
    require_known(items)
    return read_question(items, lexicon, is_free=is_free)


def _going_on(before: list[Item], text: str, *, lexicon: Lexicon, day: date) -> list[Item]:
    return rephrased([*before, *read_items(text, lexicon, day)], lexicon)


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
