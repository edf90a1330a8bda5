"""WHERE: the conditions of a reading, on the rows themselves or on rows that belong to them."""

import re
from dataclasses import dataclass, replace

from agent.business.ask.meaning import (
    Aggregate,
    AnyOf,
    ColumnFilter,
    Condition,
    Figure,
    FigureFilter,
    Missing,
    NotUnderstood,
    NumberFilter,
    Question,
    Related,
    TextFilter,
    TimeFilter,
    ValueFilter,
    WeekdayFilter,
    YearlyFilter,
)
from agent.business.ask.sql.figures import (
    carrier_of,
    figure_sql,
    fixed_sql,
    model_of_figure,
    name_of_figure,
    number_sql,
    require_kept,
)
from agent.business.ask.sql.joins import Joins
from agent.business.ask.sql.source import Source
from agent.business.ask.words.lexicon import DimensionRef, Lexicon, MeasureRef
from agent.business.guard.rewrite import literal, quoted

_INVERSE = {"<": ">=", "<=": ">"}


@dataclass(frozen=True)
class Conditions:
    """The conditions of one question."""

    question: Question
    lexicon: Lexicon
    joins: Joins

    def where(self, source: Source, figures: tuple[Figure, ...]) -> str:
        question = self.question
        parts: list[str] = []
        conditions: list[Condition] = [
            *question.values, *question.numbers, *question.missing, *question.times, *question.related, *question.others
        ]  # fmt: skip
        far: dict[str, list[Condition]] = {}
        for condition in conditions:
            model = self._model_of_condition(condition, source)
            if isinstance(condition, Related) and condition.is_not and (key := source.own_key(model)):
                parts.append(f"{key} IS NULL")  # “authors without an organization”
            elif source.reaches(model) and not (isinstance(condition, Related) and condition.is_not):
                text = self._condition(condition, source)
                parts += [text] if text else []
            else:
                if any(isinstance(f, MeasureRef) for f in figures) and not isinstance(condition, Related):
                    raise NotUnderstood("a sum over parts of what is added")
                far.setdefault(model, []).append(condition)
        if question.having and not question.groups:
            parts += self._memberships(source, [condition for found in far.values() for condition in found])
        else:
            parts += self._belonging(source, far)
        if len(figures) == 1 and isinstance(figures[0], MeasureRef):
            measure = self.lexicon.measure(figures[0])
            if measure.filter:
                parts.append(fixed_sql(measure.filter, source.alias(figures[0].model)))
        default = self.lexicon.model(source.base).default_filter
        if default:
            parts.append(fixed_sql(default, source.alias(source.base)))
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def _condition(self, condition: Condition, source: Source) -> str:
        match condition:
            case Related(model=model):
                source.alias(model)
                text = ""
            case ValueFilter(dimension=column):
                text = _values(source.column(column), condition)
            case Missing(dimension=column, is_not=is_not):
                text = f"{source.column(column)} IS {'NOT ' if is_not else ''}NULL"
            case NumberFilter():
                text = self._number(condition, source)
            case ColumnFilter(dimension=column, sign=sign, other=other):
                text = f"{source.column(column)} {sign} {source.column(other)}"
            case YearlyFilter(dimension=column, month=month, day=day):
                text = f"extract(month FROM {source.column(column)}) = {month}"
                text += f" AND extract(day FROM {source.column(column)}) = {day}" if day else ""
            case TextFilter():
                text = _text(source.column(condition.dimension), condition)
            case AnyOf(choices=choices):
                text = f"({' OR '.join(_values(source.column(one.dimension), one) for one in choices)})"
            case TimeFilter() | WeekdayFilter():
                text = self._time(condition, source)
        return text

    def _time(self, condition: TimeFilter | WeekdayFilter, source: Source) -> str:
        ref = self._time_meant(condition, source)
        if condition.dimension is None:
            self._require_dated(ref.model)
        require_kept(self.lexicon.dimension(ref), "day" if isinstance(condition, WeekdayFilter) else _finest(condition))
        if isinstance(condition, WeekdayFilter):
            return f"extract(isodow FROM {source.column(ref)}) IN ({', '.join(map(str, condition.days))})"
        return _window(source.column(ref), condition)

    def _number(self, condition: NumberFilter, source: Source) -> str:
        column = source.column(condition.dimension)
        if condition.of_average:
            model = condition.dimension.model
            average = Source(model, self.lexicon, self.joins, prefix="a")
            own = self.lexicon.model(model).default_filter
            where = f" WHERE {fixed_sql(own, average.alias(model))}" if own else ""
            of_all = f"(SELECT avg({average.column(condition.dimension)}) FROM {average.text()}{where})"
            return f"{column} {condition.sign} {of_all}"
        if condition.sign == "between":
            return f"{column} BETWEEN {number_sql(condition.number)} AND {number_sql(condition.upper or 0)}"
        return f"{column} {condition.sign} {number_sql(condition.number)}"

    def _time_meant(self, condition: TimeFilter | WeekdayFilter, source: Source) -> DimensionRef:
        return condition.dimension or self.time_of(condition.model or source.base, source)

    def _belonging(self, source: Source, far: dict[str, list[Condition]]) -> list[str]:
        """Conditions on rows that belong to this one: all of the same row, where one table has them all."""
        try:
            carrier = carrier_of(source.base, list(far), self.lexicon, self.joins) if len(far) > 1 else ""
        except NotUnderstood:
            carrier = ""
        if not carrier:
            return [self._exists(source, [model], found) for model, found in far.items()]
        conditions = [condition for found in far.values() for condition in found]
        negated = [c for c in conditions if isinstance(c, Related) and c.is_not]
        if any(not one.is_narrowed for one in negated):
            raise NotUnderstood("without which of the rows")
        return [self._exists(source, list(far), conditions)]

    def _exists(self, source: Source, models: list[str], conditions: list[Condition]) -> str:
        """Whether a row of other tables belongs to this one. “Not” is said of all conditions on those tables together."""
        carrier = carrier_of(source.base, models, self.lexicon, self.joins)
        inner = Source(carrier, self.lexicon, self.joins, prefix="e")
        key = self.lexicon.model(source.base).primary
        if key is None:
            raise NotUnderstood(f"{source.base} has no key")
        negations = [c for c in conditions if getattr(c, "is_not", False)]
        if negations and any(isinstance(c, ValueFilter) for c in negations) and len(conditions) > 1:
            raise NotUnderstood("not which of them")
        positive = [replace(c, is_not=False) if isinstance(c, ValueFilter | Related) else c for c in conditions]
        for model in models:
            inner.alias(model)
        parts = [text for c in positive if (text := self._condition(c, inner))]
        parts.insert(0, f"{inner.alias(source.base)}.{quoted(key.expr)} = {source.key(source.base)}")
        word = "NOT EXISTS" if negations else "EXISTS"
        return f"{word} (SELECT 1 FROM {inner.text()} WHERE {' AND '.join(parts)})"

    def _memberships(self, source: Source, far: list[Condition]) -> list[str]:
        """Conditions on figures of the things; what else is said of those other rows is said of the rows that are counted."""
        having = self.question.having
        if far and (len(having) > 1 or any(getattr(condition, "is_not", False) for condition in far)):
            raise NotUnderstood("which rows are counted")
        return [self._membership(source, condition, far) for condition in having]

    def figures_of_each(self, source: Source) -> list[str]:
        """The figures that a list of things is cut by, of each thing, to be shown beside it."""
        conditions: list[Condition] = [*self.question.values, *self.question.numbers, *self.question.missing]
        conditions += self.question.times
        conditions += [*self.question.related, *self.question.others]
        far = [c for c in conditions if not source.reaches(self._model_of_condition(c, source))]
        found = []
        for condition in self.question.having:
            inner, sql, where = self._counted(source, condition, far)
            own = f"{inner.key(source.base)} = {source.key(source.base)}"
            text = f"SELECT {sql} FROM {inner.text()}{where}{' AND ' if where else ' WHERE '}{own}"
            found.append(f"({text}) AS {quoted(name_of_figure(condition.figure))}")
        return found

    def _membership(self, source: Source, condition: FigureFilter, far: list[Condition]) -> str:
        """Things whose figure over the rows that belong to them is above or below a number; none at all counts as zero."""
        if condition.sign == "=" and condition.number == 0:
            raise NotUnderstood("exactly none")
        inner, sql, where = self._counted(source, condition, far)
        key = inner.key(source.base)
        is_average = isinstance(condition.figure, Aggregate) and condition.figure.agg == "avg"  # of none there is none
        inverse = {} if is_average else _INVERSE
        sign = inverse.get(condition.sign, condition.sign)
        word = "NOT IN" if condition.sign in inverse else "IN"
        inside = f"SELECT {key} FROM {inner.text()}{where}{' AND ' if where else ' WHERE '}{key} IS NOT NULL"
        return f"{source.key(source.base)} {word} ({inside} GROUP BY {key} HAVING {sql} {sign} {number_sql(condition.number)})"

    def _counted(self, source: Source, condition: FigureFilter, far: list[Condition]) -> tuple[Source, str, str]:
        """The rows a figure of each thing is made of, the figure, and their conditions."""
        figure = condition.figure
        model = model_of_figure(figure)
        if model == source.base:
            raise NotUnderstood("a figure of each row")
        carrier = (
            model
            if self.joins.up(model, source.base) is not None
            else carrier_of(source.base, [model], self.lexicon, self.joins)
        )
        inner = Source(carrier, self.lexicon, self.joins, prefix="h")
        sql, _name = figure_sql(figure, inner, model if carrier != model else "")
        where = Conditions(Question(figures=(figure,)), self.lexicon, self.joins).where(inner, (figure,))
        told = [text for other in far if (text := self._condition(other, inner))]
        where += f"{' AND ' if where else ' WHERE '}{' AND '.join(told)}" if told else ""
        inner.key(source.base)
        return inner, sql, where

    def _require_dated(self, model: str) -> None:
        """“上个月离职了多少人”: the only time there is, is another one. Raises NotUnderstood."""
        for condition in self.question.values:
            index = self.lexicon.dimension(condition.dimension).values if condition.dimension.model == model else ()
            if any(value.is_undated and value.value in condition.values for value in index):
                raise NotUnderstood("when that happened is not in the data")

    def _model_of_condition(self, condition: Condition, source: Source) -> str:
        if isinstance(condition, Related):
            return condition.model
        if isinstance(condition, AnyOf):
            return _one_table([choice.dimension.model for choice in condition.choices], source)
        if isinstance(condition, TimeFilter | WeekdayFilter):
            return self._time_meant(condition, source).model
        return condition.dimension.model

    def time_of(self, name: str, source: Source) -> DimensionRef:
        """The time of a table's rows: its own, else that of the nearest table it points to, else what the figure is counted by."""
        own = self._own_time(name)
        if own is None and name != source.base:
            own = self._own_time(source.base)
        if own is None:
            raise NotUnderstood(f"{name} has no time of its own")
        return own

    def _own_time(self, name: str) -> DimensionRef | None:
        for figure in self.question.figures:
            if isinstance(figure, MeasureRef) and figure.model == name and (time := self.lexicon.measure(figure).time):
                return DimensionRef(name, time)
        own = self.lexicon.model(name).defaults.agg_time_dimension
        if own:
            return DimensionRef(name, own)
        if (
            self.lexicon.model(name).name_dimension is not None
        ):  # a thing of its own, and no line of another table's rows
            return None
        ways = sorted(
            (len(way), model.name, model.defaults.agg_time_dimension)
            for model in self.lexicon.layer.semantic_models
            if model.defaults.agg_time_dimension and (way := self.joins.up(name, model.name))
        )
        if not ways or (len(ways) > 1 and ways[0][0] == ways[1][0]):
            return None
        return DimensionRef(ways[0][1], ways[0][2])


