"""Answer a question without a language model: by verified statements first, then by its words.

Every statement runs behind guard and sandbox under the person's rights, and the answer names its basis.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from django.utils.translation import override

from authz.principal import Principal
from business.linking.vectors import find_nearest_sources
from business.logical_query.compiler import compile_query
from business.logical_query.query import LogicalQuery
from business.logical_query.titles import describe_with_title
from business.logical_query.wording import QueryWording
from business.parsing.base import Clarification, Context, MeaningChoice, Parsed, Unparseable
from business.parsing.model.free_form import (
    StatementFault,
    find_row_limit,
    find_statement_fault,
    list_statement_conditions,
    list_statement_remarks,
)
from business.parsing.reader.changes import apply_follow_up
from business.parsing.reader.items import items_of
from business.parsing.reader.parser import parse
from business.sources.data_scope import ALL_DATA, DataScope
from business.sources.services import OpenSource, is_known_to_sources, open_sources, select_named_source
from business.statements.run_query import QueryResult
from business.statements.verified_sql import VerifiedSql

QUESTION_LENGTH = 600  # characters: nobody asks data at such length
Run = Callable[[OpenSource, str], Awaitable[QueryResult]]
"""Runs a statement under the person's rights and records it."""


@dataclass(frozen=True)
class Answered:
    """query: None for a statement that was not compiled: free, given, or verified. sql: before the guard."""

    opened: OpenSource
    sql: str
    meaning: QueryWording
    result: QueryResult
    query: LogicalQuery | None = None


@dataclass(frozen=True)
class Unanswered:
    """reasons: by source, why it does not answer. choices: possible meanings."""

    reasons: tuple[tuple[OpenSource, Unparseable], ...] = ()
    choices: tuple[MeaningChoice, ...] = ()


@dataclass(frozen=True)
class DataQuestion:
    """language: of its words. earlier: source and query of the conversation so far. named_in: as in `Context`."""

    text: str
    language: str
    earlier: tuple[str, LogicalQuery] | None = None
    named_in: str = ""

    def context(self, opened: OpenSource) -> Context:
        earlier = self.earlier[1] if self.earlier and self.earlier[0] == opened.source.name else None
        return Context(self.language, opened.today, earlier, self.named_in)


@dataclass
class SourcesQuestion:
    """One question over the sources that a person may ask, read by its words alone. verified: the verified statement for a question, out
    of these sources.
    """

    sources: Sequence[OpenSource]
    run: Run
    verified: Callable[[Sequence[OpenSource], str], VerifiedSql | None] = lambda _sources, _question: None
    failures: list[tuple[OpenSource, Unparseable]] = field(default_factory=list)

    async def answer(self, question: DataQuestion) -> Answered | Unanswered:
        """Answer the question. Raises what running a statement raises."""
        known = None if question.named_in else await sync_to_async(self.verified)(self.sources, question.text)
        if known is not None and known.sql:
            result = await self.run(known.opened, known.sql)
            meaning = _add_statement_remarks(known.meaning(question.language), known.sql, question.language)
            return Answered(known.opened, known.sql, meaning, result)
        if known is not None:  # a verified correction precedes reading by words
            why = _("The verified query for this question names days that do not fit today. Ask with dates.")
            return Unanswered(((known.opened, Unparseable(why)),))
        return await self._answer_by_words(question)

    async def _answer_by_words(self, question: DataQuestion) -> Answered | Unanswered:
        parsed = [(opened, await sync_to_async(read_question)(opened, question)) for opened in self.sources]
        self.failures += [(opened, entry) for opened, entry in parsed if isinstance(entry, Unparseable)]
        found = [(opened, entry) for opened, entry in parsed if isinstance(entry, LogicalQuery | Clarification)]
        first = choose_preferred_readings(found, question)
        if len(first) == 1 and isinstance(query := first[0][1], LogicalQuery):
            return await self.logical(first[0][0], query, question.language)
        choices = tuple(
            choice
            for opened, entry in first
            for choice in _list_meaning_choices(question.text, opened, entry, self.sources)
        )
        near = [] if choices else await sync_to_async(find_matching_sources)(self.sources, question)
        return Unanswered(tuple(failure for failure in self.failures if failure[0] in near), choices)

    async def logical(self, opened: OpenSource, query: LogicalQuery, language: str) -> Answered:
        """Run a logical query. Raises Inexpressible, and what running a statement raises."""
        today = opened.today
        with override("zh-hans" if language.startswith("zh") else "en"):
            sql = await sync_to_async(compile_query)(query, opened.catalog, today)
            meaning = describe_with_title(query, opened.catalog, language, today, sql=sql)
        return Answered(opened, sql, meaning, await self.run(opened, sql), query)


def describe_free_statement(opened: OpenSource, sql: str, language: str) -> QueryWording:
    """Return the meaning of a statement that was not compiled."""
    return _add_statement_remarks(
        QueryWording(definitions=list_statement_remarks(sql, opened.catalog, language)), sql, language
    )


