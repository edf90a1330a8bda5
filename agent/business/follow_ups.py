"""What a question that leans on the one before it asks of business data: only what is certain, else choices.

A part takes the place of the one part of its kind: a time of a time, a value of a value of the same column. Both questions are read,
and the completed one must be read as the earlier one with that part alone changed.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from agent.business.ask.describe import label
from agent.business.ask.meaning import NotUnderstood, Question, TimeFilter, ValueFilter
from agent.business.ask.sql.build import build_sql
from agent.business.ask.times.windows import Window
from agent.business.ask.understand import understand
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item, read_items
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ValueRef
from agent.business.sources import open_sources
from agent.rule_routing.context_dependence import Lean, Leaning, beside, in_one_text, is_vague, leaning_of
from authz.principal import Principal
from knowledge.ingestion.language import language_of

_SUBJECTS = frozenset({Kind.MODEL, Kind.MEASURE, Kind.ROLE})  # what says by itself which rows are asked about
_PARTS = frozenset({Kind.WINDOW, Kind.VALUE, Kind.STOP})
_FRAGMENT = _PARTS | {
    Kind.MODEL,
    *(
        Kind.DIMENSION,
        Kind.TIME,
        Kind.GROUP,
        Kind.PERIOD,
        Kind.SHARE,
        Kind.CHANGE,
        Kind.PREVIOUS,
        Kind.NUMBER,
        Kind.TOP,
    ),
    *(Kind.AND, Kind.NOT, Kind.ALL, Kind.SUM, Kind.MAX, Kind.MIN, Kind.LIST, Kind.EACH, Kind.NEW, Kind.UNKNOWN),
}  # words that together ask nothing: “per month”, “only in Europe”
_MOST_UNKNOWN = 1  # words of a fragment that stand for nothing: “only”


@dataclass(frozen=True)
class FollowUp:
    """question: complete in itself; "" where it is not certain what is asked. readings: then, complete questions to choose from."""

    question: str = ""
    readings: tuple[str, ...] = ()


def follow_up(principal: Principal, asked: str, earlier: str, *, is_unclear: bool = False) -> FollowUp | None:
    """What a question asks of the data that this person may ask; None where it leans on nothing that they answered.

    earlier: the question before it, as it was understood. is_unclear: that one was asked back.
    """
    leaning = leaning_of(asked)
    found = [
        told
        for opened in open_sources(principal)
        if (told := _Pair(asked, earlier, leaning, opened.lexicon, is_unclear).told()) is not None
    ]
    complete = [told for told in found if told.question]
    return next(iter([*complete, *found]), None)


@dataclass(frozen=True)
class _Pair:
    """Two questions of one conversation and the source they are read by."""

    asked: str
    earlier: str
    leaning: Leaning
    lexicon: Lexicon
    is_unclear: bool

    @cached_property
    def today(self) -> date:
        return datetime.now(ZoneInfo(self.lexicon.layer.time_zone)).date()

    @cached_property
    def before(self) -> Question | None:
        return None if self.is_unclear else self.read(self.earlier)

    @cached_property
    def alone(self) -> Question | None:
        """What is asked, as far as it is a question by itself."""
        return self.read(self.leaning.part)

    @cached_property
    def items(self) -> list[Item]:
        return read_items(self.leaning.part, self.lexicon, self.today)

    def read(self, text: str) -> Question | None:
        with suppress(NotUnderstood):
            return understand(text, self.lexicon, today=self.today).question
        return None

    @property
    def names_subject(self) -> bool:
        return any(item.kind in _SUBJECTS for item in self.items)

    def _asks(self, text: str, wanted: Question) -> bool:
        """Whether a text is read as the statement of a question."""
        with suppress(NotUnderstood):
            return understand(text, self.lexicon, today=self.today).sql == build_sql(wanted, self.lexicon)
        return False

    def told(self) -> FollowUp | None:
        if self.before is None:
            return self._after_another()
        how = self.leaning.how
        if how is Lean.CORRECTS or is_vague(self.asked):
            return self._unclear()
        if how is Lean.POINTS_BACK:
            return self._pointing_back()
        if self.alone is None:
            return (self._replaced() or self._unclear()) if how is Lean.PART or self._is_fragment() else None
        leans = how is not Lean.NONE or not self.names_subject
        if leans and self._left_over():
            return self._unclear()
        return FollowUp(self.leaning.part) if how is Lean.PART else None

    def _after_another(self) -> FollowUp | None:
        """After a question that documents answered, or that was asked back itself: there is nothing to complete it from."""
        how, is_read = self.leaning.how, self.alone is not None
        if how is Lean.PART and is_read and self.names_subject:
            return FollowUp(self.leaning.part)
        if how is Lean.GOES_ON and is_read:
            return self._unclear()
        if not self.is_unclear:
            return None
        leans = how in (Lean.PART, Lean.CORRECTS) or (how is Lean.POINTS_BACK and (is_read or is_vague(self.asked)))
        is_fragment = how is not Lean.POINTS_BACK and self._is_fragment()
        return self._unclear() if leans or is_fragment else None

    def _unclear(self) -> FollowUp:
        return FollowUp(readings=self._readings())

    def _is_fragment(self) -> bool:
        kinds = [item.kind for item in self.items if item.kind is not Kind.STOP]
        known = [kind for kind in kinds if kind is not Kind.UNKNOWN]
        is_known = bool(known) and len(kinds) - len(known) <= _MOST_UNKNOWN
        return self.alone is None and is_known and set(kinds) <= _FRAGMENT

    def _pointing_back(self) -> FollowUp | None:
        """Both in one text, where that is read with everything that the earlier one was narrowed to."""
        assert self.before is not None
        whole = in_one_text(self.asked, self.earlier)
        both = self.read(whole)
        narrowed = self.before.limit or self.before.derived or self.before.having
        if both is not None and not narrowed and not _left_over(self.before, both):
            return FollowUp(whole)
        return self._unclear() if self.alone is not None else None

    def _left_over(self) -> bool:
        assert self.before is not None
        assert self.alone is not None
        return bool(self.before.limit) or _left_over(self.before, self.alone)

    def _replaced(self) -> FollowUp | None:
        """The earlier question with its one part of the kind that is named in its place."""
        part = [item for item in self.items if item.kind is not Kind.STOP]
        if len(part) != 1 or part[0].kind not in _PARTS or self.before is None or self.before.derived:
            return None  # what is made of two figures has parts of its own
        swapped = self._with_time(part[0]) if part[0].kind is Kind.WINDOW else self._with_value(part[0])
        if swapped is None:
            return None
        old, wanted = swapped
        text = _in_place(self.earlier, old, part[0].text)
        return FollowUp(text) if text and _same(self.read(text), wanted) else None

    def _with_time(self, part: Item) -> tuple[str, Question] | None:
        """The words of the one time of the earlier question, and that question with another one."""
        assert self.before is not None
        if len(self.before.times) != 1 or part.window is None:
            return None
        time = self.before.times[0]
        if part.window.unit != "year" and _year(part.window) != _year(time.window):
            return None  # “and in October?” after a month of another year may mean that year's
        return time.window.text, replace(self.before, times=(replace(time, window=part.window),))

    def _with_value(self, part: Item) -> tuple[str, Question] | None:
        """The words of the one value of that column in the earlier question, and that question with another one."""
        assert self.before is not None
        named = {DimensionRef(ref.model, ref.dimension): ref.value for ref in part.refs if isinstance(ref, ValueRef)}
        fits = [value for value in self.before.values if value.dimension in named]
        if len(fits) != 1 or len(fits[0].values) != 1 or fits[0].is_not:
            return None
        old, new = fits[0], replace(fits[0], values=(named[fits[0].dimension],))
        said = [
            item.text
            for item in read_items(self.earlier, self.lexicon, self.today)
            if ValueRef(old.dimension.model, old.dimension.dimension, old.values[0]) in item.refs
        ]
        if len(said) != 1:
            return None
        values = tuple(new if value is old else value for value in self.before.values)
        return said[0], replace(self.before, values=values)

    def _readings(self) -> tuple[str, ...]:
        """The question by itself with the table it is about, the same within what was asked before, and the earlier one narrowed."""
        return tuple(dict.fromkeys([*self._readings_alone(), *self._readings_narrowed()]))

    def _readings_alone(self) -> Iterator[str]:
        if self.before is None or self.alone is None:
            return
        table = label(self.lexicon.model(_table_of(self.alone)), self._language)
        values = [item.text for item in read_items(self.earlier, self.lexicon, self.today) if item.kind is Kind.VALUE]
        if self._asks(text := beside(self.leaning.part, table), self.alone):
            yield text
        both = replace(self.alone, values=(*self.alone.values, *self.before.values))
        text = beside(self.leaning.part, ", ".join([*values, table]))
        if values and not self.before.times and self._asks(text, both):
            yield text

    def _readings_narrowed(self) -> Iterator[str]:
        """The earlier question with a time or a value more."""
        if self.before is None or self.alone is not None:
            return
        text = beside(self.earlier, self.leaning.part)
        after = self.read(text)
        if after is None:
            return
        added = (len(after.times) - len(self.before.times), len(after.values) - len(self.before.values))
        if added in ((1, 0), (0, 1)) and replace(after, times=(), values=()) == replace(
            self.before, times=(), values=()
        ):
            yield text

    @property
    def _language(self) -> str:
        return "zh" if language_of(self.asked) == "zh" else "en"


def _left_over(before: Question, after: Question) -> bool:
    """Whether a question was narrowed to something that the one after it neither says nor says otherwise."""
    columns = {value.dimension for value in after.values}
    return (
        any(value.dimension not in columns for value in before.values)
        or bool(before.times and not after.times)
        or any(
            condition not in kept
            for conditions, kept in (
                (before.numbers, after.numbers),
                (before.missing, after.missing),
                (before.related, after.related),
                (before.others, after.others),
                (before.having, after.having),
            )
            for condition in conditions
        )
    )


def _same(one: Question | None, other: Question) -> bool:
    """Whether both ask the same, whatever the words of their times."""
    return one is not None and _wordless(one) == _wordless(other)


def _wordless(question: Question) -> Question:
    def told(time: TimeFilter) -> TimeFilter:
        return replace(time, window=replace(time.window, text=""))

    def ordered(value: ValueFilter) -> tuple[str, ...]:
        return (value.dimension.model, value.dimension.dimension, *value.values)

    return replace(question, times=tuple(map(told, question.times)), values=tuple(sorted(question.values, key=ordered)))


def _in_place(text: str, old: str, new: str) -> str:
    """The text with other words where these stand once; "" where they do not."""
    begin = text.lower().find(old.lower())
    if begin < 0 or text.lower().count(old.lower()) != 1 or len(text.lower()) != len(text):
        return ""
    return text[:begin] + new + text[begin + len(old) :]


def _year(window: Window) -> int | None:
    return window.start.year if window.start else None


def _table_of(question: Question) -> str:
    """The table that a question is about."""
    refs = [*question.figures, *question.columns, *([question.order] if question.order else [])]
    first = question.of or next((ref.of.model if hasattr(ref, "of") else ref.model for ref in refs), "")
    return first or question.values[0].dimension.model
