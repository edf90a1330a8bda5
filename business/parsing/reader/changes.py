"""A question that goes on from the one before it: one part of the logical query that stands is changed, the rest is kept.

A time takes the place of the time, a value of the value of its column, a breakdown of the breakdown. Where it is not certain which
part is meant, both meanings are offered.
"""

import re
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import islice

from django.utils.translation import gettext as _

from business.logical_query.compiler import compile_query
from business.logical_query.errors import Inexpressible
from business.logical_query.query import Comparison, Dimension, Filter, LogicalQuery, Metric, Ranking, Rows, TimeRange
from business.logical_query.times import stepped, whole_months
from business.parsing.base import Clarification, Context, Parsed, Unparseable
from business.parsing.reader.grammar import Reading, Unread, require_units
from business.parsing.reader.heads import DOWN, Head
from business.parsing.reader.items import items_of
from business.parsing.reader.leads import Lead, lead_of
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import choices_of, distance, one_of, parse, same_measures, states_of
from business.parsing.reader.units import normalised
from business.parsing.reader.words import words

MOST_READINGS = 24
_YEAR_MONTHS = 12


def changed(question: str, earlier: LogicalQuery, lexicon: Lexicon, context: Context) -> Parsed | None:
    """The query that stands now; None where the question is one of its own. Unparseable: it goes on, and nobody knows how."""
    step = _step_of(question, earlier, context.today)
    if step is not None:
        return step
    lead = lead_of(question)
    alone = parse(question, lexicon, context)
    items = items_of(question, lexicon, context.today)
    leans = lead.goes_on or lead.refers or (lead.contrasts and not lead.asks)
    names_subject = any(ref.kind in ("model", "measure") for item in items for ref in item.refs)
    fragment = _fragment(lead, earlier, lexicon, context)
    if isinstance(alone, LogicalQuery | Clarification) and not leans and names_subject:
        return None if lead.asks else _one_of_both(fragment, alone, earlier, lexicon, context)
    if fragment is not None:
        return fragment
    rest = parse(lead.rest, lexicon, context) if lead.goes_on and not lead.refers else None
    if isinstance(rest, LogicalQuery | Clarification):
        return rest
    if leans:
        unknown = tuple(item.text for item in items_of(lead.rest, lexicon, context.today) if not item.is_known)
        return Unparseable(_("It is not clear how this goes on from the question before it."), unknown)
    return _of_those_too(alone, earlier, lexicon, context) if not any(_is_model(item) for item in items) else None


def _is_model(item: object) -> bool:
    return any(ref.kind == "model" for ref in getattr(item, "refs", ()))


def _one_of_both(
    going_on: Parsed | None, alone: Parsed, earlier: LogicalQuery, lexicon: Lexicon, context: Context
) -> Clarification | None:
    """“Units sold?” after the revenue of a year does not say whether of that year. None for what says it."""
    if not isinstance(alone, LogicalQuery) or not isinstance(going_on, LogicalQuery) or going_on == alone:
        return None
    if not (earlier.filters or earlier.times) or alone.filters or alone.times or alone.dimensions or alone.related:
        return None
    told = one_of([going_on, alone], lexicon.catalog, context)
    return told if isinstance(told, Clarification) else None


def _of_those_too(
    alone: Parsed, earlier: LogicalQuery, lexicon: Lexicon, context: Context
) -> Clarification | None:
    """“Which has the largest budget?” does not say of what: of all, or of those that were asked about. None for what says it."""
    if not isinstance(alone, LogicalQuery) or alone.rows is None or not (earlier.filters or earlier.times):
        return None
    if _table_of(earlier) != alone.rows.model:
        return None
    fields = {each.field for each in alone.filters}
    filters = (*alone.filters, *(each for each in earlier.filters if each.field not in fields))
    narrowed = alone.model_copy(update={"filters": filters, "times": alone.times or earlier.times})
    told = one_of([narrowed, alone], lexicon.catalog, context) if narrowed != alone else None
    return told if isinstance(told, Clarification) else None


