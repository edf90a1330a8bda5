"""A question that goes on from the one before it: one part of the logical query that stands is changed, the rest is kept.

A time takes the place of the time, a value of the value of its column, a breakdown of the breakdown. Where it is not certain which
part is meant, both meanings are offered.
"""

from dataclasses import dataclass
from datetime import date

from django.utils.translation import gettext as _

from business.logical_query.catalog import Catalog
from business.logical_query.compiler import compile_query
from business.logical_query.errors import Inexpressible
from business.logical_query.query import Dimension, Filter, LogicalQuery, Metric, Ranking, Rows, TimeRange
from business.logical_query.times import days_of
from business.logical_query.wording import sentence
from business.parsing.base import Choice, Clarification, Context, Parsed, Unparseable
from business.parsing.reader.head_parts import HeadParts
from business.parsing.reader.heads import require_currency
from business.parsing.reader.items import Item, items_of
from business.parsing.reader.leads import Lead, lead_of
from business.parsing.reader.lexicon import Lexicon
from business.parsing.reader.parser import choices_of, distance, parse
from business.parsing.reader.parts import read_groups, read_numbers, read_times, read_values
from business.parsing.reader.rankings import read_ranking
from business.parsing.reader.slots import Slots, Unread
from business.parsing.reader.steps import step_of

MOST_READINGS = 24
_YEAR_MONTHS = 12
_LISTED = ("in", "not_in")
_COUNTS = frozenset({"count", "exists", "much", "what", "list", "with", "exactly", "between", "each_before"})


def changed(question: str, earlier: LogicalQuery, lexicon: Lexicon, context: Context) -> Parsed | None:
    """The query that stands now; None where the question is one of its own. Unparseable: it goes on, and nobody knows how."""
    step = step_of(question, earlier, context.today)
    if step is not None:
        return step
    lead = lead_of(question)
    alone = parse(question, lexicon, context)
    is_read = isinstance(alone, LogicalQuery | Clarification)
    leans = lead.goes_on or lead.refers
    if is_read and not leans and _names_subject(question, lexicon, context):
        return None
    fragment = _fragment(lead, earlier, lexicon, context)
    if fragment is not None:
        return fragment
    if (
        lead.goes_on
        and not lead.refers
        and isinstance(parse(lead.rest, lexicon, context), LogicalQuery | Clarification)
    ):
        return parse(lead.rest, lexicon, context)
    if leans:
        unknown = tuple(item.text for item in items_of(lead.rest, lexicon, context.today) if not item.is_known)
        return Unparseable(_("It is not clear how this goes on from the question before it."), unknown)
    return _of_those_too(alone, earlier, question, lexicon, context)


def _of_those_too(
    alone: Parsed, earlier: LogicalQuery, question: str, lexicon: Lexicon, context: Context
) -> Clarification | None:
    """“Which has the largest budget?” does not say of what: of all, or of those that were asked about. None for what says it."""
    if not isinstance(alone, LogicalQuery) or alone.rows is None or not (earlier.filters or earlier.times):
        return None
    items = items_of(question, lexicon, context.today)
    base = earlier.rows.model if earlier.rows else earlier.metrics[0].name.partition(".")[0]
    if base != alone.rows.model or any(ref.kind == "model" for item in items for ref in item.refs):
        return None
    said = {each.field for each in alone.filters}
    filters = (*alone.filters, *(each for each in earlier.filters if each.field not in said))
    narrowed = alone.model_copy(update={"filters": filters, "times": alone.times or earlier.times})
    if narrowed == alone:
        return None
    told = _choice([narrowed, alone], lexicon.catalog, context)
    return told if isinstance(told, Clarification) else None


def _names_subject(question: str, lexicon: Lexicon, context: Context) -> bool:
    """Whether a question says by itself which rows it asks about."""
    items = items_of(question, lexicon, context.today)
    return any(ref.kind in ("model", "measure") for item in items for ref in item.refs)


def _fragment(lead: Lead, earlier: LogicalQuery, lexicon: Lexicon, context: Context) -> Parsed | None:
    items = items_of(lead.rest, lexicon, context.today)
    if not items or any(not item.is_known for item in items):
        return None
    found: dict[str, LogicalQuery] = {}
    clarified: Parsed | None = None
    refused: Inexpressible | None = None
    for number, refs in enumerate(choices_of(items)):
        if number >= MOST_READINGS:
            break
        slots = Slots(lexicon.catalog, items, list(refs), context.today)
        try:
            made = _Change(slots, lead, earlier, items, context).made()
            for query in made:
                compile_query(query, lexicon.catalog, context.today)
        except (Unread, Inexpressible, ValueError):
            continue
        try:
            for query in made:
                require_currency(slots, query)
        except Inexpressible as error:
            refused = error
            continue
        if len(made) > 1:
            clarified = clarified or _choice(made, lexicon.catalog, context)
        else:
            found.setdefault(compile_query(made[0], lexicon.catalog, context.today), made[0])
    if len(found) == 1 and clarified is None:
        return next(iter(found.values()))
    if found and clarified is None:
        return _choice(_nearest(list(found.values()), earlier, lexicon.catalog), lexicon.catalog, context)
    return Unparseable(str(refused)) if refused and not clarified else clarified


