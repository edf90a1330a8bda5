"""One part of a logical query changed by what a question says: its time, a value, the breakdown, the number, the order."""

from dataclasses import dataclass
from datetime import date

from business.logical_query.query import Comparison, Dimension, Filter, LogicalQuery, Metric, Ranking, Rows, TimeRange
from business.logical_query.times import whole_months
from business.parsing.reader.head_parts import HeadParts
from business.parsing.reader.leads import Lead
from business.parsing.reader.parts import read_groups, read_numbers, read_times, require_same_groups
from business.parsing.reader.rankings import read_ranking
from business.parsing.reader.slots import Slots, Unread
from business.parsing.reader.values import read_values

_YEAR_MONTHS = 12
_LISTED = ("in", "not_in")
_COUNTS = frozenset({"count", "exists", "much", "what", "list", "with", "exactly", "between", "each_before"})


@dataclass(frozen=True)
class Change:
    """What a question says that goes on from an earlier query."""

    slots: Slots
    lead: Lead
    earlier: LogicalQuery

    def made(self) -> list[LogicalQuery]:
        """The queries that are meant; more than one where it is not certain. Raises Unread."""
        slots = self.slots
        read_numbers(slots)
        read_values(slots)
        shares = slots.said("share", "percent")
        slots.use(*shares)
        self._compare()
        read_times(slots)
        read_groups(slots)
        most = slots.limit
        read_ranking(slots)
        query = self._listed(self._measured(self._grouped(self._narrowed(self.earlier))))
        queries = self._timed(query)
        queries = [query for each in queries for query in (self._as_shares(each) if shares else [each])]
        queries = [self._ranked(query, most) for query in queries]
        slots.use(*slots.said(*_COUNTS))
        slots.require_used()
        for query in queries:
            require_same_groups(query)
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
        self._require_own_time(query)
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
        field = time.field or ("" if self._is_of_others(query) else old.field)
        return [
            query.model_copy(
                update={
                    "times": (each.model_copy(update={"field": field}),),
                    "comparison": slots.comparison or query.comparison,
                }
            )
            for each in self._meant(old, time)
        ]

    def _is_of_others(self, query: LogicalQuery) -> bool:
        """Whether other rows are counted than before: revenue of orders, after a number of customers."""
        old, new = ((each.rows or each.metrics[0]) for each in (self.earlier, query))
        return _table_of(old) != _table_of(new)

    def _require_own_time(self, query: LogicalQuery) -> None:
        """Whose time it is, where other rows are counted than before: “their revenue” is of customers who were new then, “and revenue?”
        of then. Raises Unread where the words do not say.
        """
        if not query.times or not self._is_of_others(query):
            return
        is_named = any(time.field for time in query.times)
        if self.lead.refers and (self.slots.times or not is_named):
            raise Unread("of whose time")
        if not self.lead.refers and is_named and not self.slots.times:
            raise Unread("of whose time")

    def _compare(self) -> None:
        """“Compared with last year”, “同比呢”: what stands, beside a time as long. Raises Unread where there is none."""
        slots, times = self.slots, self.slots.free("time")
        said = slots.said("previous_year", "previous_period")
        compared = slots.said("compared", "compared_after", "change")
        if len(times) > 1 or not (said or compared):
            return
        is_change = said or any(slots.has(place, "change") for place in compared)
        if len(self.earlier.times) != 1 or bool(is_change) == bool(times):  # “差多少” says no other time
            raise Unread("which times are compared")
        (old,) = self.earlier.times
        if times:
            time = slots.items[times[0]].time
            assert time is not None  # of its kind
            alike = [each for each in self._meant(old, time) if self._length(each) == self._length(old)]
            if not alike:
                raise Unread("times of another length")
            slots.comparison = Comparison(to="time", time=alike[0].model_copy(update={"field": old.field}))
        elif any(slots.has(place, "previous_year") for place in said):
            slots.comparison = Comparison(to="previous_year")
        else:
            slots.comparison = Comparison(to="previous_period")
        slots.use(*said, *compared, *times, *slots.said("and"))

    def _length(self, time: TimeRange) -> tuple[str, int]:
        """In whole months, else in days. Raises Unread for an open end."""
        start, end = self.slots.days(time)
        if start is None or end is None:
            raise Unread("which times are compared")
        months = whole_months(start, end)
        return ("months", months) if months else ("days", (end - start).days)

    def _meant(self, old: TimeRange, new: TimeRange) -> list[TimeRange]:
        """After a month of another year “October” may mean that year's; after a month “last year” may mean that month."""
        (start, end), (first, last) = self.slots.days(old), self.slots.days(new)
        if start is None or end is None or first is None or last is None:
            return [new]
        item = next(item for item in self.slots.items if item.time is not None)
        if item.is_yearless and start.year != first.year:
            moved = _in_year(first, last, start.year)
            return [moved, new] if moved else [new]
        is_part = whole_months(start, end) != _YEAR_MONTHS
        if is_part and whole_months(first, last) == _YEAR_MONTHS and first.month == 1:
            moved = _in_year(start, end, first.year)
            return [moved, new] if moved else [new]
        return [new]

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
            aggregated = next(filter(None, map(HeadParts(slots).aggregated, slots.said("sum", "avg"))), None)
            if aggregated is not None:
                return self._aggregated(query, aggregated)
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
        if (
            ref.kind == "model"
            and query.dimensions
            and not counts
            and query.metrics[0].name not in slots.catalog.models
        ):
            raise Unread("a number of these, or a breakdown by them")
        metric = Metric(name=ref.name, agg="count" if ref.kind == "model" else None)
        if ref.kind == "model" and ref.name in {each.name for each in query.dimensions}:
            raise Unread("a number of what it is broken down by")
        return query.model_copy(update={"metrics": (metric,)})

    def _aggregated(self, query: LogicalQuery, metric: Metric) -> LogicalQuery:
        """“And their total budget?” of the things that were listed or counted."""
        model = query.rows.model if query.rows is not None else query.metrics[0].name.partition(".")[0]
        if model != metric.name.partition(".")[0] or (query.rows is None and len(query.metrics) > 1):
            raise Unread("a number of other things")
        changed = {"rows": None, "metrics": (metric,), "outcome": "table", "ranking": None}
        return query.model_copy(update=changed if query.rows is not None else {"metrics": (metric,)})

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

    def _ranked(self, query: LogicalQuery, most: int | None) -> LogicalQuery:
        """most: how many are asked for; None where it is not said: as many as before."""
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
            limit = most or (query.ranking.limit if query.ranking else None) or slots.limit
            within = query.ranking.within if query.ranking else ()
            ranking = Ranking(by=by, descending=bool(slots.descending), limit=limit, within=within)
            query = query.model_copy(update={"ranking": ranking})
        elif slots.order is not None:
            query = query.model_copy(update={"ranking": Ranking(by=slots.order[0], descending=slots.order[1])})
        return LogicalQuery.model_validate(query.model_dump())


def _table_of(head: Rows | Metric) -> str:
    return head.model if isinstance(head, Rows) else head.name.partition(".")[0]


def _in_year(start: date, end: date, year: int) -> TimeRange | None:
    """The same days in another year."""
    try:
        first = start.replace(year=year)
        return TimeRange(start=first, end=end.replace(year=year + end.year - start.year))
    except ValueError:
        return None
