"""A reading becomes SQL: from one table along its keys, never through a join that would count a row twice."""

from dataclasses import dataclass, replace

from agent.business.ask.joins import Joins
from agent.business.ask.lexicon import DimensionRef, Lexicon, MeasureRef
from agent.business.ask.meaning import (
    Aggregate,
    Figure,
    FigureFilter,
    Group,
    Missing,
    NotUnderstood,
    NumberFilter,
    Period,
    Question,
    Related,
    Rows,
    TimeFilter,
    ValueFilter,
)
from agent.business.ask.source import Source
from agent.business.guard.rewrite import literal, quoted
from agent.business.layer.expressions import qualified

Condition = ValueFilter | NumberFilter | Missing | TimeFilter | Related
_INVERSE = {"<": ">=", "<=": ">"}
_PERIOD_FORMATS = {
    "day": "YYYY-MM-DD",
    "week": "YYYY-MM-DD",
    "month": "YYYY-MM",
    "quarter": 'YYYY-"Q"Q',
    "year": "YYYY",
}
_SHOWN_COLUMNS = 6  # of a thing that has no name


def build_sql(question: Question, lexicon: Lexicon) -> str:
    """The statement of a reading, without org units and limits, which the guard adds. Raises NotUnderstood."""
    return _Statement(question, lexicon, Joins(lexicon.layer)).text()