def _nearest(found: list[LogicalQuery], earlier: LogicalQuery, catalog: Catalog) -> list[LogicalQuery]:
    """Those that change a column that was filtered already; of these the ones whose parts lie closest together."""
    fields = {each.field for each in earlier.filters}
    kept = [query for query in found if {each.field for each in query.filters} == fields] or found
    least = min(distance(query, catalog) for query in kept)
    return [query for query in kept if distance(query, catalog) == least]


def _choice(queries: list[LogicalQuery], catalog: Catalog, context: Context) -> Parsed:
    if len(queries) == 1:
        return queries[0]
    said = {sentence(query, catalog, context.language, context.today): query for query in queries}
    return Clarification(tuple(Choice(text, query) for text, query in said.items()))


@dataclass(frozen=True)
class _Change:
    slots: Slots
    lead: Lead
    earlier: LogicalQuery
    items: list[Item]
    context: Context

    def made(self) -> list[LogicalQuery]:
        """The queries that are meant; more than one where it is not certain. Raises Unread."""
        slots = self.slots
        read_numbers(slots)
        read_values(slots)
        shares = slots.said("share", "percent")
        slots.use(*shares)
        read_times(slots)
        read_groups(slots)
        read_ranking(slots)
        query = self._listed(self._measured(self._grouped(self._narrowed(self.earlier))))
        queries = self._timed(query)
        queries = [query for each in queries for query in (self._as_shares(each) if shares else [each])]
        queries = [self._ranked(query) for query in queries]
        slots.use(*slots.said(*_COUNTS))
        slots.require_used()
        if all(query == self.earlier for query in queries):
            raise Unread("nothing new")
        return [each for query in queries for each in self._instead_or_besides(query)]

    def _instead_or_besides(self, query: LogicalQuery) -> list[LogicalQuery]:
        """“And in China?” after a question on Europe: another column of the same table, in the place of what was said or besides it."""
        new = {each.field for each in self.slots.filters} - {each.field for each in self.earlier.filters}
        tables = {field.partition(".")[0] for field in new}
        in_place_of = {
            each.field
            for each in self.earlier.filters
            if each.op in _LISTED and each.field.partition(".")[0] in tables and each in query.filters
        }
        if not in_place_of or not self.lead.contrasts:
            return [query]
        kept = tuple(each for each in query.filters if each.field not in in_place_of)
        return [query.model_copy(update={"filters": kept}), query]

    def _narrowed(self, query: LogicalQuery) -> LogicalQuery:
        """Values in the place of those of the same column; conditions beside the others."""
        filters = list(query.filters)
        for each in self.slots.filters:
            same = [old for old in filters if old.field == each.field and old.op in _LISTED and each.op in _LISTED]
            if len(same) > 1:
                raise Unread("which of the conditions")
            filters = [each if old in same else old for old in filters] if same else [*filters, each]
        if self.slots.thresholds or self.slots.missing or self.slots.related:
            raise Unread("a condition of another kind")
        metrics = tuple(self._inner(metric, filters) for metric in query.metrics)
        kept = tuple(each for each in filters if not self._is_inner(each, query))
        return query.model_copy(update={"filters": kept, "metrics": metrics})

    def _is_inner(self, each: Filter, query: LogicalQuery) -> bool:
        return any(old.field == each.field for metric in query.metrics for old in metric.filters)

    def _inner(self, metric: Metric, filters: list[Filter]) -> Metric:
        """A share's own condition is the one that a value takes the place of."""
        own = tuple(next((each for each in filters if each.field == old.field), old) for old in metric.filters)
        return metric.model_copy(update={"filters": own})

    def _timed(self, query: LogicalQuery) -> list[LogicalQuery]:
        slots = self.slots
        if slots.comparison is not None and not slots.times and query.times:
            return [query.model_copy(update={"comparison": slots.comparison})]
        if not slots.times:
            return [query]
        if query.comparison is not None and query.comparison.to == "time":
            raise Unread("which of the two times")
        time = slots.times[0]
        if len(query.times) > 1 or any(related.time for related in query.related) or any(m.time for m in query.metrics):
            raise Unread("which of the times")
        if not query.times:
            return [query.model_copy(update={"times": (time,)})]
        old = query.times[0]
        field = time.field or old.field
        return [
            query.model_copy(
                update={
                    "times": (each.model_copy(update={"field": field}),),
                    "comparison": slots.comparison or query.comparison,
                }
            )
            for each in self._meant(old, time)
        ]

    def _meant(self, old: TimeRange, new: TimeRange) -> list[TimeRange]:
        """After a month of another year “October” may mean that year's; after a month “last year” may mean that month."""
        start, end = self._days(old)
        first, last = self._days(new)
        if None in (start, end, first, last):
            return [new]
        assert start is not None
        assert end is not None
        assert first is not None
        assert last is not None
        item = next(item for item in self.items if item.time is not None)
        if item.is_yearless and start.year != first.year:
            moved = _in_year(first, last, start.year)
            return [moved, new] if moved else [new]
        is_part = _months(start, end) not in (0, _YEAR_MONTHS)
        if is_part and _months(first, last) == _YEAR_MONTHS and first.month == 1:
            moved = _in_year(start, end, first.year)
            return [moved, new] if moved else [new]
        return [new]

    def _days(self, time: TimeRange) -> tuple[date | None, date | None]:
        return days_of(time, self.context.today, self.slots.catalog.layer.fiscal_year_start)

    def _grouped(self, query: LogicalQuery) -> LogicalQuery:
        """A breakdown in the place of the one of its kind: a time of a time, another of another."""
        slots = self.slots
        new = list(dict.fromkeys(slots.dimensions)) or self._instead(query)
        if not new:
            return query
        if query.rows is not None:
            raise Unread("a breakdown of a list")
        is_time = all(each.grain is not None for each in new)
        kept = [each for each in query.dimensions if (each.grain is None) == is_time]
        dimensions: tuple[Dimension, ...] = tuple([*kept, *new] if is_time and self.lead.goes_on else new)
        return query.model_copy(
            update={
                "dimensions": dimensions,
                "ranking": None,
                "comparison": None if kept != list(query.dimensions) else query.comparison,
            }
        )

    def _instead(self, query: LogicalQuery) -> list[Dimension]:
        """“No, I meant countries”: a column alone, after what is broken down by one."""
        slots, places = self.slots, self.slots.free("dimension")
        if len(places) != 1 or not self.lead.goes_on or [each.grain for each in query.dimensions] != [None]:
            return []
        if slots.is_number(places[0]) or slots.is_time(places[0]):
            return []
        slots.use(*places)
        return [Dimension(name=slots.ref(places[0]).name)]

    def _measured(self, query: LogicalQuery) -> LogicalQuery:
        """Another measure, or another table's rows counted, by the same breakdown and conditions; “how many of them”."""
        slots = self.slots
        places = slots.free("measure", "model")
        if len(places) > 1:
            raise Unread("two things")
        counts = slots.said("count")
        if not places:
            if counts and query.rows is not None:
                return self._counted(query)
            return query
        slots.use(*places)
        ref = slots.ref(places[0])
        if query.rows is not None:
            if ref.kind == "model" and ref.name == query.rows.model:
                return self._counted(query) if counts else query
            raise Unread("a list of something else")
        if len(query.metrics) != 1 or query.metrics[0].over is not None:
            raise Unread("which of the numbers")
        metric = Metric(name=ref.name, agg="count" if ref.kind == "model" else None)
        if ref.kind == "model" and ref.name in {each.name for each in query.dimensions}:
            raise Unread("a number of what it is broken down by")
        return query.model_copy(update={"metrics": (metric,)})

    def _listed(self, query: LogicalQuery) -> LogicalQuery:
        """“Which are they?”: the rows that were counted, where nothing else is said."""
        slots = self.slots
        says_more = slots.used or slots.free("model", "measure", "dimension", "value", "time", "number")
        if says_more or not slots.said("list") or query.rows is not None or query.dimensions or len(query.metrics) != 1:
            return query
        (metric,) = query.metrics
        if (
            metric.agg != "count"
            or metric.over is not None
            or metric.time is not None
            or metric.name not in slots.catalog.models
        ):
            raise Unread("a list of what")
        filters = (*query.filters, *metric.filters)
        return query.model_copy(update={"rows": Rows(model=metric.name), "metrics": (), "filters": filters})

    def _counted(self, query: LogicalQuery) -> LogicalQuery:
        assert query.rows is not None
        return query.model_copy(
            update={
                "rows": None,
                "metrics": (Metric(name=query.rows.model, agg="count"),),
                "ranking": None,
                "outcome": "table",
            }
        )

    def _as_shares(self, query: LogicalQuery) -> list[LogicalQuery]:
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
        slots = self.slots
        if slots.rank_role:
            if query.rows is None and not query.dimensions:
                raise Unread("the first of what")
            by = slots.ranked_by if isinstance(slots.ranked_by, str) else (query.ranking.by if query.ranking else "")
            if slots.rank_role in ("dearest", "cheapest"):
                slots.owners = {query.rows.model} if query.rows else set()
                by = HeadParts(slots).price()
            if query.rows is not None and not by:
                raise Unread("the first by what")
            ranking = Ranking(by=by, descending=bool(slots.descending), limit=slots.limit)
            query = query.model_copy(update={"ranking": ranking})
        elif slots.order is not None:
            query = query.model_copy(update={"ranking": Ranking(by=slots.order[0], descending=slots.order[1])})
        return LogicalQuery.model_validate(query.model_dump())


def _months(start: date, end: date) -> int:
    if start.day != 1 or end.day != 1:
        return -1
    return (end.year - start.year) * 12 + end.month - start.month


def _in_year(start: date, end: date, year: int) -> TimeRange | None:
    """The same days in another year."""
    try:
        first = start.replace(year=year)
        return TimeRange(start=first, end=end.replace(year=year + end.year - start.year))
    except ValueError:
        return None