def _add_statement_remarks(meaning: QueryWording, sql: str, language: str) -> QueryWording:
    """Add what a written statement leaves out of its result."""
    limit = find_row_limit(sql)
    return replace(meaning, notes=list_statement_conditions(sql, language), limit=limit, cut=limit is not None)


def find_written_statement_fault(opened: OpenSource, sql: str) -> StatementFault | None:
    """Return why a written statement would give a wrong number, or differ from the company's definitions, or None."""
    return find_statement_fault(sql, opened.catalog)


def read_question(opened: OpenSource, question: DataQuestion) -> Parsed:
    """Return the reading by words alone, as a follow-up where it is one."""
    context = question.context(opened)
    with override("zh-hans" if question.language.startswith("zh") else "en"):
        if context.earlier is not None:
            query = apply_follow_up(question.text, context.earlier, opened.lexicon, context)
            if query is not None:
                return query
        return parse(question.text, opened.lexicon, context)


@dataclass(frozen=True)
class HowRead:
    """The reading of a question by words alone. is_read: all of it, or as a clarification. is_known: each word has
    a meaning in one source, read or not. unread: if a question names one of its numbers, the source and why it fails.
    """

    is_read: bool = False
    is_known: bool = False
    unread: tuple[str, Unparseable] | None = None


def explain_reading(principal: Principal, text: str, language: str, scope: DataScope = ALL_DATA) -> HowRead:
    """Return how the sources that this person may ask within the scope read a question; if none does, the source with
    the most of its words tells why.

    Words of forbidden tables are unknown. A text longer than QUESTION_LENGTH is not a question on data.
    """
    if len(text) > QUESTION_LENGTH:
        return HowRead()
    asked, sources = select_named_source(text, open_sources(principal, text, scope))
    question = DataQuestion(asked, language)
    parsed = [(opened, read_question(opened, question)) for opened in sources]
    if any(isinstance(entry, LogicalQuery | Clarification) for _opened, entry in parsed):
        return HowRead(is_read=True, is_known=True)
    is_known = any(all(item.is_known for item in items_of(asked, one.lexicon, one.today)) for one in sources)
    found = [(opened, why) for opened, why in parsed if isinstance(why, Unparseable) and why.partial is not None]
    best = max(found, key=lambda pair: count_known_characters(pair[0], question), default=None)
    return HowRead(is_known=is_known, unread=(best[0].source.name, best[1]) if best else None)


Readings = list[tuple[OpenSource, LogicalQuery | Clarification]]


def choose_preferred_readings(found: Readings, question: DataQuestion) -> Readings:
    """Prefer readings of the conversation's source; else complete ones, databases before spreadsheets."""
    standing = [entry for entry in found if question.earlier and entry[0].source.name == question.earlier[0]]
    whole = [entry for entry in found if isinstance(entry[1], LogicalQuery)]
    return standing or [entry for entry in whole if entry[0].is_kept] or whole or found


def find_matching_sources(sources: Sequence[OpenSource], question: DataQuestion) -> list[OpenSource]:
    """Return the source that a question is about; several in a tie.

    Prefer the source matching most of the question; on a tie the conversation's source, or a database before spreadsheets.
    Where no word matches, prefer the source nearest in meaning.
    """
    scores = (
        {opened.source.pk: count_known_characters(opened, question) for opened in sources} if len(sources) > 1 else {}
    )
    best = max(scores.values(), default=0)
    found = [opened for opened in sources if scores.get(opened.source.pk, 0) == best]
    standing = [opened for opened in found if question.earlier and opened.source.name == question.earlier[0]]
    found = standing or [opened for opened in found if opened.is_kept] or found
    if best == 0 and len(found) > 1:
        near = find_nearest_sources([opened.source.pk for opened in found], question.text, 1)
        found = [opened for opened in found if opened.source.pk in near] or found[:1]
    return found


def count_known_characters(opened: OpenSource, question: DataQuestion) -> int:
    """Return the number of the question's characters in words of this source."""
    items = items_of(question.text, opened.lexicon, opened.today)
    return sum(len(item.text) for item in items if item.refs)


def _list_meaning_choices(
    text: str, opened: OpenSource, parsed: LogicalQuery | Clarification, among: Sequence[OpenSource]
) -> list[MeaningChoice]:
    """Return a source's choices of meanings."""
    if isinstance(parsed, Clarification):
        return [replace(choice, source=opened.source.name) for choice in parsed.choices]
    return [MeaningChoice(add_source_name(text, opened, among), parsed, opened.source.name)]


def add_source_name(text: str, opened: OpenSource, among: Sequence[OpenSource]) -> str:
    """Return the question with the source's name that is unique among these."""
    alike = [entry for entry in among if entry.called.lower() == opened.called.lower()]
    name = opened.called if len(alike) == 1 and not is_known_to_sources(opened.called, among) else opened.source.name
    return f"{text.strip().rstrip('?？。.')} ({name})?"