@dataclass
class _Statement:
    question: Question
    lexicon: Lexicon
    joins: Joins

    def text(self) -> str:
        if self.question.counts_groups:
            return self._count_of_things()
        return self._figures() if self.question.figures else self._list()

    # figures

    def _figures(self) -> str:
        question = self.question
        base, counts_key = self._base_of_figures()
        source = Source(base, self.lexicon, self.joins)
        figures = [self._figure(figure, source, counts_key) for figure in question.figures]
        groups = [part for group in question.groups for part in self._group(group, source)]
        where = self._where(source, question.figures)
        shown = [*(f"{sql} AS {quoted(name)}" for sql, name, is_shown in groups if is_shown)]
        shown += [f"{sql} AS {quoted(name)}" for sql, name in figures]
        text = f"SELECT {', '.join(shown)} FROM {source.text()}{where}"
        if groups:
            text += f" GROUP BY {', '.join(sql for sql, _name, _shown in groups)}"
            text += self._having(source)
            text += self._figure_order(len(shown), len(figures))
        return text

    def _having(self, source: Source) -> str:
        """Conditions on figures of each group; only where the group is what they are about."""
        parts = []
        for condition in self.question.having:
            if condition.figure not in self.question.figures:
                raise NotUnderstood("a condition on another figure than the one asked for")
            parts.append(
                f"{self._figure(condition.figure, source, '')[0]} {condition.sign} {_number(condition.number)}"
            )
        return f" HAVING {' AND '.join(parts)}" if parts else ""

    def _figure_order(self, shown: int, figures: int) -> str:
        question = self.question
        if question.limit is None and any(isinstance(group, Period) for group in question.groups):
            return " ORDER BY 1"
        way = "ASC" if question.is_ascending else "DESC"
        rest = ", ".join(str(n) for n in range(1, shown - figures + 1))
        order = f" ORDER BY {shown - figures + 1} {way} NULLS LAST{', ' if rest else ''}{rest}"
        return order + (f" LIMIT {question.limit}" if question.limit else "")

    def _base_of_figures(self) -> tuple[str, str]:
        """The table the rows come from, and, where it is a table between two, the table whose keys are counted once each."""
        models = {
            figure.of.model if isinstance(figure, Aggregate) else figure.model for figure in self.question.figures
        }
        if len(models) != 1:
            raise NotUnderstood("figures of several tables")
        base = models.pop()
        grouped = {name for group in self.question.groups if (name := _model_of(group))}
        far = [name for name in grouped if self.joins.up(base, name) is None]
        if not far:
            return base, ""
        if any(not isinstance(figure, Rows) for figure in self.question.figures):
            raise NotUnderstood("a sum would count rows twice")
        return self._carrier(base, far), base

    def _carrier(self, base: str, others: list[str]) -> str:
        """The one nearest table that points to `base` and to all the others."""
        ways = []
        for model in self.lexicon.layer.semantic_models:
            steps = [self.joins.up(model.name, name) for name in (base, *others)]
            found = [step for step in steps if step is not None]
            if len(found) == len(steps) and model.name != base:
                ways.append((sum(map(len, found)), model.name))
        ways.sort()
        if not ways or (len(ways) > 1 and ways[0][0] == ways[1][0]):
            raise NotUnderstood(f"no one way leads from {base} to {', '.join(others)}")
        return ways[0][1]

    def _figure(self, figure: Figure, source: Source, counts_key: str) -> tuple[str, str]:
        """SQL and name of a figure."""
        if isinstance(figure, Rows):
            return (f"count(DISTINCT {source.key(counts_key)})" if counts_key else "count(*)"), "count"
        if isinstance(figure, Aggregate):
            name = f"{figure.agg}_{figure.of.dimension}"[:60]
            column = source.column(figure.of)
            return (f"count(DISTINCT {column})" if figure.agg == "count_distinct" else f"{figure.agg}({column})"), name
        measure = self.lexicon.measure(figure)
        alias = source.alias(figure.model)
        inner = qualified(measure.expr, alias) if measure.expr else "*"
        if measure.agg == "count_distinct":
            text = f"count(DISTINCT {inner})"
        else:
            text = f"{measure.agg}({inner})"
        if measure.filter and len(self.question.figures) > 1:
            text += f" FILTER (WHERE {self._fixed(measure.filter, alias)})"
        return text, measure.name

    def _group(self, group: Group, source: Source) -> list[tuple[str, str, bool]]:
        """SQL, name, and whether it is shown, of what a group is made of: for a thing its key and its name."""
        if isinstance(group, Period):
            column = source.column(group.dimension or self._time_of(source.base, source))
            return [
                (f"to_char(date_trunc('{group.unit}', {column}), '{_PERIOD_FORMATS[group.unit]}')", group.unit, True)
            ]
        if isinstance(group, DimensionRef):
            return [(source.column(group), group.dimension, True)]
        model = self.lexicon.model(group.model)
        key = source.key(group.model) if model.primary else ""
        if model.name_dimension is None:
            if not key:
                raise NotUnderstood(f"{group.model} has neither key nor name")
            return [(key, group.model, True)]
        name = source.column(DimensionRef(group.model, model.name_dimension.name))
        parts = [(name, group.model, True)]
        return [*parts, (key, "key", False)] if key and key != name else parts

    # lists

    def _list(self) -> str:
        question = self.question
        if question.of is None:
            raise NotUnderstood("nothing to list")
        source = Source(question.of, self.lexicon, self.joins)
        columns = [source.column(ref) for ref in question.columns] or self._shown(question.of, source)
        where = self._where(source, ())
        is_distinct = question.is_distinct or (bool(question.columns) and not self._has_key(question))
        if is_distinct and not question.is_distinct and self._tells_of_each(question):
            columns, is_distinct = [source.key(question.of), *columns], False
        text = f"SELECT {'DISTINCT ' if is_distinct else ''}{', '.join(columns)} FROM {source.text()}{where}"
        if question.order is not None:
            way = "ASC" if question.is_ascending else "DESC"
            order = source.column(question.order)
            if is_distinct and order not in columns:
                raise NotUnderstood("an order by what is not shown")
            text = f"SELECT {'DISTINCT ' if is_distinct else ''}{', '.join(columns)} FROM {source.text()}{where}"
            text += f" ORDER BY {order} {way} NULLS LAST"
            text += "" if is_distinct else self._tie(source)
        else:
            text += " ORDER BY 1"
        return text + (f" LIMIT {question.limit}" if question.limit else "")

    def _tie(self, source: Source) -> str:
        primary = self.lexicon.model(source.base).primary
        return f", {source.key(source.base)}" if primary else ""

    def _has_key(self, question: Question) -> bool:
        """Whether the columns tell the things apart, so that equal rows are different things."""
        model = self.lexicon.model(question.of or "")
        own = {self.lexicon.dimension(ref).expr for ref in question.columns if ref.model == model.name}
        keys = {model.primary.expr} if model.primary else set()
        keys |= {model.name_dimension.expr} if model.name_dimension else set()
        return bool(own & keys)

    def _tells_of_each(self, question: Question) -> bool:
        """Several columns with numbers or times among them are told of each thing, equal or not, beside its key."""
        kinds = {self.lexicon.dimension(ref).type for ref in question.columns}
        has_key = self.lexicon.model(question.of or "").primary is not None
        return len(question.columns) > 1 and bool(kinds & {"number", "time"}) and has_key

    def _shown(self, name: str, source: Source) -> list[str]:
        """What a thing is called; without a name its key and first columns. An order's column is shown beside it."""
        model = self.lexicon.model(name)
        columns: list[str] = []
        if model.name_dimension is not None:
            columns.append(source.column(DimensionRef(name, model.name_dimension.name)))
        else:
            columns += [source.key(name)] if model.primary else []
            columns += [source.column(DimensionRef(name, d.name)) for d in model.dimensions[:_SHOWN_COLUMNS]]
        if self.question.order is not None:
            columns.append(source.column(self.question.order))
        return list(dict.fromkeys(columns))

    def _count_of_things(self) -> str:
        """How many things fulfil conditions on figures of theirs."""
        figure = self.question.figures[0]
        if not isinstance(figure, Rows) or len(self.question.figures) > 1:
            raise NotUnderstood("a condition on a figure, and another figure")
        source = Source(figure.model, self.lexicon, self.joins)
        where = self._where(source, ())
        return f"SELECT count(*) AS {quoted('count')} FROM {source.text()}{where}"

    # conditions

    def _where(self, source: Source, figures: tuple[Figure, ...]) -> str:
        question = self.question
        parts: list[str] = []
        conditions: list[Condition] = [
            *question.values, *question.numbers, *question.missing, *question.times, *question.related
        ]  # fmt: skip
        far: dict[str, list[Condition]] = {}
        for condition in conditions:
            model = self._model_of_condition(condition, source)
            if source.reaches(model) and not (isinstance(condition, Related) and condition.is_not):
                text = self._condition(condition, source)
                parts += [text] if text else []
            else:
                if any(isinstance(f, MeasureRef) for f in figures) and not isinstance(condition, Related):
                    raise NotUnderstood("a sum over parts of what is added")
                far.setdefault(model, []).append(condition)
        if question.having and not question.groups:
            parts += self._memberships(source, [condition for found in far.values() for condition in found])
        else:
            parts += [self._exists(source, model, found) for model, found in far.items()]
        if len(figures) == 1 and isinstance(figures[0], MeasureRef):
            measure = self.lexicon.measure(figures[0])
            if measure.filter:
                parts.append(self._fixed(measure.filter, source.alias(figures[0].model)))
        default = self.lexicon.model(source.base).default_filter
        if default:
            parts.append(self._fixed(default, source.alias(source.base)))
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def _condition(self, condition: Condition, source: Source) -> str:
        if isinstance(condition, Related):
            source.alias(condition.model)
            return ""
        if isinstance(condition, ValueFilter):
            return _values(source.column(condition.dimension), condition)
        if isinstance(condition, Missing):
            return f"{source.column(condition.dimension)} IS NULL"
        if isinstance(condition, NumberFilter):
            column = source.column(condition.dimension)
            if condition.sign == "between":
                return f"{column} BETWEEN {_number(condition.number)} AND {_number(condition.upper or 0)}"
            return f"{column} {condition.sign} {_number(condition.number)}"
        ref = condition.dimension or self._time_of(condition.model or source.base, source)
        if condition.dimension is None:
            self._require_dated(ref.model)
        return _window(source.column(ref), condition)

    def _exists(self, source: Source, model: str, conditions: list[Condition]) -> str:
        """Whether a row of another table belongs to this one. “Not” is said of all conditions on that table together."""
        carrier = self._carrier(source.base, [model])
        inner = Source(carrier, self.lexicon, self.joins, prefix="e")
        key = self.lexicon.model(source.base).primary
        if key is None:
            raise NotUnderstood(f"{source.base} has no key")
        negations = [c for c in conditions if getattr(c, "is_not", False)]
        if negations and any(isinstance(c, ValueFilter) for c in negations) and len(conditions) > 1:
            raise NotUnderstood("not which of them")
        positive = [replace(c, is_not=False) if isinstance(c, ValueFilter | Related) else c for c in conditions]
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

    def _membership(self, source: Source, condition: FigureFilter, far: list[Condition]) -> str:
        """Things whose figure over the rows that belong to them is above or below a number; none at all counts as zero."""
        figure = condition.figure
        model = figure.of.model if isinstance(figure, Aggregate) else figure.model
        if model == source.base:
            raise NotUnderstood("a figure of each row")
        if condition.sign == "=" and condition.number == 0:
            raise NotUnderstood("exactly none")
        carrier = model if self.joins.up(model, source.base) is not None else self._carrier(source.base, [model])
        inner = Source(carrier, self.lexicon, self.joins, prefix="h")
        inner_figure = _Statement(Question(figures=(figure,)), self.lexicon, self.joins)
        sql, _name = inner_figure._figure(figure, inner, model if carrier != model else "")
        key = inner.key(source.base)
        sign = _INVERSE.get(condition.sign, condition.sign)
        word = "NOT IN" if condition.sign in _INVERSE else "IN"
        where = inner_figure._where(inner, (figure,))
        told = [text for other in far if (text := self._condition(other, inner))]
        where += f"{' AND ' if where else ' WHERE '}{' AND '.join(told)}" if told else ""
        inside = f"SELECT {key} FROM {inner.text()}{where}{' AND ' if where else ' WHERE '}{key} IS NOT NULL"
        return f"{source.key(source.base)} {word} ({inside} GROUP BY {key} HAVING {sql} {sign} {_number(condition.number)})"

    def _require_dated(self, model: str) -> None:
        """“上个月离职了多少人”: the only time there is, is another one. Raises NotUnderstood."""
        for condition in self.question.values:
            index = self.lexicon.dimension(condition.dimension).values if condition.dimension.model == model else ()
            if any(value.is_undated and value.value in condition.values for value in index):
                raise NotUnderstood("when that happened is not in the data")

    def _model_of_condition(self, condition: Condition, source: Source) -> str:
        if isinstance(condition, Related):
            return condition.model
        if isinstance(condition, TimeFilter):
            return (condition.dimension or self._time_of(condition.model or source.base, source)).model
        return condition.dimension.model

    def _time_of(self, name: str, source: Source) -> DimensionRef:
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
        ways = sorted(
            (len(way), model.name, model.defaults.agg_time_dimension)
            for model in self.lexicon.layer.semantic_models
            if model.defaults.agg_time_dimension and (way := self.joins.up(name, model.name))
        )
        if not ways or (len(ways) > 1 and ways[0][0] == ways[1][0]):
            return None
        return DimensionRef(ways[0][1], ways[0][2])

    def _fixed(self, filters: dict[str, tuple[str, ...]], alias: str) -> str:
        return " AND ".join(
            f"{alias}.{quoted(column)}::text IN ({', '.join(map(literal, values))})"
            for column, values in filters.items()
        )


def _model_of(group: Group) -> str:
    if isinstance(group, Period):
        return group.dimension.model if group.dimension else ""
    return group.model


def _values(column: str, condition: ValueFilter) -> str:
    values = ", ".join(literal(value) for value in dict.fromkeys(condition.values))
    if condition.is_not:
        return f"({column}::text NOT IN ({values}) OR {column} IS NULL)"
    return f"{column}::text IN ({values})"


def _window(column: str, condition: TimeFilter) -> str:
    window = condition.window
    parts = [f"{column} >= '{window.start}'"] if window.start else []
    parts += [f"{column} < '{window.end}'"] if window.end else []
    return " AND ".join(parts)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
