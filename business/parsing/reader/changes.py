"""Read a follow-up question: it changes one part of the current logical query and keeps the rest.

A time replaces the time, a value the value of its column, a breakdown the breakdown. Where it is ambiguous which part
is meant, both meanings are offered.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import islice

from django.utils.translation import gettext as _

from business.logical_query.compiler import compile_query
from business.logical_query.query import (
    Breakdown,
    Inexpressible,
    LogicalQuery,
    Metric,
    ResultOrder,
    Rows,
    TimeRange,
)
from business.logical_query.times import count_whole_months, shift_time
from business.parsing.base import Clarification, Context, Parsed, Unparseable
from business.parsing.reader.grammar import SUPERLATIVES, Reading, Unread, require_currency
from business.parsing.reader.heads import DOWN, QueryHead, convert_to_share
from business.parsing.reader.items import QuestionItem, items_of
from business.parsing.reader.leads import Lead, find_lead
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import (
    build_measure_key,
    choose_or_clarify,
    count_further_tables,
    iterate_meanings,
    list_state_readings,
    parse,
)
from business.parsing.reader.units import build_lookup_key, normalise_text
from business.parsing.reader.words import load_words

MAX_READINGS = 24
_YEAR_MONTHS = 12
_LISTED = {"in", "not_in"}


def apply_follow_up(question: str, earlier: LogicalQuery, lexicon: Lexicon, context: Context) -> Parsed | None:
    """Return the changed query; None for a self-contained question, Unparseable for an unclear follow-up."""
    if (step := _step_period(question, earlier, context.today)) is not None:
        return step
    lead = find_lead(question)
    alone = parse(question, lexicon, context)
    kinds = {
        kind for item in items_of(question, lexicon, context.today) for kind in _iterate_named_kinds(item, lexicon)
    }
    leans = lead.goes_on or lead.refers or (lead.contrasts and not lead.asks)
    fragment = _apply_fragment(lead, earlier, lexicon, context)
    if isinstance(alone, LogicalQuery | Clarification) and not leans and kinds & {"model", "measure"}:
        return None if lead.asks else _clarify_follow_up(fragment, alone, earlier, lexicon, context)  # units sold?
    if fragment is not None:
        return fragment
    if leans:
        return _parse_rest_of_question(lead, lexicon, context)
    return None if "model" in kinds else _clarify_all_or_earlier(alone, earlier, lexicon, context)


def _iterate_named_kinds(item: QuestionItem, lexicon: Lexicon) -> Iterator[str]:
    """Yield the kinds of what an item may mean; “项目的预算” and “project budget” name the table, too."""
    for ref in item.refs:
        yield ref.kind
        if ref.kind == "dimension":
            _model, dimension = lexicon.catalog.dimension(ref.name)
            if dimension.type != "time" and build_lookup_key(item.text) not in map(build_lookup_key, dimension.words()):
                yield "model"


def _parse_rest_of_question(lead: Lead, lexicon: Lexicon, context: Context) -> Parsed:
    """Return the rest of a self-contained question: “And how many customers are there?” is one."""
    rest = parse(lead.rest, lexicon, context) if lead.goes_on and not lead.refers else None
    if isinstance(rest, LogicalQuery | Clarification):
        return rest
    unknown = tuple(item.text for item in items_of(lead.rest, lexicon, context.today) if not item.is_known)
    return Unparseable(_("It is not clear how this follows the previous question."), unknown)


def _clarify_all_or_earlier(
    alone: Parsed, earlier: LogicalQuery, lexicon: Lexicon, context: Context
) -> Clarification | None:
    """Return both readings of “Which has the largest budget?” (of all, or of the earlier result); None if only one applies."""
    if not isinstance(alone, LogicalQuery) or alone.rows is None or _find_query_table(earlier) != alone.rows.model:
        return None
    fields = {entry.field for entry in alone.filters}
    filters = (*alone.filters, *(entry for entry in earlier.filters if entry.field not in fields))
    narrowed = alone.model_copy(update={"filters": filters, "times": alone.times or earlier.times})
    return _clarify_follow_up(narrowed, alone, earlier, lexicon, context)


def _clarify_follow_up(
    going_on: Parsed | None, alone: Parsed, earlier: LogicalQuery, lexicon: Lexicon, context: Context
) -> Clarification | None:
    """Return both readings where it may be a follow-up or self-contained; None where it is clear."""
    if not isinstance(alone, LogicalQuery) or not isinstance(going_on, LogicalQuery) or going_on == alone:
        return None
    is_narrowed = alone.filters or alone.times or alone.dimensions or alone.related
    if not (earlier.filters or earlier.times) or (is_narrowed and alone.rows is None):
        return None
    reading = choose_or_clarify([going_on, alone], lexicon.catalog, context)
    return reading if isinstance(reading, Clarification) else None


def _apply_fragment(lead: Lead, earlier: LogicalQuery, lexicon: Lexicon, context: Context) -> Parsed | None:
    """Return the current query changed by the parts said; of several readings the nearest that changes a filter."""
    items, catalog = items_of(lead.rest, lexicon, context.today), lexicon.catalog
    if not items or any(not item.is_known for item in items):
        return None
    found: dict[str, LogicalQuery] = {}
    uncertain: dict[str, LogicalQuery] = {}
    refused: Inexpressible | None = None
    for refs in islice(iterate_meanings(items), MAX_READINGS):
        try:
            reading = Reading.of(catalog, items, refs, context.today)
            made = FollowUpChange(reading, lead, earlier).made()
            compiled = {compile_query(query, catalog, context.today): query for query in made}
        except (Unread, Inexpressible, ValueError):
            continue
        try:
            for query in made:
                require_currency(items, query, catalog)
        except Inexpressible as error:
            refused = error
            continue
        (uncertain if len(compiled) > 1 else found).update(compiled)
    if uncertain:
        return choose_or_clarify(list(uncertain.values()), catalog, context)
    if not found:
        return Unparseable(str(refused)) if refused else None
    fields = {entry.field for entry in earlier.filters}
    nearest = [query for query in found.values() if {entry.field for entry in query.filters} == fields]
    nearest = nearest or list(found.values())
    least = min(count_further_tables(query, catalog) for query in nearest)
    nearest = [query for query in nearest if count_further_tables(query, catalog) == least]
    if len({build_measure_key(query) for query in nearest}) > 1:
        return choose_or_clarify(nearest, catalog, context)
    states = list_state_readings(nearest[0], catalog, context.today) if nearest[0].metrics != earlier.metrics else []
    return choose_or_clarify(states or nearest[:1], catalog, context)


@dataclass(frozen=True)
class FollowUpChange:
    """The change that a follow-up makes to an earlier query."""

    reading: Reading
    lead: Lead
    earlier: LogicalQuery

    def made(self) -> list[LogicalQuery]:
        """Return the possible queries, several if ambiguous. Raises Unread."""
        reading = self.reading
        query = self._change_ranking(self._replace_breakdown(self._replace_filters(self.earlier)))
        queries = self._replace_time(self._replace_metric(query))
        if reading.is_share:
            queries = [share for entry in queries for share in self._build_shares(entry)]
        if not re.fullmatch("[Lxmqecz_&@]*", reading.text) or all(query == self.earlier for query in queries):
            raise Unread("what is left over, or nothing new")
        queries = [LogicalQuery.model_validate(entry.model_dump()) for entry in queries]
        return [beside for query in queries for beside in self._offer_replacing_or_adding(query)]

    def _replace_filters(self, query: LogicalQuery) -> LogicalQuery:
        """Replace values of the same column, also in a share's own condition; add other conditions."""
        if self.reading.related or self.reading.events:
            raise Unread("a condition of another kind")
        filters = list(query.filters)
        for entry in self.reading.filters:
            same = [old for old in filters if old.field == entry.field and {old.op, entry.op} <= _LISTED]
            filters = [entry if old in same else old for old in filters] if same else [*filters, entry]
        last = {entry.field: entry for entry in filters}
        metrics = tuple(
            m.model_copy(update={"filters": tuple(last.get(f.field, f) for f in m.filters)}) for m in query.metrics
        )
        inner = {old.field for metric in query.metrics for old in metric.filters}
        kept = tuple(entry for entry in filters if entry.field not in inner)
        return query.model_copy(update={"filters": kept, "metrics": metrics})

    def _offer_replacing_or_adding(self, query: LogicalQuery) -> list[LogicalQuery]:
        """Offer both for another column of the same table: “And in China?” after Europe may replace it or add to it."""
        new = {entry.field for entry in self.reading.filters} - {entry.field for entry in self.earlier.filters}
        tables = {field.partition(".")[0] for field in new}
        replaced = [f for f in self.earlier.filters if f.op in _LISTED and f.field.partition(".")[0] in tables]
        kept = tuple(entry for entry in query.filters if entry not in replaced)
        if len(kept) == len(query.filters) or not self.lead.contrasts:
            return [query]
        return [query.model_copy(update={"filters": kept}), query]

    def _replace_breakdown(self, query: LogicalQuery) -> LogicalQuery:
        """Replace the breakdown of the same kind: a time by a time, another by another."""
        reading, new = self.reading, list(dict.fromkeys(self.reading.dimensions))
        columns = reading.all("DA")
        if not new and len(columns) == 1 and self.lead.goes_on and [one.grain for one in query.dimensions] == [None]:
            new = [Breakdown(name=columns[0].name)]  # no, I meant countries
            reading.drop("DA")
        if not new:
            return query
        is_time = all(entry.grain is not None for entry in new)
        if query.rows is not None:
            raise Unread("a breakdown of a list")
        kept = [one for one in query.dimensions if (one.grain is None) == is_time and is_time and self.lead.goes_on]
        return query.model_copy(update={"dimensions": (*kept, *new), "ranking": None})

    def _replace_metric(self, query: LogicalQuery) -> LogicalQuery:
        """Ask for another number with the same breakdown and conditions, the counted rows, or their count."""
        reading = self.reading
        QueryHead(reading).make_metrics()
        made, tables = [token.metric for token in reading.all("1") if token.metric], [t.name for t in reading.all("T")]
        is_bare = not (
            reading.filters or reading.times or reading.dimensions or reading.by or reading.limit or reading.is_share
        )
        if len(made) + len(tables) > 1:
            raise Unread("two things")
        reading.drop("1T")
        (old,) = query.metrics or (None,)
        if query.rows is not None:
            return self._replace_listed_rows(query, query.rows, made, tables)
        if not made and not tables:
            if "L" not in reading.text or not is_bare or query.dimensions:
                return query
            if old is None or old.agg != "count" or "." in old.name:
                raise Unread("a list of what")
            filters = (*query.filters, *old.filters)  # which are they?
            return query.model_copy(update={"rows": Rows(model=old.name), "metrics": (), "filters": filters})
        if old is None or old.filters or (tables and query.dimensions and old.agg != "count"):
            raise Unread("which of the numbers, or a breakdown by them")
        metric = made[0] if made else Metric(name=tables[0], agg="count")
        if metric.name in {dimension.name for dimension in query.dimensions}:
            raise Unread("a number of what it is broken down by")
        return query.model_copy(update={"metrics": (metric,)})

    def _replace_listed_rows(
        self, query: LogicalQuery, rows: Rows, made: list[Metric], tables: list[str]
    ) -> LogicalQuery:
        if not made and "c" not in self.reading.text and set(tables) <= {rows.model}:
            return query
        metric = made[0] if made else Metric(name=rows.model, agg="count")
        if metric.name.partition(".")[0] != rows.model or not set(tables) <= {rows.model}:
            raise Unread("a number of other things")
        return query.model_copy(update={"rows": None, "metrics": (metric,), "ranking": None})

    def _replace_time(self, query: LogicalQuery) -> list[LogicalQuery]:
        """Decide whose time it is where other rows are counted: “their revenue” is of customers new then, “and
        revenue?” of that time. Raises Unread if unclear.
        """
        times, is_of_others = self.reading.times, _find_query_table(query) != _find_query_table(self.earlier)
        is_named = any(time.field for time in query.times)
        is_unsaid = (bool(times) or not is_named) if self.lead.refers else (is_named and not times)
        if query.times and is_of_others and is_unsaid:
            raise Unread("of whose time")
        if not times:
            return [query]
        if any(item.time for item in query.related):
            raise Unread("which of the times")
        if not query.times:
            return [query.model_copy(update={"times": tuple(times)})]
        (old,), (time,) = query.times, times
        field = time.field or ("" if is_of_others else old.field)
        found = [entry.model_copy(update={"field": field}) for entry in self._list_possible_times(old, time)]
        return [query.model_copy(update={"times": (entry,)}) for entry in found]

    def _list_possible_times(self, old: TimeRange, new: TimeRange) -> list[TimeRange]:
        """Return the possible times: after a month of another year “October” may mean that year's, and vice versa."""
        (start, end), (first, last) = self.reading.days(old), self.reading.days(new)
        if start is None or end is None or first is None or last is None:
            return [new]
        moved = None
        if self.reading.is_yearless and start.year != first.year:
            moved = _move_to_year(first, last, start.year)
        elif count_whole_months(first, last) == _YEAR_MONTHS != count_whole_months(start, end) and first.month == 1:
            moved = _move_to_year(start, end, first.year)
        return [moved, new] if moved else [new]

    def _build_shares(self, query: LogicalQuery) -> list[LogicalQuery]:
        """Return each group's share of all; without groups the share under one condition, a reading for each."""
        if query.dimensions:
            return [query.model_copy(update={"share": True})]
        if len(query.metrics) != 1 or query.metrics[0].filters or not query.filters:
            raise Unread("a share of what")
        return [convert_to_share(query, entry) for entry in query.filters]

    def _change_ranking(self, query: LogicalQuery) -> LogicalQuery:
        """Change the direction, or how many are shown, by default as many as before."""
        reading, old = self.reading, query.ranking
        if reading.order is not None:
            return query.model_copy(update={"ranking": ResultOrder(descending=reading.order)})
        if not reading.all(SUPERLATIVES):
            return query
        reading.limit = reading.limit or (old.limit if old else None)
        head = QueryHead(reading)
        token = head.superlative()
        by = reading.by if isinstance(reading.by, str) else old.by if old else ""
        if token.kind in "pk":
            by = head.price({_find_query_table(query)})
        if (query.rows is None and not query.dimensions) or (query.rows is not None and not by):
            raise Unread("the first of what")
        ranking = ResultOrder(by=by, descending=token.role in DOWN, limit=reading.limit or 1)
        return query.model_copy(update={"ranking": ranking})


