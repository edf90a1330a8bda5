"""The conditions of a question, taken out of its items: values, numbers, times, and other tables that must (not) be there."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from agent.business.ask.meaning import (
    Aggregate,
    ColumnFilter,
    Figure,
    FigureFilter,
    Missing,
    NotUnderstood,
    NumberFilter,
    Related,
    Rows,
    TimeFilter,
    WeekdayFilter,
)
from agent.business.ask.reading.references import References
from agent.business.ask.reading.taken import Filters
from agent.business.ask.reading.values import ValueTaker
from agent.business.ask.reading.yearly import yearly
from agent.business.ask.sql.figures import carrier_of
from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item, Row
from agent.business.ask.words.lexicon import DimensionRef
from agent.business.layer.model import Aggregation

_MONEY = 10_000  # no one has as many rows as that; an amount is meant
_EXCLUDING = frozenset(
    "不含 不包括 不包含 不算 剔除 排除 除去 除开 除 除了 刨除 刨去 撇开 不含有 excluding except without".split()  # noqa: SIM905
)
_EQUAL = frozenset("是 为 的 在 都 有 已经 还 现在 目前 当前 就 了 is are was were of at a the has have to for".split())  # noqa: SIM905


def take_filters(row: Row, references: References, *, is_chinese: bool) -> Filters:
    """Take every condition out of a row. Raises NotUnderstood for one that could mean several things."""
    taker = _Taker(row, references, Filters(), is_chinese)
    taker.weekdays()
    taker.times()
    taker.numbers()
    taker.values()
    taker.again()
    taker.missing()
    return taker.filters


@dataclass
class _Taker:
    row: Row
    references: References
    filters: Filters
    is_chinese: bool

    def _each(self, pattern: str, use: Callable[[list[Item]], None]) -> None:
        while (taken := self.row.take(pattern)) is not None:
            use(taken)

    def times(self) -> None:
        while (at := self.row.letters.find(Kind.WINDOW.value)) >= 0:
            model = self._model_of_time(at)
            taken = self.row.take("t&?w|wt") or self._far_time() or self.row.take("w") or []
            window = next(item.window for item in taken if item.window is not None)
            time = next((item for item in taken if item.kind is Kind.TIME), None)
            column = self.references.dimension(time, near=model) if time else None
            self.row.put_back_owners(taken)
            every_year = yearly(window, column, self.references.lexicon)
            if every_year is not None:
                self.filters.others.append(every_year)
            else:
                self.filters.times.append(TimeFilter(window, None if column else model or None, column))
        if len(self.filters.times) > 1:
            raise NotUnderstood("several times")

    def _far_time(self) -> list[Item] | None:
        """“In the last year, how many people were hired”: the only time column named, though not beside the window."""
        letters = self.row.letters
        is_apart = set(letters) & set("SVXN") or re.search("Gt|gt|tg|!t|&t|t[dnM]*&[dnM]", letters)
        if letters.count("t") != 1 or letters.count("w") != 1 or is_apart:
            return None
        return [*(self.row.take("t") or []), *(self.row.take("w") or [])]

    def numbers(self) -> None:
        self._each("nc[Vn]n?|tct|t2t|cVn", self._column)
        self._each("cn>n", self._column)
        self._each("nc?b#&#|nb##|nc#[&o]?c#", self._between)
        equal = "|(?<![XNSV])n#(?![a#&])" if self.is_chinese else "|(?<![XNSVGTc])n#$"  # “库存为0”, “that cost 1.99”
        self._each("[SV]n(?:c#|#a)(?!.*[SV])", self._aggregate)
        self._each(f"nc#|n#a|c#n|#an{equal}", self._compare)
        self._each("MCc#|CMc#(?!M)|S?mc#|MC#a|S?m#a", self._figure)
        self._each("(?:MC|CM|m)c?b#&#", self._figure_between)
        self._figures_compared()

    def _figures_compared(self) -> None:
        self._each("Mc#M" if self.is_chinese else r"(?!)", self._figure_of_two)
        self._each("c#M(?=.*[Md])|(?<=d)c#M" if self.is_chinese else "(?<=.)c#M|(?<=.)#aM", self._figure)
        self._each("c#m", self._figure)
        beside = "M(?:c#|#a)(?=.*[Md])|" if self.is_chinese else ""
        self._each(rf"{beside}(?<=[Md])M(?:c#|#a)", self._figure)

    def again(self) -> None:
        """“More than 2 cancelled orders”: the value stood between."""
        if any(item.kind in (Kind.COMPARE, Kind.AFTER) for item in self.row.items):
            self._figures_compared()

    def values(self) -> None:
        taker = ValueTaker(self.row, self.references, self.filters, self.is_chinese)
        self._each("G?!?[dn]?!?v(?:[&o]?v)*[dM]?", taker.value)
        if not self.is_chinese:  # “courses in the "Computer Science" department”
            self._each("(?<=M)!?q(?:[&o]q)*d", taker.quoted)
        self._each("G?!?[dM]c?q(?:[&o]q)*|q[dM]", taker.quoted)

    def missing(self) -> None:
        self._each("!M", self._without)
        self._each("h[dnt]|[dnt]h", self._filled)
        self._each("![dnt]|[dnt]0", self._empty)

    def _filled(self, taken: list[Item]) -> None:
        """“登记了邮箱的客户”: a column that is not empty."""
        column = next(item for item in taken if item.kind is not Kind.FILLED)
        self.row.put_back_owners([column])
        self.filters.missing.append(Missing(self.references.dimension(column), is_not=True))

    def _empty(self, taken: list[Item]) -> None:
        """“没有填写邮箱的客户”, “邮箱为空的客户”; not “不含运费”, which is said of a sum."""
        column = next(item for item in taken if item.kind not in (Kind.NOT, Kind.EMPTY))
        if column.kind is Kind.QUANTITY and any(item.text in _EXCLUDING for item in taken):
            raise NotUnderstood("a sum without one of its parts")
        self.row.put_back_owners([column])
        self.filters.missing.append(Missing(self.references.dimension(column)))

    def _without(self, taken: list[Item]) -> None:
        """Without rows of another table; values said after “without” may be those rows’."""
        items = self.references.items
        place = self.references.place(taken[0])
        model = self.references.model(taken[1])
        is_narrowed = all(item.kind not in (Kind.VALUE, Kind.QUOTED) for item in items[:place])
        self.filters.related.append(Related(model, is_not=True, is_narrowed=is_narrowed))

    def _model_of_time(self, at: int) -> str:
        """The table whose rows a window is about: of all that are named the one that belongs to the others, such as orders of customers."""
        named = [
            self.references.model(item) if item.kind is Kind.MODEL else self.references.measure(item).model
            for item in self.row.items
            if item.kind in (Kind.MODEL, Kind.MEASURE)
        ]
        named += [ref.model for item in self.row.items if item.kind is Kind.QUANTITY and (ref := _only(item))]
        if len(set(named)) < 2:
            return self._nearest_model(at)
        joins = Joins(self.references.lexicon.layer)
        return joins.base_for(named) or self._joint(joins, named) or self._nearest_model(at)

    def _joint(self, joins: Joins, named: list[str]) -> str:
        """The dated table that belongs to two things: “products of German customers in 2025” are those of that year's orders."""
        try:
            carrier = carrier_of(named[0], named[1:], self.references.lexicon, joins)
        except NotUnderstood:
            return ""
        return carrier if self.references.lexicon.model(carrier).measures else ""

    def _nearest_model(self, at: int) -> str:
        """The table named last before a place, else first after it."""
        before = [item for item in self.row.items[:at] if item.kind in (Kind.MODEL, Kind.MEASURE)]
        after = [item for item in self.row.items[at:] if item.kind in (Kind.MODEL, Kind.MEASURE)]
        near = (after[:1] or before[-1:]) if self.is_chinese else (before[-1:] or after[:1])
        if not near:
            return ""
        if near[0].kind is Kind.MODEL:
            return self.references.model(near[0])
        return self.references.measure(near[0]).model

    def _column(self, taken: list[Item]) -> None:
        """A column against another one of its table, or against its own average."""
        sign = next(item.sign for item in taken if item.kind in (Kind.COMPARE, Kind.THEN))
        if any(item.kind is Kind.THEN for item in taken):  # “在要求日期之后发货”
            taken.reverse()
        columns = [self.references.dimension(item) for item in taken if item.kind in (Kind.QUANTITY, Kind.TIME)]
        self.row.put_back_owners(item for item in taken if item.kind in (Kind.QUANTITY, Kind.TIME))
        if any(item.kind is Kind.AVG for item in taken):
            if len(set(columns)) != 1:
                raise NotUnderstood("a column against the average of another one")
            self.filters.numbers.append(NumberFilter(columns[0], sign, 1, of_average=True))
            return
        if len(columns) != 2 or columns[0].model != columns[1].model or columns[0] == columns[1]:
            raise NotUnderstood("a column against one of another table")
        self.filters.others.append(ColumnFilter(columns[0], sign, columns[1]))

    def weekdays(self) -> None:
        self._each("t?kt?", self._weekday)

    def _weekday(self, taken: list[Item]) -> None:
        days = next(item.window.days for item in taken if item.window is not None)
        time = next((item for item in taken if item.kind is Kind.TIME), None)
        model = self._model_of_time(self.row.place)
        column = self.references.dimension(time, near=model) if time else None
        self.row.put_back_owners(taken)
        self.filters.others.append(WeekdayFilter(days, None if column else model or None, column))

    def _between(self, taken: list[Item]) -> None:
        numbers = [item.number for item in taken if item.kind is Kind.NUMBER]
        signs = [item.sign for item in taken if item.kind is Kind.COMPARE]
        if len(signs) == 2:  # “above 10 and below 20”
            ref = self.references.dimension(taken[0])
            self.row.put_back_owners(taken)
            if any(item.kind is Kind.OR for item in taken):
                raise NotUnderstood("a choice between two numbers")
            self.filters.numbers += [NumberFilter(ref, *one) for one in zip(signs, numbers, strict=True)]
            return
        ref = self.references.dimension(taken[0])
        self.row.put_back_owners(taken)
        self.filters.numbers.append(NumberFilter(ref, "between", numbers[0], numbers[1]))

    def _compare(self, taken: list[Item]) -> None:
        number = next(item.number for item in taken if item.kind is Kind.NUMBER)
        sign = next((item.sign for item in taken if item.sign), "=")
        if not any(item.sign for item in taken):
            self._require_equal(taken)
        column = next(item for item in taken if item.kind is Kind.QUANTITY)
        self.row.put_back_owners(taken)
        self.filters.numbers.append(NumberFilter(self.references.dimension(column), sign, number))

    def _aggregate(self, taken: list[Item]) -> None:
        """“平均时长超过半小时的流派”: of all rows of each; of the rows themselves there is no average. Raises NotUnderstood."""
        number = next(item.number for item in taken if item.kind is Kind.NUMBER)
        column = self.references.dimension(next(item for item in taken if item.kind is Kind.QUANTITY))
        things = [self.references.model(item) for item in self.row.items if item.kind is Kind.MODEL]
        are_groups = any(item.kind in (Kind.DIMENSION, Kind.PERIOD) for item in self.row.items)
        if not are_groups and (len(things) != 1 or things[0] == column.model):
            raise NotUnderstood("a total or an average of what")
        way: Aggregation = "avg" if any(item.kind is Kind.AVG for item in taken) else "sum"
        sign = next(item.sign for item in taken if item.sign)
        self.filters.having.append(FigureFilter(Aggregate(way, column), sign, number))

    def _require_equal(self, taken: list[Item]) -> None:
        """A number right after a column is its value; “金额过8万” says more. Raises NotUnderstood."""
        items = self.references.items
        places = sorted(place for place, item in enumerate(items) if any(item is one for one in taken))
        between = items[places[0] + 1 : places[-1]] if places else []
        if any(item.kind is Kind.STOP and item.text.lower() not in _EQUAL for item in between):
            raise NotUnderstood("a number compared, and not how")

    def _figure_of_two(self, taken: list[Item]) -> None:
        """“专辑超过10张的歌手”, “哪些歌手有超过10张专辑”: counted is what belongs to the other."""
        joins = Joins(self.references.lexicon.layer)
        first, last = (self.references.model(item) for item in (taken[0], taken[-1]))
        ways = joins.up(first, last), joins.up(last, first)
        if ways == (None, None):  # many to many: the one that the number stands beside
            ways = ((), None)
        counted, other = (taken[0], taken[-1]) if ways[0] is not None else (taken[-1], taken[0])
        self._figure([counted, *taken[1:-1]])
        self.row.put_back([other])

    def _figure(self, taken: list[Item]) -> None:
        number = next(item.number for item in taken if item.kind is Kind.NUMBER)
        sign = next(item.sign for item in taken if item.sign)
        figure: Figure
        measure = next((item for item in taken if item.kind is Kind.MEASURE), None)
        if measure is not None:
            figure = self.references.measure(measure)
            is_sum = any(item.kind is Kind.SUM for item in taken)
            if is_sum and self.references.lexicon.measure(figure).agg not in ("sum", "count"):
                raise NotUnderstood("a total of an average")
        else:
            figure = Rows(self.references.model(next(item for item in taken if item.kind is Kind.MODEL)))
            if (sign, number) == ("=", 0):
                self.filters.related.append(Related(figure.model, is_not=True))
                return
            self._require_count(taken, figure, number)
        self.filters.having.append(FigureFilter(figure, sign, number))

    def _figure_between(self, taken: list[Item]) -> None:
        """“订单数在10到15之间的客户”: two conditions on one figure."""
        figure = [item for item in taken if item.kind in (Kind.MODEL, Kind.MEASURE, Kind.COUNT)]
        for sign, number in zip((">=", "<="), (item for item in taken if item.kind is Kind.NUMBER), strict=True):
            self._figure([*figure, Item(Kind.COMPARE, sign, sign=sign), number])

    def _require_count(self, taken: list[Item], rows: Rows, number: float) -> None:
        """“Customers with orders above 100,000” are not those with so many orders. Raises NotUnderstood."""
        model = self.references.lexicon.model(rows.model)
        has_amount = any({"amount", "金额", "total"} & set(d.words()) for d in model.dimensions)
        is_first = not self.is_chinese and taken[0].kind is Kind.MODEL
        if has_amount and (number >= _MONEY or (is_first and number > 1)):
            raise NotUnderstood("so many of them, or of so much")


def _only(item: Item) -> DimensionRef | None:
    """The only column that a word may mean."""
    refs = [ref for ref in item.refs if isinstance(ref, DimensionRef)]
    return refs[0] if len(refs) == 1 else None