def _fragment(lead: Lead, earlier: LogicalQuery, lexicon: Lexicon, context: Context) -> Parsed | None:
    """What the parts that are said make of the query that stands; of several the one that changes what was filtered already, nearest."""
    items, catalog = items_of(lead.rest, lexicon, context.today), lexicon.catalog
    if not items or any(not item.is_known for item in items):
        return None
    found: dict[str, LogicalQuery] = {}
    uncertain: dict[str, LogicalQuery] = {}
    refused: Inexpressible | None = None
    for refs in islice(choices_of(items), MOST_READINGS):
        try:
            reading = Reading.of(catalog, items, refs, context.today)
            reading.standing = earlier.times
            reading.read()
            made = Change(reading, lead, earlier).made()
            compiled = {compile_query(query, catalog, context.today): query for query in made}
        except (Unread, Inexpressible, ValueError):
            continue
        try:
            for query in made:
                require_units(items, query, catalog)
        except Inexpressible as error:
            refused = error
            continue
        (uncertain if len(compiled) > 1 else found).update(compiled)
    if uncertain:
        return one_of(list(uncertain.values()), catalog, context)
    if not found:
        return Unparseable(str(refused)) if refused else None
    fields = {each.field for each in earlier.filters}
    nearest = [query for query in found.values() if {each.field for each in query.filters} == fields] or [*found.values()]
    least = min(distance(query, catalog) for query in nearest)
    nearest = [query for query in nearest if distance(query, catalog) == least]
    if len({same_measures(query) for query in nearest}) > 1:
        return one_of(nearest, catalog, context)
    query = nearest[0]
    states = states_of(query, catalog, context.today) if query.metrics != earlier.metrics else []
    return one_of(states or [query], catalog, context)


