"""From items to one reading: filters are taken out first, then groups, then what is left must be a known way to ask.

A row of items is written as a string of their kinds' letters, and a way to ask is a regular expression over it. What matches no
expression is not understood; nothing is dropped that was not read.
"""

import re
from dataclasses import dataclass, field, replace

from agent.business.ask.filters import Filters, take_filters
from agent.business.ask.function_words import Kind
from agent.business.ask.items import Item, Row
from agent.business.ask.lexicon import DimensionRef, Lexicon, MeasureRef, ModelRef
from agent.business.ask.meaning import (
    Aggregate,
    Figure,
    Group,
    NotUnderstood,
    Period,
    Question,
    Related,
    Rows,
)
from agent.business.ask.references import References

_AGGREGATIONS = {Kind.SUM: "sum", Kind.AVG: "avg", Kind.MAX: "max", Kind.MIN: "min"}
_FIGURE = "(?:CU?M|MC|[SV]?m|m[SV]|[SVXN][nt]|[nt][SVXN]|CU[dnt]|Cd)"


@dataclass
class Reader:
    """One question being read."""

    row: Row
    references: References
    is_chinese: bool
    filters: Filters = field(default_factory=Filters)
    groups: list[Group] = field(default_factory=list)

    def read(self) -> Question:
        is_list = any(item.kind is Kind.LIST for item in self.row.items)
        is_asked = self.row.drop(Kind.ASK)
        self.row.drop(Kind.ALL, Kind.STOP)
        self.filters = take_filters(self.row, self.references, is_chinese=self.is_chinese)
        order = self._order()
        top = self._top(is_list=is_list, is_asked=is_asked)
        if top is not None:
            return self._filtered(top)
        self._take_groups()
        self.row.drop(Kind.LIST)
        figures = self._figures()
        if figures:
            return self._filtered(replace(figures, is_ascending=order[1]))
        if self.groups:
            raise NotUnderstood("groups without a figure")
        listed = self._listed(is_plain=is_list or is_asked)
        return self._filtered(replace(listed, order=order[0], is_ascending=order[1]))

    def _filtered(self, question: Question) -> Question:
        f = self.filters
        counts = bool(f.having) and question.figures != () and not question.groups
        return replace(
            question,
            values=tuple(f.values), numbers=tuple(f.numbers), having=tuple(f.having), times=tuple(f.times),
            related=(*question.related, *f.related), counts_groups=counts,
        )  # fmt: skip

    def _order(self) -> tuple[DimensionRef | None, bool]:
        """“sorted by price, descending”, “按单价从高到低排序”: the column, and whether it ascends."""
        sorted_by = (
            self.row.take("G(?:[ndt]|m|CM|MC)[DE]?O[DE]?|G(?:[ndt]|m|CM|MC)[DE]|O[ED]$")
            if self.is_chinese
            else self.row.take("OG?(?:[ndt]|m|CM|MC)?[DE]?$|[DE]$")
        )
        if sorted_by is None:
            return None, False
        column = next((i for i in sorted_by if i.kind in (Kind.QUANTITY, Kind.DIMENSION, Kind.TIME)), None)
        is_descending = any(item.kind is Kind.DESCENDING for item in sorted_by)
        is_ascending = any(item.kind is Kind.ASCENDING for item in sorted_by) or (
            column is not None and not is_descending
        )
        return (self.references.dimension(column) if column else None), is_ascending

    def _top(self, *, is_list: bool, is_asked: bool) -> Question | None:
        """“top 5 products by revenue”, “销售额最高的5个产品”, “which customer has the most orders”."""
        letters = self.row.letters
        figure = "(?:CM|MC|m|n|t|M)"
        patterns = [
            rf"L?(?P<top>T)(?P<n>#)?(?P<target>[Mdg])(?:G|[XN])?(?P<figure>{figure})",  # top 5 products by revenue
            r"L?(?P<top>T)(?P<n>#)(?P<way>[XN])(?P<figure>n|m)(?P<target>M)",
        ]
        if self.is_chinese:
            patterns = [
                rf"L?G?(?P<figure>{figure})(?P<way>[XN])?O?(?P<top>T)?(?P<n>#)?(?P<target>[Md])L?",
                r"(?P<way>[XN])(?P<figure>[nt])(?P<n>#)?(?P<target>M)L?",
                rf"L(?P<n>#)?(?P<target>[Mdg])(?P<figure>{figure})(?P<way>[XN])",
                rf"(?P<target>[Mdg])(?P<figure>{figure})(?P<way>[XN])L",
                rf"G?(?P<figure>{figure})O?(?P<top>T)(?P<n>#)(?P<target>[Md])L?",
                rf"(?P<target>[Md])(?P<figure>{figure})O?(?P<top>T)(?P<n>#)L?",
            ]
        else:
            patterns += [
                rf"L?(?P<n>#)?(?P<target>[Mdg])(?P<way>[XN])(?P<figure>{figure})",
                r"L(?P<way>[XN])?(?P<figure>n)(?P<target>M)" if is_list and not is_asked else r"(?!)",
            ]
        for pattern in patterns:
            found = re.fullmatch(pattern, letters)
            if found and (found.groupdict().get("way") or found.groupdict().get("top")):
                return self._superlative(found)
        return None

    def _superlative(self, found: re.Match[str]) -> Question:
        part = found.groupdict()
        number = self.row.items[found.start("n")].number if part.get("n") else None
        if part.get("top") and number is None:
            raise NotUnderstood("how many of the first")
        target = self.row.items[found.start("target")]
        figure_items = self.row.items[found.start("figure") : found.end("figure")]
        is_ascending = part.get("way") == Kind.MIN.value
        limit = int(number) if number else 1
        if part["figure"] in ("n", "t"):
            column = self.references.dimension(figure_items[0])
            model = self.references.model(target) if target.kind is Kind.MODEL else ""
            if model != column.model:
                raise NotUnderstood("a superlative over another table's column")
            return Question(of=model, order=column, is_ascending=is_ascending, limit=limit)
        figure = self._figure_of(figure_items)
        return Question(figures=(figure,), groups=(self._group(target),), is_ascending=is_ascending, limit=limit)

    def _take_groups(self) -> None:
        one = "(?:g[td]|tg|[Mdgt])"
        while True:
            taken = self.row.take(f"G{one}(?:&{one})*") or self.row.take("Gg|gt|tg|g")
            if taken is None:
                return
            self._add_groups([item for item in taken if item.kind not in (Kind.GROUP, Kind.AND)])

    def _add_groups(self, items: list[Item]) -> None:
        period = next((item for item in items if item.kind is Kind.PERIOD), None)
        time = next((item for item in items if item.kind is Kind.TIME), None)
        for item in items:
            if item is time and period is not None:
                continue
            if item is period:
                column = self.references.dimension(time) if time else None
                self.groups.append(Period(item.sign, column))  # type: ignore[arg-type]  # one of PERIODS
            else:
                self.groups.append(self._group(item))

    def _group(self, item: Item) -> Group:
        if item.kind is Kind.MODEL:
            return ModelRef(self.references.model(item))
        if item.kind is Kind.PERIOD:
            return Period(item.sign)  # type: ignore[arg-type]  # one of PERIODS
        return self.references.dimension(item)

    def _figures(self) -> Question | None:
        """One figure, or several joined by “and”; tables named beside them must be related."""
        letters = self.row.letters
        found = re.fullmatch(rf"(?P<before>M*)(?P<figures>{_FIGURE}(?:&{_FIGURE})*)(?P<after>M*)", letters)
        if found is None:
            return None
        figures: list[Figure] = []
        for piece in re.finditer(_FIGURE, found["figures"]):
            start = found.start("figures")
            figures.append(self._figure_of(self.row.items[start + piece.start() : start + piece.end()]))
        beside = [
            self.references.model(item)
            for group in ("before", "after")
            for item in self.row.items[found.start(group) : found.end(group)]
        ]
        related = [Related(name) for name in beside if all(name != _model_of(figure) for figure in figures)]
        return Question(figures=tuple(figures), groups=tuple(self.groups), related=tuple(related))

    def _figure_of(self, items: list[Item]) -> Figure:
        kinds = {item.kind: item for item in items}
        if Kind.MEASURE in kinds:
            return self._measure(kinds)
        if Kind.MODEL in kinds:
            return Rows(self.references.model(kinds[Kind.MODEL]))
        column = next(item for item in items if item.kind in (Kind.QUANTITY, Kind.DIMENSION, Kind.TIME))
        ref = self.references.dimension(column)
        if Kind.COUNT in kinds:
            return Aggregate("count_distinct", ref)
        way = next(kind for kind in kinds if kind in _AGGREGATIONS)
        if column.kind is Kind.TIME and way in (Kind.SUM, Kind.AVG):
            raise NotUnderstood("times are not added")
        return Aggregate(_AGGREGATIONS[way], ref)  # type: ignore[arg-type]  # one of _AGGREGATIONS

    def _measure(self, kinds: dict[Kind, Item]) -> MeasureRef:
        ref = self.references.measure(kinds[Kind.MEASURE])
        agg = self.references.lexicon.measure(ref).agg
        if Kind.AVG in kinds and agg != "avg":
            raise NotUnderstood("an average of a total: over what?")
        if Kind.SUM in kinds and agg not in ("sum", "count", "count_distinct"):
            raise NotUnderstood("a total of an average")
        return ref

    def _listed(self, *, is_plain: bool) -> Question:
        """A list of things, or of columns of things. In Chinese the thing comes last, in English first."""
        is_distinct = self.row.drop(Kind.DISTINCT)
        letters = self.row.letters
        if not letters and is_plain and len(self.filters.models()) == 1:
            return Question(
                of=self.filters.models().pop()
            )  # “which products' prices are above 50”: named with its column
        if re.fullmatch("M+", letters):
            models = [self.references.model(item) for item in self.row.items]
            if self.is_chinese:
                models.reverse()
            if not is_plain and self.filters.is_empty():
                raise NotUnderstood("a thing, and nothing asked about it")
            return Question(of=models[0], related=tuple(Related(name) for name in models[1:]))
        if re.fullmatch("M?&?[dnt](?:&?[dnt])*M?", letters) and is_plain:
            columns = tuple(
                self.references.dimension(i) for i in self.row.items if i.kind not in (Kind.MODEL, Kind.AND)
            )
            models = [self.references.model(item) for item in self.row.items if item.kind is Kind.MODEL]
            of = models[0] if models else columns[0].model
            name = self.references.lexicon.model(of).name_dimension
            if letters.startswith("M") and name and DimensionRef(of, name.name) not in columns:
                columns = (DimensionRef(of, name.name), *columns)  # “the cities with their population”
            if not models and len({column.model for column in columns}) > 1:
                raise NotUnderstood("columns of several tables, and none is named")
            return Question(of=of, columns=columns, is_distinct=is_distinct)
        raise NotUnderstood("no known way to ask")


def _model_of(figure: Figure) -> str:
    return figure.of.model if isinstance(figure, Aggregate) else figure.model


def read_question(items: list[Item], lexicon: Lexicon) -> Question:
    """The one reading of a question's items. Raises NotUnderstood."""
    is_chinese = any("\u3400" <= character <= "\u9fff" for item in items for character in item.text)
    question = Reader(Row(list(items)), References(lexicon, items), is_chinese).read()
    return replace(question, accounted=tuple(item.text for item in items))
