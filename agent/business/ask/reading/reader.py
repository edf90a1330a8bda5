"""From items to one reading: filters are taken out first, then groups, then what is left must be a known way to ask.

A row of items is written as a string of their kinds' letters, and a way to ask is a regular expression over it. What matches no
expression is not understood; nothing is dropped that was not read.
"""

import re
from dataclasses import dataclass, replace

from agent.business.ask.meaning import (
    Aggregate,
    Beside,
    CountOfGroups,
    Figure,
    NotUnderstood,
    Period,
    Question,
    Rows,
)
from agent.business.ask.reading.clause import Clause
from agent.business.ask.reading.counted_beside import counted_beside
from agent.business.ask.reading.derived import DerivedReader
from agent.business.ask.reading.figure_phrases import figure_of, figures_in, thing_of_value
from agent.business.ask.reading.filters import take_filters
from agent.business.ask.reading.list_phrases import by_figure, listed
from agent.business.ask.reading.otherwise import otherwise
from agent.business.ask.reading.people import are_people, is_named, with_names
from agent.business.ask.reading.picked import require_picked, sums_of_groups
from agent.business.ask.reading.references import References
from agent.business.ask.reading.said_again import drop_what_is_said_again
from agent.business.ask.reading.superlatives import ranked, top, who
from agent.business.ask.sql.figures import model_of_figure
from agent.business.ask.sql.joins import Joins
from agent.business.ask.words.function_words import Kind
from agent.business.ask.words.items import Item, Row
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, ModelRef

_SEVERALLY = ("both", "respectively", "分别")
_HOW_LONG = frozenset(("多长", "多大", "多久", "多高", "是多少", "有多长", "有多大"))
_TWO_NUMBERS = {Kind.SHARE, Kind.RATIO, Kind.OUT_OF, Kind.CHANGE, Kind.PREVIOUS, Kind.THAN}  # told apart by their order
_FIGURES = (Kind.COUNT, Kind.MEASURE, Kind.SUM, Kind.AVG)