@dataclass(frozen=True)
class Change:
    """What a question says that goes on from an earlier query."""

    said: Reading
    lead: Lead
    earlier: LogicalQuery

    def made(self) -> list[LogicalQuery]:
        """The queries that are meant; more than one where it is not certain. Raises Unread."""
        said = self.said
        query = self._narrowed(self.earlier)
        query = self._compared(self._grouped(query))
        query = self._ranked(query)
        queries = self._timed(self._asked(query))
        if said.is_share:
            queries = [share for each in queries for share in self._shares(each)]
        if not re.fullmatch("[Lxmqecz_&@]*", said.text) or all(query == self.earlier for query in queries):
            raise Unread("what is left over, or nothing new")
        queries = [LogicalQuery.model_validate(each.model_dump()) for each in queries]
        return [each for query in queries for each in self._instead_or_besides(query)]

    def _narrowed(self, query: LogicalQuery) -> LogicalQuery:
        """Values in the place of those of the same column; conditions beside the others."""
        if self.said.related or self.said.events:
            raise Unread("a condition of another kind")
        filters = list(query.filters)
        for each in self.said.filters:
            same = [old for old in filters if old.field == each.field and {old.op, each.op} <= {"in", "not_in"}]
            filters = [each if old in same else old for old in filters] if same else [*filters, each]
        inner = {old.field for metric in query.metrics for old in metric.filters}
        metrics = tuple(metric.model_copy(update={"filters": self._inner(metric, filters)}) for metric in query.metrics)
        kept = tuple(each for each in filters if each.field not in inner)
        return query.model_copy(update={"filters": kept, "metrics": metrics})

    def _inner(self, metric: Metric, filters: list[Filter]) -> tuple[Filter, ...]:
        """A share's own condition is the one that a value takes the place of."""
        return tuple(next((each for each in filters if each.field == old.field), old) for old in metric.filters)

    def _instead_or_besides(self, query: LogicalQuery) -> list[LogicalQuery]:
        """“And in China?” after a question on Europe: another column of the same table, in the place of what was said or besides it."""
        new = {each.field for each in self.said.filters} - {each.field for each in self.earlier.filters}
        tables = {field.partition(".")[0] for field in new}
        kept = tuple(
            each
            for each in query.filters
            if each not in self.earlier.filters
            or each.op not in ("in", "not_in")
            or each.field.partition(".")[0] not in tables
        )
        if len(kept) == len(query.filters) or not self.lead.contrasts:
            return [query]
        return [query.model_copy(update={"filters": kept}), query]

    def _grouped(self, query: LogicalQuery) -> LogicalQuery:
        """A breakdown in the place of the one of its kind: a time of a time, another of another."""
        said, new = self.said, list(dict.fromkeys(self.said.dimensions))
        columns = said.all("DA")
        if not new and len(columns) == 1 and self.lead.goes_on and [each.grain for each in query.dimensions] == [None]:
            new = [Dimension(name=columns[0].name)]  # no, I meant countries
            said.drop("DA")
        if not new:
            return query
        if query.rows is not None:
            raise Unread("a breakdown of a list")
        is_time = all(each.grain is not None for each in new)
        kept = [each for each in query.dimensions if (each.grain is None) == is_time]
        dimensions = (*kept, *new) if is_time and self.lead.goes_on else tuple(new)
        is_moved = query.comparison is not None and query.comparison.to == "previous_period"
        if is_moved and any(each.grain is not None for each in dimensions):
            raise Unread("which period each is compared with")
        return query.model_copy(update={"dimensions": dimensions, "ranking": None})

    def _asked(self, query: LogicalQuery) -> LogicalQuery:
        """Another number by the same breakdown and conditions; the rows that were counted, or how many there are."""
        said = self.said
        head = Head(said)
        head.make_metrics()
        made, tables = [token.metric for token in said.all("1") if token.metric], said.all("T")
        asks = set(said.text) & set("cmLq")
        is_bare = not (said.filters or said.times or said.dimensions or said.by or said.limit or said.is_share)
        if len(made) + len(tables) > 1:
            raise Unread("two things")
        said.drop("1T")
        if query.rows is not None:
            return self._of_rows(query, query.rows, made, [token.name for token in tables], is_counted="c" in asks)
        if not made and not tables:
            return self._listed(query) if "L" in asks and is_bare and not query.dimensions else query
        if len(query.metrics) != 1 or query.metrics[0].over is not None:
            raise Unread("which of the numbers")
        metric = made[0] if made else Metric(name=tables[0].name, agg="count")
        if tables and query.dimensions and query.metrics[0].agg != "count":
            raise Unread("a number of these, or a breakdown by them")
        if metric.name in {each.name for each in query.dimensions}:
            raise Unread("a number of what it is broken down by")
        return query.model_copy(update={"metrics": (metric,)})

    def _of_rows(
        self, query: LogicalQuery, rows: Rows, made: list[Metric], tables: list[str], *, is_counted: bool
    ) -> LogicalQuery:
        if not made and not is_counted and set(tables) <= {rows.model}:
            return query
        metric = made[0] if made else Metric(name=rows.model, agg="count")
        if metric.name.partition(".")[0] != rows.model or not set(tables) <= {rows.model}:
            raise Unread("a number of other things")
        return query.model_copy(update={"rows": None, "metrics": (metric,), "outcome": "table", "ranking": None})

    def _listed(self, query: LogicalQuery) -> LogicalQuery:
        """“Which are they?”: the rows that were counted, where nothing else is said."""
        (metric,) = query.metrics[:1]
        if metric.agg != "count" or metric.over is not None or metric.time is not None or "." in metric.name:
            raise Unread("a list of what")
        filters = (*query.filters, *metric.filters)
        return query.model_copy(update={"rows": Rows(model=metric.name), "metrics": (), "filters": filters})

    def _compared(self, query: LogicalQuery) -> LogicalQuery:
        """“Compared with last year”, “同比呢”: what stands, beside a time as long. Raises Unread where there is none."""
        said = self.said
        if said.comparison is not None:
            return query.model_copy(update={"comparison": said.comparison})
        if "C" not in said.text:
            return query
        if len(query.times) != 1 or len(said.times) != 1:
            raise Unread("which times are compared")
        (old,) = query.times
        alike = [each for each in self._meant(old, said.times[0]) if self._length(each) == self._length(old)]
        if not alike:
            raise Unread("times of another length")
        said.times = []
        said.drop("C")
        time = alike[0].model_copy(update={"field": old.field})
        return query.model_copy(update={"comparison": Comparison(to="time", time=time)})

    def _length(self, time: TimeRange) -> tuple[str, int]:
        """In whole months, else in days. Raises Unread for an open end."""
        start, end = self.said.days(time)
        if start is None or end is None:
            raise Unread("which times are compared")
        months = whole_months(start, end)
        return ("months", months) if months else ("days", (end - start).days)

    def _timed(self, query: LogicalQuery) -> list[LogicalQuery]:
        """Whose time it is where other rows are counted than before: “their revenue” is of customers who were new then, “and revenue?”
        of then. Raises Unread where the words do not say.
        """
        times, is_of_others = self.said.times, _table_of(query) != _table_of(self.earlier)
        if query.times and is_of_others:
            is_named = any(time.field for time in query.times)
            if (bool(times) or not is_named) if self.lead.refers else (is_named and not times):
                raise Unread("of whose time")
        if not times:
            return [query]
        if query.comparison is not None and query.comparison.to == "time" or any(each.time for each in query.related):
            raise Unread("which of the times")
        if not query.times:
            return [query.model_copy(update={"times": tuple(times)})]
        (old,), (time,) = query.times, times
        field = time.field or ("" if is_of_others else old.field)
        found = [each.model_copy(update={"field": field}) for each in self._meant(old, time)]
        return [query.model_copy(update={"times": (each,)}) for each in found]

    def _meant(self, old: TimeRange, new: TimeRange) -> list[TimeRange]:
        """After a month of another year “October” may mean that year's; after a month “last year” may mean that month."""
        (start, end), (first, last) = self.said.days(old), self.said.days(new)
        if start is None or end is None or first is None or last is None:
            return [new]
        if self.said.is_yearless and start.year != first.year:
            moved = _in_year(first, last, start.year)
            return [moved, new] if moved else [new]
        is_year = whole_months(first, last) == _YEAR_MONTHS and first.month == 1
        if is_year and whole_months(start, end) != _YEAR_MONTHS:
            moved = _in_year(start, end, first.year)
            return [moved, new] if moved else [new]
        return [new]

    def _shares(self, query: LogicalQuery) -> list[LogicalQuery]:
        """Each group's share of all; without groups the share of what one condition leaves, of several each may be meant."""
        if query.dimensions:
            return [query.model_copy(update={"share": True})]
        if len(query.metrics) != 1 or query.metrics[0].over is not None or not query.filters or query.comparison:
            raise Unread("a share of what")
        (whole,) = query.metrics
        found = []
        for each in query.filters:
            part = whole.model_copy(update={"filters": (*whole.filters, each), "over": whole, "percent": True})
            rest = tuple(other for other in query.filters if other is not each)
            found.append(query.model_copy(update={"metrics": (part,), "filters": rest}))
        return found

    def _ranked(self, query: LogicalQuery) -> LogicalQuery:
        """Another direction, or how many; as many as before where it is not said."""
        said, old = self.said, query.ranking
        if said.order is not None:
            return query.model_copy(update={"ranking": Ranking(by=said.order[0], descending=said.order[1])})
        tokens = said.all("hlsiwopkfr")
        if not tokens:
            return query
        said.limit = said.limit or (old.limit if old else None)
        head = Head(said)
        token = head.superlative()
        by = said.by if isinstance(said.by, str) else old.by if old else ""
        if token.kind in "pk":
            by = head.price({_table_of(query)})
        if (query.rows is None and not query.dimensions) or (query.rows is not None and not by):
            raise Unread("the first of what")
        ranking = Ranking(by=by, descending=token.role in DOWN, limit=said.limit or 1, within=old.within if old else ())
        return query.model_copy(update={"ranking": ranking})