def _one_table(names: list[str], source: Source) -> str:
    """The table that several conditions are about; the source's own where keys lead from it to each of them."""
    if len(set(names)) == 1:
        return names[0]
    if any(not source.reaches(name) for name in names):
        raise NotUnderstood("a choice between rows of different tables")
    return source.base


def _values(column: str, condition: ValueFilter) -> str:
    values = ", ".join(literal(value) for value in dict.fromkeys(condition.values))
    if condition.is_not:
        return f"({column}::text NOT IN ({values}) OR {column} IS NULL)"
    return f"{column}::text IN ({values})"


def _finest(condition: TimeFilter) -> str:
    """The coarsest calendar unit whose borders are those of a window."""
    edges = [edge for edge in (condition.window.start, condition.window.end) if edge]
    if any(edge.day != 1 for edge in edges):
        return "day"
    return "month" if any(edge.month != 1 for edge in edges) else "year"


_LIKE = {"contains": "%{}%", "starts": "{}%", "ends": "%{}", "like": "{}"}


def _text(column: str, condition: TextFilter) -> str:
    plain = re.sub(r"([%_\\])", r"\\\1", condition.text)
    pattern = _LIKE[condition.where].format(plain.replace(" ", "_") if condition.where == "like" else plain)
    if condition.is_not:
        return f"({column} NOT ILIKE {literal(pattern)} OR {column} IS NULL)"
    return f"{column} ILIKE {literal(pattern)}"


def _window(column: str, condition: TimeFilter) -> str:
    window = condition.window
    parts = [f"{column} >= '{window.start}'"] if window.start else []
    parts += [f"{column} < '{window.end}'"] if window.end else []
    return " AND ".join(parts)
