"""What a question asks for: numbers or a list, of what; and the query that its parts make together."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from business.logical_query.errors import Inexpressible
from business.logical_query.query import Dimension, Filter, Having, LogicalQuery, Metric, Ranking, Related, Rows
from business.parsing.reader.head_parts import HeadParts
from business.parsing.reader.parts import (
    read_averages,
    read_groups,
    read_numbers,
    read_related,
    read_times,
    require_same_groups,
)
from business.parsing.reader.rankings import read_ranking
from business.parsing.reader.slots import Slots, Unread
from business.parsing.reader.values import read_values
from business.parsing.reader.words import codes


def read(slots: Slots) -> LogicalQuery:
    """The query of a question whose items have one meaning each. Raises Unread."""
    unknown = tuple(item.text for item in slots.items if not item.is_known)
    if unknown:
        raise Unread("", unknown=unknown)
    _require_named(slots)
    read_numbers(slots)
    read_averages(slots)
    read_values(slots)
    read_related(slots)
    read_times(slots)
    read_groups(slots)
    read_ranking(slots)
    query = _Head(slots).query()
    slots.require_used()
    require_same_groups(query)
    require_units(slots, query)
    return query


def _require_named(slots: Slots) -> None:
    """“How many orders have they placed?” is of things that nothing before that part of the question names. Raises Unread."""
    for place in slots.said("refers"):
        begins = [
            each
            for each in range(1, place + 1)
            if slots.items[each].is_set_off or slots.has(each, "and", "count", "list", "much", "sum", "avg")
        ]
        if not any(ref is not None for ref in slots.refs[: max(begins, default=0)]):
            raise Unread("of whom")


def require_units(slots: Slots, query: LogicalQuery) -> None:
    """Amounts are not changed into another unit or currency. Raises Inexpressible where one is asked for that is not the one kept.

    A layer that names no currency keeps the one that people mean; of hours or minutes nobody knows which a column keeps.
    """
    said = {role.partition(":")[2] for place in range(len(slots.items)) for role in slots.roles(place)}
    units = {slots.catalog.unit(name) for name in _amounts(query)}
    asked, kept = said & codes("currency"), units & codes("currency")
    if asked and kept and asked != kept:
        raise Inexpressible(_("No currency but %(kept)s is kept here.") % {"kept": ", ".join(sorted(kept))})
    if other := sorted(said & codes("unit") - units):
        raise Inexpressible(_("The data do not say that this is kept in %(unit)s.") % {"unit": ", ".join(other)})


def _amounts(query: LogicalQuery) -> Iterator[str]:
    """What of a query may be money."""
    for leaf in query.leaves:
        yield from (leaf.name, *(condition.field for condition in leaf.filters))
    yield from (each.field for each in query.filters)
    yield from query.rows.columns if query.rows else ()
    yield from (query.ranking.by,) if query.ranking else ()


class _Head(HeadParts):
    def query(self) -> LogicalQuery:
        slots = self.slots
        percent, shares = slots.said("percent"), slots.said("share")
        slots.use(*percent, *shares)
        exists = slots.said("exists")
        slots.use(*exists)
        self._ranked() or self._numbers() or self._list()
        self._when()
        self._whole()
        self.outcome = "exists" if exists and self.rows is not None and not slots.said("list") else self.outcome
        filters = tuple(slots.filters)
        if (percent and not (slots.dimensions and not filters)) or ((percent or shares) and not slots.dimensions):
            filters = self._percent(filters)
        is_share = bool((percent or shares) and slots.dimensions and not any(m.over for m in self.metrics))
        self._require_sense(filters)
        related, having = self._thresholds()
        filters = (*filters, *self._missing())
        filters, related = self._belonging(filters, [*related, *slots.related])
        if related and slots.rank_role in ("latest", "earliest"):
            raise Unread("the latest of what")
        self._require_plain_sums()
        self._leftover()
        return LogicalQuery.model_validate(
            {
                "metrics": tuple(self.metrics),
                "dimensions": tuple(dict.fromkeys(slots.dimensions)),
                "rows": self.rows,
                "filters": filters,
                "times": tuple(slots.times),
                "related": tuple(related),
                "having": tuple(having),
                "ranking": self._ranking(),
                "comparison": slots.comparison,
                "share": is_share,
                "outcome": self.outcome,
            }
        )

    def _ranked(self) -> bool:
        """The first of a ranking: groups by a metric, or rows by a column."""
        slots, by = self.slots, self.slots.ranked_by
        if not slots.rank_role:
            return False
        if slots.rank_role in ("dearest", "cheapest"):
            by = self.price()
        if by is None and slots.rank_role in ("top", "bottom", "max", "min"):
            measures = slots.free("measure")
            if len(measures) != 1:
                raise Unread("the first by what")
            slots.use(measures[0])
            by = Metric(name=slots.ref(measures[0]).name)
        groups = tuple(slots.dimensions)
        subject = self._subject()
        if isinstance(by, Metric):
            slots.ranked_by = by
            self.metrics = [by]
            if subject is not None:
                slots.dimensions.append(Dimension(name=subject))
            self._require_one_order(groups)
            slots.use(*slots.said("count"))
            return True
        return self._first_rows(by, subject)

    def _require_one_order(self, groups: tuple[Dimension, ...]) -> None:
        """The first of all, or, where it is broken down besides, the first of each group. Raises Unread where neither is said."""
        slots = self.slots
        is_of_each = len(slots.dimensions) > len(groups) > 0
        if not slots.dimensions or (len(groups) > 1 and not is_of_each) or (is_of_each and slots.said("only")):
            raise Unread("the first of what")
        self.within = groups if is_of_each else ()

    def _first_rows(self, by: str | None, subject: str | None) -> bool:
        slots = self.slots
        model = subject.partition(".")[0] if subject else (by or "").partition(".")[0]
        if subject is not None and "." in subject:
            raise Unread("a column of the first")
        if by is None:
            time = self.catalog.model(model).defaults.agg_time_dimension if model else ""
            if not time or slots.rank_role not in ("latest", "earliest"):
                raise Unread("the first by what")
            by = f"{model}.{time}"
        is_nameless = self.catalog.model(model).name_dimension is None
        asks = bool(slots.said("much")) or is_nameless or self._is_of_subject(by, model)
        asks_number = asks and not slots.said("list") and self.catalog.dimension(by)[1].type == "number"
        is_alone = not subject and slots.rank_role in ("max", "min", "top", "bottom") and not slots.said("list")
        if is_alone or asks_number:
            agg = "max" if slots.descending else "min"  # “the highest list price”
            self.metrics, slots.rank_role = [Metric(name=by, agg=agg)], ""  # type: ignore[arg-type]
            return True
        self.rows = Rows(model=model, columns=self._columns(model))
        slots.ranked_by = by
        return True

    def _subject(self) -> str | None:
        """What is ranked: the one table, or column of names, that no other part uses."""
        slots = self.slots
        for place in range(len(slots.items)):
            grain = next((role for role in slots.roles(place) if role.startswith("grain:")), "")
            if grain and slots.has(slots.before(place), "list"):
                slots.dimensions.append(Dimension.model_validate({"grain": grain.partition(":")[2]}))
                slots.use(place)
                return None
        for place in slots.free("model", "dimension"):
            if slots.kind(place) == "dimension" and (slots.is_number(place) or slots.is_time(place)):
                continue
            slots.use(place)
            name = slots.ref(place).name
            slots.owners.add(name.partition(".")[0])
            if slots.kind(place) == "dimension" and slots.dimension(place).is_name:
                name = name.partition(".")[0]
            return name
        return None

    def _numbers(self) -> bool:
        """Measures, counts and aggregates."""
        slots = self.slots
        measures = slots.free("measure")
        for place in measures:
            self.metrics.append(Metric(name=slots.ref(place).name))
            slots.use(place)
        for place in slots.said("avg", "sum"):
            metric = self.aggregated(place)
            if metric is None:
                continue
            self.metrics.append(metric)
            if metric.agg == "avg":  # average freight per order: of each row, as it is anyway
                slots.dimensions = [each for each in slots.dimensions if each.name != metric.name.partition(".")[0]]
        plain = [place for place in slots.said("count") if not self._asks_what(place)]
        counts = [*plain, *(place for place in range(len(slots.items)) if slots.has(place, "each_before"))]
        if (len(counts) > 1 and self.metrics) or self.are_several(plain):
            raise Unread("two numbers")
        if counts and not slots.dimensions and any(place < min(counts) for place in slots.said("list")):
            raise Unread("a list and a number")
        if counts and not self.metrics:
            self.metrics.append(self._count())
        elif any(slots.kind(slots.after(place)) != "measure" for place in counts):  # not of 多少销售额
            self._count_besides()
        if len(self.metrics) > 1:
            self.require_one_condition(sorted([*measures, *counts]))
        if self.metrics:
            slots.use(*counts, *slots.said("sum"), *slots.said("distinct"))
            self._average_of_groups()
        return bool(self.metrics)

    def _count_besides(self) -> None:
        """“Revenue and number of orders”: two numbers of the same conditions. Raises Unread where they may not be of the same."""
        slots = self.slots
        things = [place for place in slots.free("model", "dimension") if self._is_counted(place)]
        if not things:
            return  # number of units sold
        metric = self._count()
        model = self.catalog.models.get(metric.name)
        is_dated = bool(slots.times) and (model is None or model.name_dimension is not None)  # came then, or were there
        if is_dated or not slots.said("and"):
            raise Unread("two numbers")
        self.metrics.append(metric)

    def _average_of_groups(self) -> None:
        """“On average per customer”; never “average revenue by region”, which asks for each region. Raises Unread, also for periods,
        of which those without rows would be left out.
        """
        slots = self.slots
        left = slots.said("avg")
        if not left or not slots.dimensions:
            return
        if self.metrics and all(self._is_average(metric) for metric in self.metrics):
            slots.use(*left)  # 平均客单价: said twice
            return
        if any(slots.has(place, "by") for place in range(len(slots.items))):
            raise Unread("an average of what")
        if any(each.grain is not None for each in slots.dimensions) or len(self.metrics) > 1:
            raise Unread("an average over periods, or of two numbers")
        if len(slots.dimensions) > 1:
            raise Unread("an average of each what")  # 各地区平均每个客户
        self.outcome = "group_average"
        slots.use(*left)

    def _is_average(self, metric: Metric) -> bool:
        return metric.name in self.catalog.measures and self.catalog.measures[metric.name][1].agg == "avg"

    def _asks_what(self, place: int) -> bool:
        """“电话多少”: what it is, not how many."""
        slots, before = self.slots, self.slots.before(place)
        is_column = slots.kind(before) == "dimension" and not slots.is_time(before)
        return slots.has(place, "what") and is_column and slots.kind(slots.after(place)) != "model"

    def _count(self) -> Metric:
        slots = self.slots
        distinct = bool(slots.said("distinct"))
        columns = [p for p in slots.free("dimension") if not slots.is_number(p) and not slots.is_time(p)]
        models = slots.free("model")
        if columns and self._is_counted(columns[0]) and (distinct or not models or not self._is_counted(models[0])):
            slots.use(columns[0])
            slots.owners.add(slots.ref(columns[0]).model)
            return Metric(name=slots.ref(columns[0]).name, agg="count_distinct")
        if models:
            chosen = next((place for place in models if self._is_counted(place)), models[0])
            slots.use(chosen)
            return Metric(name=slots.ref(chosen).name, agg="count")
        return Metric(name=self._owner(), agg="count")

    def _is_counted(self, place: int) -> bool:
        slots = self.slots
        distinct = slots.before(place) if slots.has(slots.before(place), "distinct") else place
        if slots.has(slots.before(distinct), "count"):
            return True
        is_listed = slots.kind(place) == "model" or bool(slots.dimension(place).values)
        return is_listed and slots.has(slots.after(place), "count") and not slots.items[place].text.isascii()

    def _list(self) -> bool:
        slots = self.slots
        models = slots.free("model")
        if models:
            model = slots.ref(models[0]).name
            slots.use(models[0])
        elif slots.dimensions:
            raise Unread("a breakdown of what")
        elif slots.free("dimension") or slots.said("list", "what", "exists", "count", "much"):
            model = self._owner()
        else:
            raise Unread("values alone ask nothing")
        if slots.dimensions:
            self._average_of_groups()
            self.metrics = [Metric(name=model, agg="count")]  # “customers by region”: how many
            return True
        self.rows = Rows(model=model, columns=self._columns(model), distinct=bool(slots.said("distinct")))
        slots.use(*slots.said("distinct"))
        return True

    def _columns(self, model: str) -> tuple[str, ...]:
        """The columns that are asked for of a list, beside what the thing is called."""
        slots = self.slots
        places = [place for place in slots.free("dimension") if self._is_reached(model, slots.ref(place).model)]
        if not places:
            return ()
        slots.use(*places)
        names = [slots.ref(place).name for place in places]
        own = self.catalog.model(model).name_dimension
        if len(names) == 1 and not slots.rank_role and self._asks_values(places[0], model):
            return tuple(names)
        if self.slots.is_number(places[0]) and not (
            self._is_thing_said(model) or self._is_said(model) or slots.rank_role
        ):
            raise Unread("a number of what")
        called = [f"{model}.{own.name}"] if own is not None else []
        return tuple(dict.fromkeys([*called, *names]))

    def _percent(self, filters: tuple[Filter, ...]) -> tuple[Filter, ...]:
        """A part of a whole: the one condition says which."""
        if len(filters) != 1 or len(self.metrics) > 1:
            raise Unread("the percentage of what")
        if not self.metrics:
            if self.rows is None:
                raise Unread("the percentage of what")
            self.metrics, self.rows = [Metric(name=self.rows.model, agg="count")], None
        whole = self.metrics[0]
        self.metrics = [whole.model_copy(update={"filters": filters, "over": whole, "percent": True})]
        return ()

    def _thresholds(self) -> tuple[list[Related], list[Having]]:
        """Metrics against numbers: of each thing that is listed or counted, or of each group."""
        slots = self.slots
        related, having = [], []
        for each in slots.thresholds:
            if self.metrics and slots.dimensions and each.metric == self.metrics[0]:
                having.append(Having(metric=0, op=each.op, value=each.value))
                continue
            head = self.rows.model if self.rows is not None else self.metrics[0].name
            if self.rows is not None and self._is_distinct_list():
                self._group_instead(each.metric)
                having.append(Having(metric=0, op=each.op, value=each.value))
                continue
            if head not in self.catalog.models:
                raise Unread("a number of which things")
            base = each.metric.name.partition(".")[0]
            time = slots.times[0] if len(slots.times) == 1 and not slots.times[0].field else None
            slots.times = [] if time is not None else slots.times
            related.append(Related(model=base, metric=each.metric, op=each.op, value=each.value, time=time))
        return related, having

    def _group_instead(self, metric: Metric) -> None:
        assert self.rows is not None
        self.slots.dimensions = [Dimension(name=self.rows.columns[0])]
        self.metrics, self.rows = [metric], None

    def _leftover(self) -> None:
        """Tables that only say whose the rest is, and times that say nothing more."""
        slots = self.slots
        bases = {metric.name.partition(".")[0] for metric in self.metrics} | ({self.rows.model} if self.rows else set())
        for place in slots.free("model"):
            if slots.ref(place).name in slots.owners | bases:
                slots.use(place)
        for place in slots.free("dimension"):
            model, dimension = self.catalog.dimension(slots.ref(place).name)
            if dimension.type == "time" and model.name in bases and model.defaults.agg_time_dimension == dimension.name:
                slots.use(place)

    def _ranking(self) -> Ranking | None:
        slots = self.slots
        if slots.rank_role:
            by = slots.ranked_by if isinstance(slots.ranked_by, str) else ""
            return Ranking(by=by, descending=bool(slots.descending), limit=slots.limit, within=self.within)
        if slots.order is not None and slots.order[0] not in {metric.name for metric in self.metrics}:
            return Ranking(by=slots.order[0], descending=slots.order[1])
        return Ranking(descending=slots.order[1]) if slots.order is not None else None