def _table_of(query: LogicalQuery) -> str:
    return query.rows.model if query.rows is not None else query.metrics[0].name.partition(".")[0]


def _in_year(start: date, end: date, year: int) -> TimeRange | None:
    """The same days in another year."""
    try:
        return TimeRange(start=start.replace(year=year), end=end.replace(year=year + end.year - start.year))
    except ValueError:
        return None


def _step_of(question: str, earlier: LogicalQuery, today: date) -> LogicalQuery | None:
    """The query that stands, one period earlier or later (“the month before”, “再上个月”); None where the question says more than that."""
    whole = normalised(question).strip().rstrip("?？!！。. ").removesuffix("呢").strip()
    rest = lead_of(question).rest
    compares_times = earlier.comparison is not None and earlier.comparison.to == "time"
    for pattern, unit, by in _steps():
        if len(earlier.times) == 1 and not compares_times and (pattern.fullmatch(whole) or pattern.fullmatch(rest)):
            time = stepped(earlier.times[0], unit, by, today)  # type: ignore[arg-type]
            return earlier.model_copy(update={"times": (time,)}) if time is not None else None
    return None


@cache
def _steps() -> list[tuple[re.Pattern[str], str, int]]:
    names = {unit: "|".join(sorted(each, key=len, reverse=True)) for unit, each in words().times["units"].items()}
    return [
        (re.compile(re.escape(form).replace(r"\{unit\}", f"(?:{names[unit]})")), unit, by)
        for unit in ("day", "week", "month", "quarter", "year")
        for by, forms in words().steps.items()
        for form in forms
    ]
