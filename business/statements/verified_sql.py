"""Answer a question by its verified statement, under the rights of the person who asks.

A time that the question says relatively (“last month”) is meant as of today: dates in the statement that were its days when it was
verified become its days of today; where one cannot be told so, the statement is not used. The statements are given; no row is read here.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from hashlib import sha256

from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import override

from business.guard.grammar import iterate_nodes, parse_query, strip_statement
from business.guard.rewrite import quote_literal
from business.linking.linker import may_show_column_values
from business.logical_query.query import LogicalQuery
from business.logical_query.times import Span, days_of
from business.logical_query.wording import QueryWording
from business.models import DataSource
from business.parsing.base import Context
from business.parsing.reader.parser import parse
from business.parsing.reader.times import mark_times
from business.parsing.reader.units import normalise_text
from business.semantic_layer.model import Dimension, SemanticLayer, Value
from business.sources.services import OpenSource, saved_layer
from business.statements.examples import is_accepted_statement
from knowledge.text.language import detect_language

_DATE = re.compile(r"'(\d{4}-\d{2}-\d{2})'")
_YEAR = re.compile(r"(?<![\w.])(?:19|20)\d{2}(?![\w.])")
_END = "?？!！。. "


@dataclass(frozen=True)
class Statement:
    """A verified statement. wordings: the question first. sql: before the guard. by: "" for a deleted person."""

    wordings: tuple[str, ...]
    sql: str
    by: str
    at: datetime


Statements = Callable[[OpenSource], Sequence[Statement]]
"""The verified statements of a source."""


@dataclass(frozen=True)
class VerifiedSql:
    """sql: as of today, before the guard; "" where its dates cannot be told for today. is_same: with the same value and time."""

    opened: OpenSource
    sql: str
    by: str
    at: datetime
    is_same: bool = True

    def meaning(self, language: str) -> QueryWording:
        """Return who verified it, and when, in the question's language."""
        with override("zh-hans" if language.startswith("zh") else "en"):
            values = {"name": self.by or _("a former colleague"), "day": self.at.date().isoformat()}
            message = _("Query verified by %(name)s on %(day)s.")
            if not self.is_same:
                message = _("Query verified with another value or time by %(name)s on %(day)s.")
            return QueryWording(definitions=(message % values,))


def find_verified_statement(sources: Iterable[OpenSource], question: str, statements: Statements) -> VerifiedSql | None:
    """Return the latest verified statement for the same question that the rights behind these sources would run: in the same words, or in
    others that are read as the same logical query.

    Where there is none, of the same question with another value or time, if the statement can be told for those.
    """
    found = [entry for opened in sources for entry in _find_fitting_statements(opened, question, statements(opened))]
    return max(found, key=lambda item: (item.is_same, item.at), default=None)


def _find_fitting_statements(opened: OpenSource, question: str, known: Sequence[Statement]) -> Iterator[VerifiedSql]:
    """Yield the first statement of a source that is the same, or the first that is but for a value or time."""
    today = opened.today
    same = _find_same_question(known, question, opened, today)
    for item, wording in [same] if same else _pair_with_wordings(known):
        at = localtime(item.at, opened.time_zone)
        then = at.date()
        sql = (
            update_statement_dates(item.sql, wording, verified=then, today=today)
            if same
            else _adapt_statement(item.sql, wording, question, opened, verified=then, today=today)
        )
        if (sql or same) and is_accepted_statement(item.sql, opened.access.policy):
            yield VerifiedSql(opened, sql, item.by, at, is_same=same is not None)
            return


def _find_same_question(
    known: Sequence[Statement], question: str, opened: OpenSource, today: date
) -> tuple[Statement, str] | None:
    """Return the statement of this question with its wording: in the same words, else in others that ask for the same by the
    layer's words.
    """
    asked = normalise_question(question)
    worded = _pair_with_wordings(known)
    match = next((item for item in worded if normalise_question(item[1]) == asked), None)
    if match is not None or not worded:
        return match
    meant = _parse_meaning(question, opened, today)
    return next((item for item in worded if meant and _parse_meaning(item[1], opened, today) == meant), None)


def _pair_with_wordings(known: Sequence[Statement]) -> list[tuple[Statement, str]]:
    return [(item, wording) for item in known for wording in item.wordings]


def _parse_meaning(question: str, opened: OpenSource, today: date) -> LogicalQuery | None:
    parsed = parse(question, opened.lexicon, Context(detect_language(question) or "en", today))
    return parsed if isinstance(parsed, LogicalQuery) else None


def _adapt_statement(sql: str, wording: str, question: str, opened: OpenSource, *, verified: date, today: date) -> str:
    """Return the statement for a question with another value or time; "" where it is another question."""
    before, now = _mask_times(wording, verified), _mask_times(question, today)
    if before == now:
        return update_statement_dates(sql, question, asked_then=wording, verified=verified, today=today)
    other = replace_statement_value(sql, before, now, opened.layer)
    return update_statement_dates(other, question, asked_then=wording, verified=verified, today=today) if other else ""