@dataclass
class Reader(Clause):
    """One question being read."""

    rank: Figure | None = None  # what a list is sorted by
    is_free: bool = False  # whether what is no known way to ask is read otherwise

    def read(self) -> Question:
        is_list = any(item.kind is Kind.LIST for item in self.row.items)
        is_which = any(_asks_which(item) for item in self.row.items)
        is_who = any(item.text.lower().lstrip("是") in ("who", "谁") for item in self.row.items)
        is_what = any(item.kind is Kind.ASK and item.text.lower().startswith("what") for item in self.row.items)
        how_much = self.row.drop(Kind.MUCH)
        is_long = any(item.kind is Kind.ASK and item.text in _HOW_LONG for item in self.row.items)
        is_asked = self.row.drop(Kind.ASK) or how_much
        is_all = self.is_all = self.row.drop(Kind.ALL)
        self.row.drop(Kind.STOP)
        self.filters = take_filters(self.row, self.references, is_chinese=self.is_chinese)
        self._take_each()
        drop_what_is_said_again(self)
        question = self._asked(is_list=is_list, is_asked=is_asked, is_all=is_all)
        if is_which:
            question = self._the_one(question)
        if is_which and question.figures and not question.groups:
            raise NotUnderstood("which of what")  # a number does not say which
        require_picked(question, self.filters, is_which=is_which, is_ranked=self.rank is not None)
        if self.is_severally and question.figures and not question.groups and len(question.figures) == 1:
            raise NotUnderstood("each of what")
        if how_much and not self._is_amount(question):
            raise NotUnderstood("how much of what")
        if is_who and not question.figures and not are_people(self, question):
            raise NotUnderstood("who, and it is no one")
        if (is_who or is_what) and is_named(question, self.filters.values, self.references.lexicon):
            raise NotUnderstood("who, and who it is")
        if is_who:
            question = with_names(self, question)
        if how_much or (is_long and not is_which):
            question = replace(question, is_any=True)
        return self._filtered(_over_rows(question, self.references.lexicon))

    def _asked(self, *, is_list: bool, is_asked: bool, is_all: bool) -> Question:
        """What the row asks, as it stands; freely only where that is no known way to ask."""

        def read(row: Row) -> Question:
            clause = replace(self, row=row, groups=list(self.groups))
            question = ranked(clause) or clause._read(is_list=is_list, is_asked=is_asked, is_all=is_all)
            self.rank = clause.rank
            return question

        whole = list(self.row.items)
        try:
            return read(Row(list(whole)))
        except NotUnderstood as error:
            if not self.is_free or self.filters.having or error.choices or error.figures:
                raise
            return otherwise(Row(whole), read)

    def _read(self, *, is_list: bool, is_asked: bool, is_all: bool) -> Question:
        counted = self._periods_counted()
        if counted is not None:
            return counted
        order = self._order()
        first = top(self, is_list=is_list, is_asked=is_asked) or who(self)
        if first is not None:
            return self._in_order(first, *order)
        self.take_groups()
        self.row.drop(Kind.LIST)
        figures = thing_of_value(self) or counted_beside(self) or figures_in(self, is_list=is_list)
        if figures:
            if self.rank is not None and self.rank not in figures.figures[:1]:
                raise NotUnderstood("an order by a figure that is not shown")
            if order[0] is not None and order[0] not in self.groups:
                raise NotUnderstood("an order by a column that is not shown")
            return replace(figures, order=order[0] or figures.order, is_ascending=order[1] or figures.is_ascending)
        if self.groups:
            return self._ranked_groups(order[1])
        if self.rank is not None:
            return self._ranked_list(order[1])
        is_plain = is_list or is_asked or is_all or order[0] is not None
        things = by_figure(self, listed(self, is_plain=is_plain))
        return replace(things, order=order[0], is_ascending=order[1])

    def _periods_counted(self) -> Question | None:
        """“How many months had orders”: the months that have any; none of “how many monthly orders”. Raises NotUnderstood."""
        found = re.search("CU?(?P<period>g)", self.row.letters)
        period = self.row.items[found.start("period")] if found else None
        if found is None or period is None or not period.text.lower().endswith("s"):
            return None
        rest = self.row.items[found.end() :]
        if found.start() or len(rest) != 1 or rest[0].kind is not Kind.MODEL:
            raise NotUnderstood("how many times of what")
        rows = Rows(self.references.model(rest[0]))
        return Question(figures=(rows,), groups=(self.group(period),), derived=CountOfGroups())

    def _in_order(self, first: Question, order: DimensionRef | None, is_ascending: bool) -> Question:
        """The first ones in the order that is said besides; only the one they are found by. Raises NotUnderstood."""
        is_other = order is not None and order != first.order
        is_other = is_other or (self.rank is not None and self.rank not in first.figures)
        if is_other or (is_ascending and not first.is_ascending and order is None):
            raise NotUnderstood("the first ones in another order")
        return first

    def _ranked_groups(self, is_ascending: bool) -> Question:
        """“各大区按销售额排名”: every group with the figure it is ranked by."""
        having = sums_of_groups(self.filters, self.references)
        if not self.row.letters and self.rank is None and len(having) == 1:  # “销售额超过100万的是哪几个月”
            return Question(figures=(having[0].figure,), groups=tuple(self.groups), is_ascending=is_ascending)
        times = {g.dimension.model for g in self.groups if isinstance(g, Period) and g.dimension}
        if not self.row.letters and self.rank is None and len(times) == len(self.groups) == 1:
            return Question(figures=(Rows(times.pop()),), groups=tuple(self.groups), is_ascending=is_ascending)
        if self.row.letters or self.rank is None:
            raise NotUnderstood("groups without a figure")
        return Question(figures=(self.rank,), groups=tuple(self.groups), is_ascending=is_ascending)

    def _ranked_list(self, is_ascending: bool) -> Question:
        """“List the employees by number of orders”: everyone with their figure."""
        if self.row.letters != "M" or self.rank is None:
            raise NotUnderstood("an order by a figure that is not shown")
        return Question(figures=(self.rank,), groups=(self.group(self.row.items[0]),), is_ascending=is_ascending)

    def _is_amount(self, question: Question) -> bool:
        """“How much” asks for a sum or a column of numbers, never for things."""
        lexicon = self.references.lexicon
        of_numbers = any(lexicon.dimension(column).type == "number" for column in question.columns)
        return of_numbers or any(not isinstance(figure, Rows) for figure in question.figures)

    def _the_one(self, question: Question) -> Question:
        """“饮料里最贵的是哪个”: the thing, and not its price."""
        figure = question.figures[0] if len(question.figures) == 1 and not question.groups else None
        is_extreme = isinstance(figure, Aggregate) and figure.agg in ("max", "min")
        if not is_extreme or figure.of.model in self.references.mentioned or question.related:  # type: ignore[union-attr]
            return question
        column = figure.of  # type: ignore[union-attr]  # an Aggregate
        return Question(of=column.model, order=column, is_ascending=figure.agg == "min", limit=1)  # type: ignore[union-attr]

    def _take_each(self) -> None:
        """“… in Germany and Norway respectively”, “华东和华南各有多少”: grouped by the column of several values."""
        is_compared = any(i.kind is Kind.EACH and i.text.lower() not in _SEVERALLY for i in self.row.items)
        is_said = self.is_severally = self.row.drop(Kind.EACH)
        dangling = self._dangling()
        if not is_said and not dangling:
            return
        self.filters.merge_values()
        several = [condition for condition in self.filters.values if len(condition.values) > 1 and not condition.is_not]
        is_grouped = any(item.kind in (Kind.GROUP, Kind.PERIOD) for item in self.row.items)
        if is_grouped and dangling and not several:
            return  # “每家物流公司各承运了多少订单”: said again
        column = self.row.take("#?U?d(?=C|M|m)") if dangling and not several else None  # “不同行业各有多少客户”
        if column and column[0].kind is Kind.NUMBER:
            self.require_all(column[0], column[-1])
        if len(several) == 1:
            self.groups.append(several[0].dimension)
        elif column:
            self.groups.append(self.references.dimension(column[-1]))
            self.row.put_back_owners(column)
        elif is_compared and not is_grouped:
            raise NotUnderstood("compared with what")
        elif dangling:
            raise NotUnderstood("each of what")

    def _dangling(self) -> bool:
        """Whether “各” stands before the figure and not before what is grouped by; it is taken out then."""
        items = self.row.items
        for item, after in zip(items, [*items[1:], None], strict=False):
            if item.kind is Kind.GROUP and item.text in ("各", "各自") and (after is None or after.kind in _FIGURES):
                self.row.items = [other for other in items if other is not item]
                return True
        return False

    def _filtered(self, question: Question) -> Question:
        f = self.filters
        f.require_possible()
        self._require_own_times(question)
        asked = {question.of, *(model_of_figure(figure) for figure in question.figures)}
        self._require_one(asked)
        self._require_own_values(asked)
        if any(one.is_not and one.model in asked for one in f.related):
            raise NotUnderstood("things without themselves")
        counts = bool(f.having) and question.figures != () and not question.groups
        question = replace(
            question,
            values=tuple(f.values), numbers=tuple(f.numbers), missing=tuple(f.missing), having=tuple(f.having),
            times=tuple(f.times), others=tuple(f.others),
            related=(*question.related, *f.related), counts_groups=counts,
        )  # fmt: skip
        return self._beside(self._groups_counted(self._per_period(question)))

    def _per_period(self, question: Question) -> Question:
        """“How many customers ordered each month”: those who ordered in it, whenever they became customers."""
        is_plain = len(question.figures) == 1 and isinstance(question.figures[0], Rows) and len(question.related) == 1
        periods = [group for group in question.groups if isinstance(group, Period) and group.dimension is None]
        if not is_plain or not periods or question.related[0].is_not:
            return question
        name = question.related[0].model
        default = self.references.lexicon.model(name).defaults.agg_time_dimension
        if not default or Joins(self.references.lexicon.layer).up(name, question.figures[0].model) is None:  # type: ignore[union-attr]
            return question
        dated = {period: replace(period, dimension=DimensionRef(name, default)) for period in periods}
        groups = tuple(dated.get(group, group) for group in question.groups)  # type: ignore[arg-type]
        times = tuple(
            replace(time, model=None, dimension=DimensionRef(name, default)) if time.model == name else time
            for time in question.times
        )
        return replace(question, groups=groups, related=(), times=times)

    def _require_one(self, asked: set[str | None]) -> None:
        """“Customers who bought software and gateways”: of both, not of one of them. Raises NotUnderstood."""
        joins = Joins(self.references.lexicon.layer)
        for column in self.filters.both:
            if any(name and joins.up(name, column.model) is None for name in asked) or self._is_had():
                raise NotUnderstood("one of them, or both")

    def _is_had(self) -> bool:
        """“Cities that have an Italian and a Mexican restaurant”: a column’s value that has both, not rows of either."""
        items = [i for i in self.references.items if i.kind not in (Kind.LIST, Kind.ASK, Kind.COUNT, Kind.DISTINCT)]
        return (
            items[:1] != []
            and items[0].kind is Kind.DIMENSION
            and any(item.text.lower() in ("have", "has", "with") for item in items[1:3])
        )

    def _require_own_values(self, asked: set[str | None]) -> None:
        """“来自英国的乐队”: the country of who bought their songs is none of theirs. Raises NotUnderstood."""
        joins, lexicon = Joins(self.references.lexicon.layer), self.references.lexicon
        for one in self.filters.values:
            about = {*asked, *self.references.mentioned} - {None}
            is_reached = any(joins.up(name, one.dimension.model) is not None for name in about if name)
            if not is_reached and not lexicon.dimension(one.dimension).is_name:
                raise NotUnderstood("whose it is")

    def _require_own_times(self, question: Question) -> None:
        """“上个月新签的订单”: a time of the customers is none of the orders. Raises NotUnderstood where its table is not named."""
        asked = {question.of} if question.of else {model_of_figure(figure) for figure in question.figures}
        joins = Joins(self.references.lexicon.layer)
        for time in self.filters.times:
            owner = time.dimension.model if time.dimension else ""
            if not owner or owner in asked or owner in self.references.mentioned:
                continue
            leads = [(joins.up(name, owner), joins.up(owner, name)) for name in asked if name]
            if any(to is not None or back is None for to, back in leads):  # or one that does not even belong to it
                raise NotUnderstood("a time of another thing")

    def _groups_counted(self, question: Question) -> Question:
        """“How many countries have more than 5 customers”: the groups that fulfil it."""
        figure = question.figures[0] if len(question.figures) == 1 else None
        if not question.counts_groups or not isinstance(figure, Aggregate) or figure.agg != "count_distinct":
            return question
        if len(question.having) != 1:
            raise NotUnderstood("several figures of a column")
        return replace(
            question,
            figures=(question.having[0].figure,),
            groups=(figure.of,),
            counts_groups=False,
            derived=CountOfGroups(),
        )

    def _beside(self, question: Question) -> Question:
        """Figures of several tables are questions of their own, put side by side."""
        models = {model_of_figure(figure) for figure in question.figures}
        if len(models) < 2:
            return question
        times = tuple(replace(time, model=None) for time in question.times)
        related = tuple(one for one in question.related if one.model not in models)
        each = [replace(question, figures=(figure,), times=times, related=related) for figure in question.figures]
        return replace(each[0], derived=Beside(tuple(each[1:])))

    def _order(self) -> tuple[DimensionRef | None, bool]:
        """“sorted by price, descending”, “按单价从高到低排序”: the column, and whether it ascends."""
        sorted_by = (
            self.row.take(
                "G(?:[ndt]|m|CM|MC)[DE]?O[DE]?|G(?:[ndt]|m|CM|MC)[DE]|O[ED]$|(?<=m)O$|(?<=CM)O$|(?<=MC)O$|(?<=[CMm])[DE]O?$|(?<=[CMm]L)[DE]O?$"
            )
            if self.is_chinese
            else self.row.take("OG?(?:[ndt]|m|CM|MC)?[DE]*$|(?:(?<=^M)|(?<=^LM))G[nt][DE]+$|[DE]$")
        )
        if sorted_by is None:
            return None, False
        column = next((i for i in sorted_by if i.kind in (Kind.QUANTITY, Kind.DIMENSION, Kind.TIME)), None)
        if column is None and any(item.kind in (Kind.MEASURE, Kind.COUNT) for item in sorted_by):
            self.rank = figure_of(
                self.references, [i for i in sorted_by if i.kind in (Kind.MEASURE, Kind.COUNT, Kind.MODEL)]
            )
        is_descending = any(item.kind is Kind.DESCENDING for item in sorted_by)
        is_ascending = any(item.kind is Kind.ASCENDING for item in sorted_by) or (
            column is not None and not is_descending
        )
        return (self.references.dimension(column) if column else None), is_ascending


