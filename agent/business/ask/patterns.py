"""From items to one reading: filters are taken out first, then groups, then what is left must be a known way to ask.

A row of items is written as a string of their kinds' letters, and a way to ask is a regular expression over it. What matches no
expression is not understood; nothing is dropped that was not read.
"""

import re
from dataclasses import dataclass, field, replace

from agent.business.ask.filters import Filters, take_filters
from agent.business.ask.function_words import Kind
from agent.business.ask.items import Item, Row
from agent.business.ask.joins import Joins
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
_FIGURES = (Kind.COUNT, Kind.MEASURE, Kind.SUM, Kind.AVG)
_RANKING = "(?:CM|MC|m)"
_FIGURE = "(?:CU?M|MC|Cm|mC|[SV]?m|m[SV]|[SVXN][nt]|[nt][SVXN]|CU[dnt]|Cd)"


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
        how_much = self.row.drop(Kind.MUCH)
        is_asked = self.row.drop(Kind.ASK) or how_much
        self.row.drop(Kind.ALL, Kind.STOP)
        self.filters = take_filters(self.row, self.references, is_chinese=self.is_chinese)
        self._take_each()
        question = self._ranked() or self._read(is_list=is_list, is_asked=is_asked)
        if how_much and not self._is_amount(question):
            raise NotUnderstood("how much of what")
        return self._filtered(question)

    def _read(self, *, is_list: bool, is_asked: bool) -> Question:
        order = self._order()
        top = self._top(is_list=is_list, is_asked=is_asked) or self._who()
        if top is not None:
            return top
        self._take_groups()
        self.row.drop(Kind.LIST)
        figures = self._figures(is_list=is_list)
        if figures:
            return replace(figures, is_ascending=order[1])
        if self.groups:
            raise NotUnderstood("groups without a figure")
        listed = self._by_figure(self._listed(is_plain=is_list or is_asked))
        return replace(listed, order=order[0], is_ascending=order[1])

    def _by_figure(self, question: Question) -> Question:
        """“Which offices have more than 10 employees”: values of a column by their figure, not rows by theirs."""
        having, columns = self.filters.having, question.columns
        if not having or not columns or question.figures:
            return question
        lexicon = self.references.lexicon
        if any(lexicon.dimension(column).is_name for column in columns):
            return question
        if len(having) > 1 or question.order or question.related:
            raise NotUnderstood("several figures of a column")
        return Question(figures=(having[0].figure,), groups=columns)

    def _is_amount(self, question: Question) -> bool:
        """“How much” asks for a sum or a column of numbers, never for things."""
        lexicon = self.references.lexicon
        of_numbers = any(lexicon.dimension(column).type == "number" for column in question.columns)
        return of_numbers or any(not isinstance(figure, Rows) for figure in question.figures)

    def _take_each(self) -> None:
        """“… in Germany and Norway respectively”, “华东和华南各有多少”: grouped by the column of several values."""
        is_said = self.row.drop(Kind.EACH)
        dangling = self._dangling()
        if not is_said and not dangling:
            return
        self.filters.merge_values()
        several = [condition for condition in self.filters.values if len(condition.values) > 1 and not condition.is_not]
        column = self.row.take("U?d(?=C|M|m)") if dangling and not several else None  # “不同行业各有多少客户”
        if len(several) == 1:
            self.groups.append(several[0].dimension)
        elif column:
            self.groups.append(self.references.dimension(column[-1]))
            self.row.put_back_owners(column)
        elif dangling:
            raise NotUnderstood("each of what")

    def _dangling(self) -> bool:
        """Whether “各” stands before the figure and not before what is grouped by; it is taken out then."""
        items = self.row.items
        for item, after in zip(items, [*items[1:], None], strict=False):
            if item.kind is Kind.GROUP and item.text in ("各", "各自") and (after is None or after.kind in _FIGURES):
                items.remove(item)
                return True
        return False

    def _ranked(self) -> Question | None:
        """“Rank customers by revenue”, “customers ranked by revenue”: everyone with their figure."""
        found = re.fullmatch(
            rf"L?(?:O(?P<target>[Mdg])G(?P<figure>{_RANKING})|(?P<ranked>[Mdg])OG?(?P<by>{_RANKING}))(?P<way>[DE]?)",
            self.row.letters,
        )
        if found is None or self.is_chinese:
            return None
        name, by = ("target", "figure") if found["target"] else ("ranked", "by")
        figure = self._figure_of(self.row.items[found.start(by) : found.end(by)])
        target = self.row.items[found.start(name)]
        return Question(
            figures=(figure,), groups=(self._group(target),), is_ascending=found["way"] == Kind.ASCENDING.value
        )

    def _filtered(self, question: Question) -> Question:
        f = self.filters
        counts = bool(f.having) and question.figures != () and not question.groups
        return replace(
            question,
            values=tuple(f.values), numbers=tuple(f.numbers), missing=tuple(f.missing), having=tuple(f.having), times=tuple(f.times),
            related=(*question.related, *f.related), counts_groups=counts,
        )  # fmt: skip

    def _order(self) -> tuple[DimensionRef | None, bool]:
        """“sorted by price, descending”, “按单价从高到低排序”: the column, and whether it ascends."""
        sorted_by = (
            self.row.take(
                "G(?:[ndt]|m|CM|MC)[DE]?O[DE]?|G(?:[ndt]|m|CM|MC)[DE]|O[ED]$|(?<=m)O$|(?<=CM)O$|(?<=MC)O$|(?<=[Cm])[DE]$"
            )
            if self.is_chinese
            else self.row.take("OG?(?:[ndt]|m|CM|MC)?[DE]?$|[DE]$")
        )
        if sorted_by is None:
            return None, False
        column = next((i for i in sorted_by if i.kind in (Kind.QUANTITY, Kind.DIMENSION, Kind.TIME)), None)
        if column is None and any(item.kind in (Kind.MEASURE, Kind.COUNT) for item in sorted_by):
            raise NotUnderstood("an order by a figure that is not shown")
        is_descending = any(item.kind is Kind.DESCENDING for item in sorted_by)
        is_ascending = any(item.kind is Kind.ASCENDING for item in sorted_by) or (
            column is not None and not is_descending
        )
        return (self.references.dimension(column) if column else None), is_ascending

    def _top(self, *, is_list: bool, is_asked: bool) -> Question | None:
        """“top 5 products by revenue”, “销售额最高的5个产品”, “which customer has the most orders”."""
        letters = self.row.letters
        figure = "(?:CM|MC|Cm|mC|[SV]m|m[SV]|[SV]n|n[SV]|m|n|t|M)"
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
                r"L?(?P<n>#)?(?P<way>[XN])(?P<figure>[nt]|m)(?P<target>M)",
                r"L?(?P<way>[XN])(?P<n>#)(?P<figure>[nt]|m)(?P<target>M)",
                r"L?(?P<n>#)?(?P<target>M)(?P<figure>t)(?P<way>[XN])",
                r"L?(?P<n>#)?(?P<way>[XN])(?P<figure>m)(?P<target>[dg])",
                r"L?(?P<n>#)?(?P<way>[XN])(?P<after>#)?(?P<target>[Mdg])G?(?P<figure>m|CM)",
                r"L?(?P<n>#)?(?P<target>[Mdg])(?P<figure>m)(?P<way>[XN])",
            ]
        if bare := re.fullmatch(r"L?T(?:#|(?=M))(?P<target>M)L?|(?P<after>M)T#L?", letters):
            self._ask_by_what(self.row.items[bare.start("target" if bare["target"] else "after")])
        for pattern in patterns:
            found = re.fullmatch(pattern, letters)
            if found and (found.groupdict().get("way") or found.groupdict().get("top")):
                return self._superlative(found)
        return None

    def _who(self) -> Question | None:
        """“Who was hired most recently”: the thing whose time is meant."""
        found = re.fullmatch("L(?:t[XN]|[XN]t)", self.row.letters)
        if found is None or self.row.items[0].text.lower() not in ("who", "谁"):
            return None
        column = self.references.dimension(next(item for item in self.row.items if item.kind is Kind.TIME))
        return Question(of=column.model, order=column, is_ascending=Kind.MIN.value in self.row.letters, limit=1)

    def _ask_by_what(self, item: Item) -> None:
        """“Top 5 products”, without saying by what: the measures that can rank them are the choices. Raises NotUnderstood."""
        lexicon = self.references.lexicon
        joins, target = Joins(lexicon.layer), self.references.model(item)
        figures = {
            measure.name: MeasureRef(model.name, measure.name)
            for model in reversed(lexicon.layer.semantic_models)
            for measure in reversed(model.measures)
            if model.name != target and joins.up(model.name, target) is not None
        }
        raise NotUnderstood("the first by which figure", figures=tuple(reversed(figures.values())))

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

    def _figures(self, *, is_list: bool) -> Question | None:
        """One figure, or several joined by “and”; tables named beside them must be related.

        “Customers by region” counts them; so does “how many” of values of one table alone, such as engineers.
        """
        letters = self.row.letters
        if letters == "M" and self.groups and not is_list:
            return Question(figures=(Rows(self.references.model(self.row.items[0])),), groups=tuple(self.groups))
        if re.fullmatch("MM+C", letters) and not self.is_chinese:  # “orders from customers in Brazil, how many?”
            names = [self.references.model(item) for item in self.row.items[:-1]]
            beside = [name for name in names[1:] if name != names[0]]
            return Question(
                figures=(Rows(names[0]),), groups=tuple(self.groups), related=tuple(Related(name) for name in beside)
            )
        if letters == "C":
            return Question(figures=(Rows(self._only_filtered()),), groups=tuple(self.groups))
        found = re.fullmatch(rf"(?P<before>M*)(?P<figures>{_FIGURE}(?:&{_FIGURE})*)(?P<after>M*)", letters)
        if found is None:
            return None
        figures: list[Figure] = []
        for piece in re.finditer(_FIGURE, found["figures"]):
            start = found.start("figures")
            figures.append(self._figure_of(self.row.items[start + piece.start() : start + piece.end()]))
        named = [
            self.references.model(item)
            for group in ("before", "after")
            for item in self.row.items[found.start(group) : found.end(group)]
        ]
        related = [Related(name) for name in named if all(name != _model_of(figure) for figure in figures)]
        return Question(figures=tuple(figures), groups=tuple(self.groups), related=tuple(related))

    def _only_filtered(self) -> str:
        """The one table that values are about where none is named. Raises NotUnderstood, too where the value is itself a thing."""
        models = self.filters.models()
        lexicon = self.references.lexicon
        named = any(lexicon.dimension(condition.dimension).is_name for condition in self.filters.values)
        if len(models) != 1 or named or not self.filters.values:
            raise NotUnderstood("how many of what")
        return models.pop()

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

    def _varies(self, column: DimensionRef) -> bool:
        return self.references.lexicon.dimension(column).type in ("number", "time")

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
        is_owned = letters.count("M") == 1 or any(item.is_owned for item in self.row.items)
        # “the e-mails of customers in Brazil”, “regions with more than 5 customers”
        is_phrase = bool(self.filters.having) or (is_owned and not self.filters.is_empty())
        if re.fullmatch("M?&?[dnt](?:&?[dnt])*M?", letters) and (is_plain or is_phrase):
            columns = tuple(
                self.references.dimension(i) for i in self.row.items if i.kind not in (Kind.MODEL, Kind.AND)
            )
            models = [self.references.model(item) for item in self.row.items if item.kind is Kind.MODEL]
            of = models[0] if models else columns[0].model
            name = self.references.lexicon.model(of).name_dimension
            tells_of_each = letters.startswith("M") or any(
                column.model == of and self._varies(column) for column in columns
            )
            if tells_of_each and name and not is_distinct and DimensionRef(of, name.name) not in columns:
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