def _mask_times(question: str, day: date) -> str:
    return normalise_question(mark_times(normalise_question(question), day, 1)[0])


def update_statement_dates(sql: str, question: str, *, verified: date, today: date, asked_then: str = "") -> str:
    """Return the statement for today; "" where the question's times have moved and a date in the statement is none of their days.

    asked_then: the question that it was verified for, where that is another one.
    """
    before, now = _find_time_windows(asked_then or question, verified), _find_time_windows(question, today)
    if asked_then and before and not (_DATE.search(sql) or _YEAR.search(sql)):  # it tells its days from the clock
        return ""
    if [_format_span_days(window) for window in before] == [_format_span_days(window) for window in now]:
        return sql
    if len(before) != 1 or len(now) != 1:  # of several times a day may be of either
        return ""
    if [end is None for end in before[0]] != [end is None for end in now[0]]:
        return ""
    moved = {
        old: new
        for old, new in zip(_format_span_days(before[0]), _format_span_days(now[0]), strict=True)
        if old and new
    }
    shifted = _DATE.sub(lambda found: f"'{moved.get(found[1], found[1])}'", sql)
    unknown = [day for day in _DATE.findall(sql) if day not in moved]
    other_years = set(_YEAR.findall(_DATE.sub("", sql))) - set(_YEAR.findall(question))
    return "" if unknown or other_years else shifted


def _find_time_windows(question: str, day: date) -> list[Span]:
    return [days_of(moment.range, day, 1) for moment in mark_times(normalise_text(question), day, 1)[1]]


def _format_span_days(span: Span) -> tuple[str, str, str]:
    """Return its first day, its last one and the day after, as SQL writes them; "" for an open end."""
    start, end = span
    last = end - timedelta(days=1) if end else None
    return tuple(day.isoformat() if day else "" for day in (start, last, end))  # type: ignore[return-value]


def normalise_question(question: str) -> str:
    """Return one spelling of a question, for all ways to write it."""
    return " ".join(normalise_text(question).casefold().split()).strip(_END)


_UNIT = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|\S")


def replace_statement_value(sql: str, before: str, now: str, layer: SemanticLayer) -> str:
    """Return the statement of one question for another, which differs from it in one value of one column; "" where that is not so."""
    old, new = _split_units(before), _split_units(now)
    found = {
        sql.replace(quote_literal(one.value), quote_literal(other.value))
        for dimension in _iterate_nameable_dimensions(layer)
        for one, other in _find_exchanged_values(old, new, dimension)
        if sql.count(quote_literal(one.value)) == 1 and all(column in sql for column in dimension.columns)
    }
    return found.pop() if len(found) == 1 else ""


def _split_units(text: str) -> list[str]:
    return _UNIT.findall(text)


def _iterate_nameable_dimensions(layer: SemanticLayer) -> Iterator[Dimension]:
    for model in layer.semantic_models:
        yield from (item for item in model.dimensions if item.values and may_show_column_values(item, model))


def _find_exchanged_values(
    old: Sequence[str], new: Sequence[str], dimension: Dimension
) -> Iterator[tuple[Value, Value]]:
    """Yield pairs of values of which one stands in one question where the other stands in the other."""
    for value in dimension.values:
        for wording in map(_split_units, _list_value_wordings(value)):
            for at in range(len(old) - len(wording) + 1):
                rest = len(old) - at - len(wording)
                is_around = list(old[at : at + len(wording)]) == wording and old[:at] == new[:at]
                if wording and is_around and at + rest <= len(new) and old[len(old) - rest :] == new[len(new) - rest :]:
                    other = _find_value("".join(new[at : len(new) - rest]), dimension)
                    if other is not None and other.value != value.value:
                        yield value, other


def _find_value(text: str, dimension: Dimension) -> Value | None:
    return next(
        (
            v
            for v in dimension.values
            if text in {"".join(_split_units(wording)) for wording in _list_value_wordings(v)}
        ),
        None,
    )


def _list_value_wordings(value: Value) -> list[str]:
    return [word.casefold() for word in value.words()]


def compute_layer_sha256(source: DataSource, sql: str = "") -> str:
    """Return the SHA-256 of the layer's tables that a statement reads; of the whole layer without one."""
    read = (
        {
            node.relname
            for node in iterate_nodes(parse_query(strip_statement(sql)))
            if node.DESCRIPTOR.name == "RangeVar"
        }
        if sql
        else set()
    )
    models = [m.model_dump_json() for m in saved_layer(source).semantic_models if not sql or m.table in read]
    return sha256("\n".join(models).encode()).hexdigest()