def _over_rows(question: Question, lexicon: Lexicon) -> Question:
    """“Average freight per order”: an average over the rows of its own table is the plain one."""
    if len(question.figures) != 1 or len(question.groups) != 1 or question.limit:
        return question
    figure, group = question.figures[0], question.groups[0]
    is_own = isinstance(group, ModelRef) and group.model == model_of_figure(figure)
    return replace(question, groups=()) if is_own and lexicon.aggregation(figure) == "avg" else question


def _asks_which(item: Item) -> bool:
    """Whether a word asks for one of several things."""
    return item.kind is Kind.LIST and (
        item.text.lower() in ("which", "who") or item.text.lstrip("是分别都")[:1] in ("哪", "谁")
    )


def read_question(items: list[Item], lexicon: Lexicon, *, is_free: bool = False) -> Question:
    """The one reading of a question's items. is_free: though they are no known way to ask. Raises NotUnderstood."""
    is_chinese = any("\u3400" <= character <= "\u9fff" for item in items for character in item.text)
    if is_free and {item.kind for item in items} & _TWO_NUMBERS:
        raise NotUnderstood("which of two numbers")

    def read(some: list[Item]) -> Question:
        return Reader(Row(list(some)), References(lexicon, items), is_chinese, is_free=is_free).read()

    question = DerivedReader(lexicon, is_chinese, read).reading(items)
    return replace(question, accounted=tuple(item.text for item in items))
