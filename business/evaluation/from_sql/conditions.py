"""WHERE and FILTER as filters, times and related rows."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from sqlglot import exp

from business.evaluation.from_sql.constants import constant, day
from business.evaluation.from_sql.sources import NotConverted, Sources, parts_of
from business.logical_query.query import Filter, Operator, Period, Ranking, Related, Sign, TimeRange
from business.logical_query.times import period_days
from business.parsing.model.definitions import bare

SIGNS: dict[type[exp.Expr], Sign] = {
    exp.EQ: "=", exp.NEQ: "!=", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<=",
}  # fmt: skip
_TURNED: dict[Sign, Sign] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NOT = {
    "=": "!=", "!=": "=", ">": "<=", ">=": "<", "<": ">=", "<=": ">", "in": "not_in", "not_in": "in",
    "contains": "not_contains", "is_null": "is_not_null", "is_not_null": "is_null",
}  # fmt: skip
_PARTS: dict[str, Any] = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "day": "day",
    "hour": "hour",
    "isodow": "weekday",
}


@dataclass
class Conditions:
    """What conditions say. ranking: of the rows that have the highest or lowest of something."""

    sources: Sources
    today: date
    filters: list[Filter] = field(default_factory=list)
    times: list[TimeRange] = field(default_factory=list)
    related: list[Related] = field(default_factory=list)
    ranking: Ranking | None = None

    def add(self, node: exp.Expr | None) -> None:
        """Raises NotConverted."""
        for part in parts_of(node):
            self._add(part)

    def _add(self, part: exp.Expr) -> None:
        turned = part.this.unnest() if isinstance(part, exp.Not) else part
        is_not = turned is not part
        if isinstance(turned, exp.Exists):
            self.related.append(self._exists(turned.this, is_not=is_not))
        elif isinstance(turned, exp.In) and turned.args.get("query"):
            self._member(turned, is_not=is_not)
        elif isinstance(turned, exp.EQ) and isinstance(turned.expression.unnest(), exp.Select):
            self._extreme(turned)
        elif self._is_absent(turned):
            alias = turned.this.table
            self.related.append(Related(model=self.sources.aliases[alias].name, is_not=True))
        elif isinstance(turned, exp.Between) and not is_not:
            self._compare(exp.GTE(this=turned.this, expression=turned.args["low"]))
            self._compare(exp.LTE(this=turned.this, expression=turned.args["high"]))
        elif isinstance(turned, exp.GTE | exp.LT | exp.LTE | exp.EQ) and not is_not:
            self._compare(turned)
        else:
            self.filters.append(self.filter(part))

    def _is_absent(self, part: exp.Expr) -> bool:
        return (
            isinstance(part, exp.Is)
            and isinstance(part.this, exp.Column)
            and part.this.table in self.sources.absent
            and isinstance(part.expression, exp.Null)
        )

    def _compare(self, part: exp.Expr) -> None:
        """A comparison: of a time with days a stretch of time, of anything else a filter."""
        left = _plain(part.this)
        if isinstance(left, exp.Column) and (name := self.sources.dimension(left)) and self._is_time(name):
            op = SIGNS[type(part)]
            try:
                at = day(part.expression, self.today)
            except NotConverted:
                pass
            else:
                if op in (">=", "<"):
                    self._bound(name, at if op == ">=" else None, at if op == "<" else None)
                    return
                if part.this.unnest().is_type("date"):
                    after = at + timedelta(days=1)
                    self._bound(name, at if op == "=" else None, after)
                    return
        if isinstance(left, exp.Extract | exp.TimestampTrunc) and self._whole(left, part):
            return
        self.filters.append(self.filter(part))

    def _is_time(self, name: str) -> bool:
        return self.sources.catalog.dimension(name)[1].type == "time"

    def _bound(self, name: str, start: date | None, end: date | None) -> None:
        for place, time in enumerate(self.times):
            is_open = (time.start is None) if start else (time.end is None)
            if time.field == name and is_open:
                both = (start or time.start, end or time.end)
                self.times[place] = TimeRange(field=name, start=both[0], end=both[1])
                return
        self.times.append(TimeRange(field=name, start=start, end=end))

    def _whole(self, left: exp.Expr, part: exp.Expr) -> bool:
        """Whether it says a whole year, or a whole month by its first day."""
        if not isinstance(part, exp.EQ):
            return False
        if isinstance(left, exp.Extract) and left.this.name.lower() == "year":
            year = constant(part.expression, self.today)
            name = self.sources.dimension(_plain(left.expression))
            self.times.append(TimeRange(field=name, start=date(int(year), 1, 1), end=date(int(year) + 1, 1, 1)))
            return True
        if isinstance(left, exp.TimestampTrunc) and left.args["unit"].name.lower() in ("month", "year", "quarter"):
            period = Period.model_validate({"unit": left.args["unit"].name.lower()})
            start, end = period_days(period, day(part.expression, self.today))
            self.times.append(TimeRange(field=self.sources.dimension(_plain(left.this)), start=start, end=end))
            return True
        return False

    def filter(self, part: exp.Expr) -> Filter:
        """One condition on one row."""
        part = part.unnest()
        if isinstance(part, exp.Not):
            return _negated(self.filter(part.this))
        if isinstance(part, exp.Or):
            return Filter(any_of=tuple(self._all(each) for each in part.flatten()))
        if isinstance(part, exp.Column | exp.Is):
            return self._is(part)
        if isinstance(part, exp.In | exp.Like | exp.ILike):
            return self._in(part) if isinstance(part, exp.In) else self._like(part)
        if type(part) in SIGNS:
            return self._comparison(part)
        raise NotConverted(f"{part.sql('postgres')} is no condition that is known")

    def _all(self, part: exp.Expr) -> Filter:
        if isinstance(part.unnest(), exp.And):
            raise NotConverted("AND inside OR")
        return self.filter(part)

    def _in(self, part: exp.In) -> Filter:
        if not part.expressions:
            raise NotConverted("a query inside IN")
        values = tuple(constant(each, self.today) for each in part.expressions)
        return Filter(field=self._field(part.this), op="in", values=values)

    def _is(self, part: exp.Expr) -> Filter:
        if isinstance(part, exp.Column):
            return Filter(field=self.sources.dimension(part), op="=", values=(True,))
        name = self._field(part.this)
        if isinstance(part.expression, exp.Null):
            return Filter(field=name, op="is_null")
        return Filter(field=name, op="=", values=(constant(part.expression, self.today),))

    def _like(self, part: exp.Expr) -> Filter:
        pattern = str(constant(part.expression, self.today))
        text = pattern.strip("%")
        if "%" in text or "_" in text.replace("\\_", "") or not text:
            raise NotConverted("a pattern with holes")
        starts, ends = pattern.startswith("%"), pattern.endswith("%")
        op: Operator = "contains" if starts and ends else "ends_with" if starts else "starts_with" if ends else "in"
        return Filter(field=self._field(part.this), op=op, values=(text,))

    def _comparison(self, part: exp.Expr) -> Filter:
        op, left, right = SIGNS[type(part)], _plain(part.this), part.expression.unnest()
        if not list(left.find_all(exp.Column)):
            left, right, op = _plain(right), left, _TURNED.get(op, op)
        if isinstance(right, exp.Select | exp.Subquery):
            return self._than_average(left, op, right)
        if isinstance(left, exp.Extract):
            unit = left.this.name.lower()
            if unit not in _PARTS:
                raise NotConverted(f"extract({unit})")
            name = self.sources.dimension(_plain(left.expression))
            return Filter(field=name, op=op, values=(constant(right, self.today),), part=_PARTS[unit])
        if isinstance(_plain(right), exp.Column):
            return Filter(field=self._field(left), op=op, than=self._field(right))
        name = self._field(left)
        value = constant(right, self.today)
        if self._is_time(name):
            value = day(right, self.today).isoformat()
        return Filter(field=name, op=op, values=(value,))

    def _field(self, node: exp.Expr) -> str:
        return self.sources.dimension(_plain(node))

    def _than_average(self, left: exp.Expr, op: Sign, inner: exp.Expr) -> Filter:
        """Above the average of its own column over the whole table."""
        select = inner.unnest()
        if isinstance(select, exp.Select) and not select.args.get("where") and len(select.expressions) == 1:
            shown = select.expressions[0].unalias().unnest()
            if isinstance(shown, exp.Avg) and bare(_plain(shown.this)) == bare(left) and not select.args.get("joins"):
                return Filter(field=self.sources.dimension(left), op=op, values=(1,), than="average")
        raise NotConverted("a comparison with a query")

    def _extreme(self, part: exp.EQ) -> None:
        """Of all rows those with the highest or lowest: x = (SELECT max(x) FROM the same table)."""
        select = part.expression.unnest()
        shown = select.expressions[0].unalias().unnest()
        plain = len(select.expressions) == 1 and not select.args.get("where") and not select.args.get("joins")
        if not (plain and isinstance(shown, exp.Max | exp.Min) and bare(shown.this) == bare(part.this)):
            raise NotConverted("a comparison with a query")
        name = self.sources.dimension(_plain(part.this))
        self.ranking = Ranking(by=name, descending=isinstance(shown, exp.Max), limit=1, ties=True)

    def _exists(self, select: exp.Expr, *, is_not: bool) -> Related:
        """EXISTS (SELECT … WHERE its key = the outer row's …)."""
        inner, rest = self._inner(select)
        outer = [part for part in rest if self._is_outer(part, inner)]
        if len(outer) != 1:
            raise NotConverted("EXISTS beside a key")
        return _related(inner, [part for part in rest if part is not outer[0]], self.today, is_not=is_not)

    def _inner(self, select: exp.Expr) -> tuple[Sources, list[exp.Expr]]:
        select = select.unnest()
        if not isinstance(select, exp.Select) or any(select.args.get(key) for key in ("group", "having", "limit")):
            raise NotConverted("a query with groups inside a condition")
        inner = Sources.of(select, self.sources.catalog)
        where = select.args.get("where")
        return inner, [*inner.conditions, *parts_of(where.this if where else None)]

    def _is_outer(self, part: exp.Expr, inner: Sources) -> bool:
        """Whether a condition ties a row inside to one outside along a key."""
        if not isinstance(part, exp.EQ) or not all(isinstance(s, exp.Column) for s in (part.this, part.expression)):
            return False
        sides = [part.this, part.expression]
        own = [side for side in sides if side.table in inner.aliases]
        theirs = [side for side in sides if side.table in self.sources.aliases and side.table not in inner.aliases]
        if len(own) != 1 or len(theirs) != 1:
            return False
        return self._joins(inner.aliases[own[0].table].name, own[0].name, theirs[0])

    def _joins(self, model: str, column: str, outer: exp.Column) -> bool:
        return self.sources.catalog.joins.is_step((model, column), (self.sources.aliases[outer.table].name, outer.name))

    def _member(self, part: exp.In, *, is_not: bool) -> None:
        """key IN (SELECT its key FROM …)."""
        inner, rest = self._inner(part.args["query"])
        shown = [each.unalias() for each in part.args["query"].unnest().expressions]
        column, own = part.this.unnest(), shown[0]
        if len(shown) != 1 or not isinstance(column, exp.Column) or not isinstance(own, exp.Column):
            raise NotConverted("IN with a query of more than a key")
        inside = inner.aliases.get(own.table)
        if inside is None or not self._joins(inside.name, own.name, column):
            raise NotConverted("IN beside a key")
        if is_not:  # of an empty key NOT IN says nothing
            rest = [each for each in rest if not _is_given(each, own)]
        self.related.append(_related(inner, rest, self.today, is_not=is_not))


def _related(inner: Sources, parts: list[exp.Expr], today: date, *, is_not: bool) -> Related:
    told = Conditions(inner, today)
    for part in parts:
        told.add(part)
    if told.related or told.ranking or len(told.times) > 1:
        raise NotConverted("conditions of conditions")
    time = told.times[0] if told.times else None
    return Related(model=inner.base.name, is_not=is_not, filters=tuple(told.filters), time=time)


def _is_given(part: exp.Expr, column: exp.Column) -> bool:
    is_null = isinstance(part, exp.Not) and isinstance(part.this.unnest(), exp.Is)
    return is_null and bare(part.this.unnest().this) == bare(column)


def _negated(condition: Filter) -> Filter:
    if condition.any_of or condition.op not in _NOT:
        raise NotConverted("NOT of such a condition")
    return condition.model_copy(update={"op": _NOT[condition.op]})


def _plain(node: exp.Expr) -> exp.Expr:
    """Without parentheses, casts to days or texts, and small letters."""
    node = node.unnest()
    while isinstance(node, exp.Cast | exp.Lower | exp.Upper | exp.Date | exp.TsOrDsToDate):
        node = node.this.unnest()
    return node
