"""What a question's parts say of each other: whose they are, what hangs together, what nobody would ask."""

from itertools import pairwise

from business.logical_query.comparisons import ORDERED
from business.logical_query.conditions import carrier_towards, positive
from business.logical_query.query import Dimension, Filter, Metric, Related, Rows, TimeRange
from business.parsing.reader.leads import asks
from business.parsing.reader.slots import Slots, Unread

_PRICE = ("price", "cost", "价", "费")


class HeadParts:
    """metrics or rows: what is asked for, as far as it is known."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.catalog = slots.catalog
        self.metrics: list[Metric] = []
        self.rows: Rows | None = None
        self.outcome = "table"
        self.within: tuple[Dimension, ...] = ()

    def _base(self) -> str:
        return self.rows.model if self.rows is not None else self.metrics[0].name.partition(".")[0]

    def _when(self) -> None:
        """When: the time of the one thing that is asked about, beside it."""
        slots = self.slots
        places = slots.said("when")
        if not places:
            return
        slots.use(*places)
        if self.rows is None or len(self.rows.columns) > 1 or slots.related:
            raise Unread("when what")
        by = slots.ranked_by if isinstance(slots.ranked_by, str) else ""
        default = self.catalog.model(self.rows.model).defaults.agg_time_dimension
        time = by or (f"{self.rows.model}.{default}" if default else "")
        if not time or self.catalog.dimension(time)[1].type != "time":
            raise Unread("when what")
        own = self.catalog.model(self.rows.model).name_dimension
        if own is None and slots.rank_role in ("latest", "earliest"):  # when was the last order
            self.metrics, self.rows = [Metric(name=time, agg="max" if slots.descending else "min")], None
            slots.rank_role = ""
            return
        called = self.rows.columns or ((f"{self.rows.model}.{own.name}",) if own is not None else ())
        if called and time not in called:
            self.rows = self.rows.model_copy(update={"columns": (*called, time)})

    def _whole(self) -> None:
        """“Of all orders”: the same that the part is of."""
        slots = self.slots
        for place in slots.said("out_of"):
            after = slots.after(place)
            if slots.kind(after) in ("model", "measure") and slots.ref(after).name == (
                self.metrics[0].name if self.metrics else self._base()
            ):
                slots.use(place, after)

    def _require_sense(self, filters: tuple[Filter, ...]) -> None:
        """What nobody asks means something else: counting things of one name, a thing by its own name, “how much” of a list.

        Raises Unread.
        """
        slots, base = self.slots, self._base()
        self._require_subject(base)
        self._require_own_time(base)
        called = self.catalog.models[base].name_dimension if base in self.catalog.models else None
        if called is not None and called.type != "number" and slots.said("occasion"):
            raise Unread("how many times what happened")  # customers are; visits happen
        for each in filters:
            if not each.field:
                continue
            model, is_name = each.field.partition(".")[0], self.catalog.dimension(each.field)[1].is_name
            asks_itself = (
                self.rows is not None and not self.rows.columns and not slots.rank_role and self.outcome == "table"
            )
            counts_itself = any(metric.name == model for metric in self.metrics) and not slots.dimensions
            if model == base and is_name and each.op == "in" and (asks_itself or counts_itself):
                raise Unread("a thing by its own name")
            if not self._hang_together(base, model):
                raise Unread("how these hang together")
        columns = self.rows.columns if self.rows is not None else ()
        tells = any(slots.rank_role or self.catalog.dimension(name)[1].type in ("number", "time") for name in columns)
        asks = any(not slots.has(place, "what", "count") for place in slots.said("much"))
        if self.rows is not None and asks and not tells:
            raise Unread("how much of what")

    def _require_subject(self, base: str) -> None:
        """Whose rows are listed is said; “which artists” asks for artists. Raises Unread."""
        slots = self.slots
        said = [place for place in range(len(slots.items)) if slots.kind(place) == "model" or self._is_name(place)]
        asked = [slots.ref(place).model for place in said if slots.has(place - 1, "list")]
        if self.rows is not None and said and base not in (asked or [slots.ref(place).model for place in said]):
            raise Unread("whose rows")
        columns = self.rows.columns if self.rows is not None else ()
        if columns and not self._is_said(base) and not any(name.startswith(f"{base}.") for name in columns):
            raise Unread("whose rows")  # a table that only one meaning of a value names

    def _is_name(self, place: int) -> bool:
        return self.slots.kind(place) == "dimension" and self.slots.dimension(place).is_name

    def _require_own_time(self, base: str) -> None:
        """Revenue of customers who were new then, or revenue of then; employees who started, or whose projects did. Raises Unread."""
        slots = self.slots
        is_measure = any(metric.name in self.catalog.measures and metric.agg is None for metric in self.metrics)
        is_counted = self.rows is not None or any(metric.name in self.catalog.models for metric in self.metrics)
        for time in slots.times:
            owner = time.field.partition(".")[0]
            if owner in ("", base) or (not self.catalog.joins.distance(base, owner) and not is_counted):
                continue
            if is_measure or (is_counted and not self._is_said(owner)):
                raise Unread("of whose time")
        events = {slots.ref(place).model for place in slots.free("dimension") if self._is_event(place)} - {base}
        if slots.times and any(self.catalog.joins.distance(base, model) is None for model in events):
            raise Unread("of whose time")

    def _hang_together(self, base: str, model: str) -> bool:
        """Whether keys lead from one to the other in one direction, or the table between them is named."""
        joins, slots = self.catalog.joins, self.slots
        if joins.distance(base, model) is not None or joins.distance(model, base) is not None:
            return True
        named = {ref.model for ref in slots.refs if ref is not None}
        return any(joins.distance(one, base) is not None and joins.distance(one, model) is not None for one in named)

    def _is_of_subject(self, by: str, model: str) -> bool:
        """“What is the highest discount on an order line”: the number is asked for, not whose it is."""
        slots = self.slots
        columns, models = slots.named("dimension", by), slots.named("model", model)
        is_before = bool(columns and models) and columns[0] < models[0]
        return bool(slots.said("what")) and is_before and slots.items[columns[0]].text.isascii()

    def aggregated(self, place: int) -> Metric | None:
        """The sum or average of the column beside the word for it; None where none stands there."""
        slots = self.slots
        for near in (slots.after(place), slots.before(place)):
            if slots.kind(near) == "dimension" and slots.is_number(near) and near not in slots.used:
                slots.use(place, near)
                return Metric(name=slots.ref(near).name, agg="avg" if slots.has(place, "avg") else "sum")
        return None

    def are_several(self, counts: list[int]) -> bool:
        """Whether words that count ask for a number each: “how many customers and how many in Germany”. “客户数在德国有多少” names one
        and asks for it.
        """
        return any(self._are_two(one, other) for one, other in pairwise(counts))

    def _are_two(self, one: int, other: int) -> bool:
        slots, between = self.slots, range(one + 1, other)
        if any(slots.has(place, "and") and place not in slots.used for place in between):
            return True
        first, second = slots.items[one].text, slots.items[other].text
        if not first.isascii() and not asks(first) and asks(second):
            return False
        is_named = asks(first) and not asks(second)  # 有多少客户数
        return any(not (slots.is_soft(place) or (is_named and slots.kind(place) == "model")) for place in between)

    def require_one_condition(self, numbers: list[int]) -> None:
        """Of several numbers a condition before or behind them all is of each; one between them, or in a question of the last one's
        own, is of one alone: “revenue in Europe and number of orders”. Raises Unread.
        """
        slots = self.slots
        said = [place for place in range(len(slots.items)) if slots.kind(place) in ("value", "time", "number")]
        is_between = any(numbers[0] < place < numbers[-1] for place in said)
        is_asked_alone = slots.has(numbers[-1], "count") and asks(slots.items[numbers[-1]].text)
        if is_between or (is_asked_alone and any(place > numbers[-1] for place in said)):
            raise Unread("a condition of which number")

    def _require_plain_sums(self) -> None:
        """“Cumulative by month” adds up the months before, which nothing here does. Raises Unread."""
        slots = self.slots
        is_running = any(slots.has(place, "running") for place in range(len(slots.items)))
        if is_running and any(each.grain is not None for each in slots.dimensions):
            raise Unread("a running total")

    def price(self) -> str:
        """The price of the one thing that is named."""
        slots = self.slots
        models = [slots.ref(place).name for place in slots.free("model")] or sorted(slots.owners)
        named = [slots.ref(place).name for place in slots.free("dimension") if slots.is_number(place)]
        found = [
            f"{model}.{each.name}"
            for model in models[:1]
            for each in self.catalog.model(model).dimensions
            if each.type == "number" and any(word in said for said in each.words() for word in _PRICE)
        ]
        chosen = [name for name in found if name in named] or found
        if len(chosen) != 1:
            raise Unread("which price")
        slots.use(*(place for place in slots.free("dimension") if slots.ref(place).name == chosen[0]))
        return chosen[0]

    def _asks_values(self, place: int, model: str) -> bool:
        """Whether a column is asked for its values (“which countries do customers come from”), not told of each thing."""
        slots = self.slots
        if not slots.dimension(place).values or slots.has(slots.before(place), "and"):
            return False
        said = slots.named("model", model)
        return not said or place < said[0] or slots.touch(said[0], place)

    def _is_said(self, model: str) -> bool:
        return bool(self.slots.named("model", model))

    def _is_thing_said(self, model: str) -> bool:
        """Whether the column is asked of certain things, and not which of its values there are."""
        name = self.catalog.model(model).name_dimension
        return any(each.field == f"{model}.{name.name if name else ''}" for each in self.slots.filters)

    def _is_reached(self, model: str, other: str) -> bool:
        return self.catalog.joins.distance(model, other) is not None

    def _is_distinct_list(self) -> bool:
        """“Countries with more than five customers”: the values of a column, not rows."""
        assert self.rows is not None
        columns = self.rows.columns
        if len(columns) != 1:
            return False
        dimension = self.catalog.dimension(columns[0])[1]
        return not dimension.is_name and dimension.type not in ("number", "time")

    def _owner(self) -> str:
        """Whose rows are meant where no table is named: those that point to all the rest that is named."""
        slots = self.slots
        owners = {slots.ref(place).model for place in slots.free("dimension")} | slots.owners
        owners |= {each.field.partition(".")[0] for each in slots.filters}
        bases = [one for one in sorted(owners) if all(self._is_reached(one, other) for other in owners)]
        if len(bases) != 1:
            raise Unread("a list of what")
        return bases[0]

    def _is_event(self, place: int) -> bool:
        """A time that is only said to have been: “shipped orders”, “customers that ordered”; not the one that counts anyway."""
        slots = self.slots
        name = slots.ref(place).name
        model, dimension = self.catalog.dimension(name)
        return slots.is_time(place) and not (
            model.name == self._base() and model.defaults.agg_time_dimension == dimension.name
        )

    def _belonging(
        self, filters: tuple[Filter, ...], related: list[Related]
    ) -> tuple[tuple[Filter, ...], list[Related]]:
        """What is said of rows that things have or have not is said of one such row; a time that nothing else has is theirs.

        Raises Unread. Without a word for these rows and without a time the conditions stay as they are.
        """
        slots, base = self.slots, self._base()
        times = slots.times
        far = [each for each in filters if each.field and not self._is_reached(base, each.field.partition(".")[0])]
        if far and (slots.said("only") or len(related) > 1):
            raise Unread("of which rows")
        if len(related) == 1:
            far = [each for each in far if self._is_reached(related[0].model, each.field.partition(".")[0])]
            related = [related[0].model_copy(update={"filters": tuple(far)})]
        elif far and len(times) == 1 and not times[0].field and base in self.catalog.models:
            related = [self._of_one_row(base, far)]
        else:
            return filters, related
        if len(times) == 1 and related[0].time is None:
            related = [self._timed(related[0], times[0])]
        return tuple(each for each in filters if each not in far), related

    def _of_one_row(self, base: str, far: list[Filter]) -> Related:
        negated = [each for each in far if each.op not in (*ORDERED, "in", "=")]
        models = {each.field.partition(".")[0] for each in far}
        if len(models) > 1 or (negated and len(far) > 1):
            raise Unread("whether it is one row")
        carrier = carrier_towards(base, models.pop(), self.catalog)
        return Related(model=carrier, is_not=bool(negated), filters=tuple(positive(each) for each in far))

    def _timed(self, related: Related, time: TimeRange) -> Related:
        field = time.field or self.catalog.model(related.model).defaults.agg_time_dimension
        if field and time.field.partition(".")[0] in ("", related.model):
            self.slots.times = []
            return related.model_copy(update={"time": time})
        if not time.field:
            raise Unread("a time of what")
        return related

    def _missing(self) -> list[Filter]:
        """Times that are there or not, of the thing itself, or of rows that it has; and numbers that are none."""
        slots, found = self.slots, []
        events = [place for place in slots.free("dimension") if self._is_event(place)]
        if any(slots.kind(near) == "value" for each in events for near in (slots.before(each), slots.after(each))):
            raise Unread("what was done with it")  # shipped with somebody
        slots.use(*events)
        for name, is_not in (*slots.missing, *((slots.ref(place).name, False) for place in events)):
            model = name.partition(".")[0]
            if not self._is_reached(self._base(), model):
                slots.related.append(Related(model=model, is_not=is_not))
            elif is_not and self.catalog.dimension(name)[1].type == "number":  # no stock on hand
                none = (Filter(field=name, op="is_null"), Filter(field=name, op="=", values=(0,)))
                found.append(Filter(any_of=none))
            else:
                found.append(Filter(field=name, op="is_null" if is_not else "is_not_null"))
        return found