def _find_query_table(query: LogicalQuery) -> str:
    return query.rows.model if query.rows is not None else query.metrics[0].name.partition(".")[0]


def _move_to_year(start: date, end: date, year: int) -> TimeRange | None:
    """Return the same days in another year."""
    try:
        return TimeRange(start=start.replace(year=year), end=end.replace(year=year + end.year - start.year))
    except ValueError:
        return None


def _step_period(question: str, earlier: LogicalQuery, today: date) -> LogicalQuery | None:
    """Return the current query one period earlier or later (“the month before”, “再上个月”); None for any other question."""
    whole = normalise_text(question).strip().rstrip("?？!！。. ").removesuffix("呢").strip()
    steps = (whole, find_lead(question).rest)
    for pattern, unit, by in _build_step_patterns():
        if len(earlier.times) == 1 and any(map(pattern.fullmatch, steps)):
            time = shift_time(earlier.times[0], unit, by, today)  # type: ignore[arg-type]
            return earlier.model_copy(update={"times": (time,)}) if time is not None else None
    return None


@cache
def _build_step_patterns() -> list[tuple[re.Pattern[str], str, int]]:
    names = {
        unit: "|".join(sorted(moment, key=len, reverse=True)) for unit, moment in load_words().times["units"].items()
    }
    return [
        (re.compile(re.escape(form).replace(r"\{unit\}", f"(?:{names[unit]})")), unit, by)
        for unit in ("day", "week", "month", "quarter", "year")
        for by, forms in load_words().steps.items()
        for form in forms
    ]
