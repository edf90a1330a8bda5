"""The grammar of questions: each item is a letter, each production a pattern over the row of letters, and every letter is used.

Values, numbers, times and groups are taken out of the row first and leave a `_`; what is left must be one of the few heads: numbers,
or rows. Whatever no production takes is left over, and the question is not read.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from business.logical_query.catalog import Catalog
from business.logical_query.errors import Inexpressible
from business.logical_query.query import Comparison, Dimension, Filter, LogicalQuery, Metric, Related, TimeRange
from business.logical_query.times import days_of, in_the_year_of, whole_months
from business.parsing.reader.items import Item
from business.parsing.reader.lexicon import Ref
from business.parsing.reader.words import said

LETTERS = {
    "count": "c", "number": "I", "much": "m", "amount": "e", "what": "q", "sum": "S", "running": "Q", "avg": "a", "list": "L", "exists": "x",
    "each": "b", "each_of": "z", "max": "h", "min": "l", "most": "s", "fewest": "i", "latest": "w", "earliest": "o", "dearest": "p",
    "cheapest": "k", "top": "f", "bottom": "r", "more": ">", "at_least": ">", "less": ">", "at_most": ">", "exactly": ">",
    "or_more": "<", "or_less": "<", "between": "B", "to": "-", "between_end": "E", "share": "%", "compared": "C", "change": "d",
    "previous_year": "y", "previous_period": "j", "not": "!", "except": "~", "except_after": ",", "with": "@", "distinct": "#",
    "and": "&", "sorted": ":", "descending": "v", "ascending": "^", "kind_of": "K", "refers": "R", "state": "?",
    "stop": "", "shown": "", "counter": "", "money": "", "currency": "", "unit": "", "grain": "u", "each_grain": "g",
}  # fmt: skip
_SIGNS = {"more": ">", "at_least": ">=", "less": "<", "at_most": "<=", "exactly": "=", "or_more": ">=", "or_less": "<="}
PRICE = ("price", "cost", "价", "费")
_ONE_PERIOD = frozenset({1, 3, 6, 12})
MOST_LIMIT = 1_000


class Unread(Exception):
    """The question is not read. left: the words that no production takes."""

    def __init__(self, why: str = "", left: tuple[str, ...] = ()) -> None:
        super().__init__(why)
        self.left = left


@dataclass(frozen=True)
class Token:
    """kind: its letter; `1` is a metric, `_` what has said its part. values: of a run, as they are stored."""

    kind: str
    item: Item = Item("")
    ref: Ref | None = None
    values: tuple[str, ...] = ()
    metric: Metric | None = None
    is_set_off: bool = False  # a comma stands before it

    @property
    def name(self) -> str:
        assert self.ref is not None  # asked only of what is of the layer
        return self.ref.name

    @property
    def model(self) -> str:
        return self.name.partition(".")[0]

    @property
    def role(self) -> str:
        return self.item.roles[0] if self.item.roles else ""


Made = Callable[[list[Token]], list[Token] | None]
DONE = Token("_")


@dataclass
class Reading:
    """The row of a question whose words have one meaning each, and what its parts have said so far."""

    catalog: Catalog
    today: date
    row: list[Token]
    filters: list[Filter] = field(default_factory=list)
    times: list[TimeRange] = field(default_factory=list)
    dimensions: list[Dimension] = field(default_factory=list)
    related: list[Related] = field(default_factory=list)
    events: list[tuple[str, bool]] = field(default_factory=list)
    comparison: Comparison | None = None
    limit: int | None = None
    by: Metric | str | None = None
    descending: bool | None = None
    order: tuple[str, bool] | None = None
    is_share: bool = False
    is_yearless: bool = False  # a month or a day of any year is said
    standing: tuple[TimeRange, ...] = ()  # of the question that this one goes on from

    @classmethod
    def of(cls, catalog: Catalog, items: Sequence[Item], refs: Sequence[Ref | None], today: date) -> "Reading":
        tokens = [Token(_kind(catalog, item, ref), item, ref) for item, ref in zip(items, refs, strict=True)]
        row: list[Token] = []
        is_set_off = False
        for token, after in zip(tokens, [*tokens[1:], DONE], strict=True):
            is_set_off = is_set_off or token.item.is_set_off
            is_amount = token.kind == "n" and after.role.partition(":")[0] in ("money", "currency", "unit")
            values = (token.ref.value,) if token.ref and token.kind == "V" else ("",) if is_amount else ()
            if token.kind:
                row.append(replace(token, values=values, is_set_off=is_set_off))
                is_set_off = False
        return cls(catalog, today, row)

    @property
    def text(self) -> str:
        return "".join(token.kind for token in self.row)

    def rewrite(self, pattern: str, made: Made) -> None:
        """Put what is made of them in the place of the tokens that fit a pattern; where that is None they stay."""
        at = 0
        while found := re.compile(pattern).search(self.text, at):
            parts = made(self.row[found.start() : found.end()])
            at = found.start() + (1 if parts is None else len(parts))
            if parts is not None:
                self.row[found.start() : found.end()] = parts

    def all(self, kinds: str) -> list[Token]:
        return [token for token in self.row if token.kind in kinds]

    def drop(self, kinds: str) -> None:
        self.row = [token for token in self.row if token.kind not in kinds]

    def read(self) -> None:
        """Everything that is said besides what is asked for. Raises Unread."""
        if unread := tuple(token.item.text for token in self.all("?")):
            raise Unread("", unread)
        self._values()
        self._numbers()
        self._times()
        self._groups()
        self._related()
        self._order()
        self.rewrite("_&_", lambda run: [DONE, DONE])

    def _values(self) -> None:
        """Values of one column in one run, that are to hold or not; the column's own name beside them says nothing more."""
        self.rewrite("VK", lambda run: run[:1])
        self.rewrite("V[&C]?V", self._joined)
        self.rewrite("[b-]V", lambda run: run[1:] if run[0].item.text in ("by", "to") else None)  # albums by Led Zeppelin
        if len(self.all("TA")) > 1:  # with no cancelled orders
            self.rewrite("[!@]VT", lambda run: [run[0], run[2], run[1]] if run[1].model == run[2].name else None)
        self.rewrite("[DANW]V", lambda run: run[1:] if run[0].name == run[1].name else None)
        self.rewrite("V[DANW]", lambda run: run[:1] if run[0].name == run[1].name else None)
        self.rewrite("~VV", lambda run: None if run[2].is_set_off else self._fail("what is left out"))
        self.rewrite("[!~]V|V,|V", self._valued)
        if len({each.field for each in self.filters}) < len(self.filters):
            raise Unread("values of one column in two places")

    def _fail(self, why: str) -> None:
        raise Unread(why)

    def _joined(self, run: list[Token]) -> list[Token] | None:
        if run[0].name != run[-1].name:
            return None
        token = replace(run[0], values=tuple(dict.fromkeys((*run[0].values, *run[-1].values))))
        return [token, *(each for each in run if each.kind == "C")]

    def _valued(self, run: list[Token]) -> list[Token]:
        value = next(token for token in run if token.kind == "V")
        self.filters.append(Filter(field=value.name, op="in" if len(run) == 1 else "not_in", values=value.values))
        is_run = len(run) == 1 and len(value.values) > 1
        return [replace(value, kind="U" if is_run else "_")]

    def _numbers(self) -> None:
        """A column of numbers against a number, and how many are asked for."""
        self.rewrite("NT?B?n[&-]nE?", self._between)
        self.rewrite("NT?>n(?![&-]n)|NT?>?n<|Nn(?![hlsi])|>nN", self._compared)
        self.rewrite("@?(?:>n|n<)T|(?<!L)TI?(?:>n|n<)(?![&-]n)", self._counted)
        self.rewrite("[fr]n|[hlsipkwo]n|n[hlsipk]", self._limited)
        if re.search("[hlsipkwo]", self.text):  # which three customers have the most orders
            self.rewrite("n(?=_*[TDA])", self._limited)

    def _between(self, run: list[Token]) -> list[Token] | None:
        low, high = (token for token in run if token.kind == "n")
        if not {"B", "E"} & {token.kind for token in run}:
            return None
        if low.item.text.isdecimal() and not high.item.text.isdecimal():
            raise Unread("whose scale the first number has")  # 1-2万
        self._held(run[0].name, ">=", low)
        self._held(run[0].name, "<=", high)
        return [*(token for token in run if token.kind == "T"), DONE]

    def _compared(self, run: list[Token]) -> list[Token] | None:
        if run[1].kind == "n" and run[1].item.text.isalpha():
            return None  # order numbers of the three orders
        sign = next((_SIGNS[token.role] for token in run if token.kind in "<>"), "=")
        column, number = (next(token for token in run if token.kind == kind) for kind in "Nn")
        self._held(column.name, sign, number)
        return [*(token for token in run if token.kind == "T"), DONE]

    def _counted(self, run: list[Token]) -> list[Token] | None:
        """Things with more than so many rows of another table."""
        words = "".join(token.item.text for token in run if token.kind in "<>")
        if len(self.all("TA")) < 2 or (run[0].kind == "T" and words.isascii()):
            return None  # bands that have more than five albums
        number, table = (next(token for token in run if token.kind == kind) for kind in "nT")
        sign: Any = next(_SIGNS[token.role] for token in run if token.kind in "<>")
        if number.values:
            raise Unread("an amount of what")  # orders of over 10000
        metric = Metric(name=table.name, agg="count")
        self.related.append(Related(model=table.name, metric=metric, op=sign, value=number.item.number or 0))
        return [DONE]

    def _held(self, name: str, sign: Any, number: Token) -> None:
        model, column = self.catalog.dimension(name)
        if column.expr in {entity.expr for entity in model.entities} and sign != "=":
            raise Unread("a number that names a row")
        self.filters.append(Filter(field=name, op=sign, values=(number.item.number or 0.0,)))

    def _limited(self, run: list[Token]) -> list[Token]:
        number = next(token for token in run if token.kind == "n").item.number or 0
        if self.limit is not None or number != int(number) or not 0 < number <= MOST_LIMIT:
            raise Unread("how many")
        self.limit = int(number)
        return [token for token in run if token.kind != "n"]

    def _times(self) -> None:
        """One time, of the time column beside it; two that are compared, the later beside the earlier."""
        self.rewrite("Wt|tW", self._of_column)
        tokens = self.all("t")
        self.is_yearless = any(token.item.is_yearless for token in tokens)
        times = [token.item.time for token in tokens if token.item.time is not None]
        if len(times) > 2 or (len(times) == 2 and not self.all("C")):
            raise Unread("several times")
        if times and not times[0].field:
            times[0] = self._with_only_column(times[0], tokens[0])
        self.times = times[:1]
        if len(times) == 2:
            before, later = sorted(times, key=lambda time: self.days(time)[0] or date.min)
            field = before.field or later.field
            before, later = (each.model_copy(update={"field": field}) for each in (before, later))
            part = in_the_year_of(self.days(later), self.days(before))  # October compared to last year: its October
            before = TimeRange(field=field, start=part[0], end=part[1]) if part else before
            self.times, self.comparison = [later], Comparison(to="time", time=before)
            self.rewrite("t[&C@]*", lambda run: [DONE])
            self.drop("C")
        self.rewrite("t", lambda run: [DONE])
        self._changes()

    def _of_column(self, run: list[Token]) -> list[Token]:
        column, time = sorted(run, key=lambda token: token.kind)
        assert time.item.time is not None  # of its kind
        return [self._dated(time, column)]

    def _dated(self, time: Token, column: Token) -> Token:
        model, dimension = self.catalog.dimension(column.name)
        if time.item.is_yearless and model.defaults.agg_time_dimension != dimension.name:
            raise Unread("of which year")  # birthdays are of every year
        assert time.item.time is not None
        return replace(time, item=replace(time.item, time=time.item.time.model_copy(update={"field": column.name})))

    def _with_only_column(self, time: TimeRange, token: Token) -> TimeRange:
        columns = {column.name: column for column in self.all("W")}
        if len(columns) != 1 or "!" in self.text:
            return time
        self.drop("W")
        dated = self._dated(token, next(iter(columns.values()))).item.time
        assert dated is not None
        return dated

    def days(self, time: TimeRange) -> tuple[date | None, date | None]:
        return days_of(time, self.today, self.catalog.layer.fiscal_year_start)

    def _changes(self) -> None:
        """A change against the time before, where one time is said."""
        text = self.text
        if not re.search("[yjd]", text):
            return
        times = self.times or self.standing
        if len(times) != 1 or self.comparison is not None or not self._is_one_period(times[0]):
            raise Unread("which times are compared")
        self.comparison = Comparison(to="previous_year" if "y" in text else "previous_period")
        self.rewrite("[yjdC]+", lambda run: [DONE])

    def _is_one_period(self, time: TimeRange) -> bool:
        if time.period is not None:
            return True
        return bool(time.start and time.end) and whole_months(time.start, time.end) in _ONE_PERIOD  # type: ignore[arg-type]

    def _groups(self) -> None:
        """What follows “by”, “each”, “各”; periods; each of the values that are named or compared."""
        if "%" in self.text:
            self.is_share = True
            self.drop("%")
        if any(token.kind == "U" for token in self.row) and "C" in self.text:
            self.dimensions += [Dimension(name=token.name) for token in self.all("U")]
            self.drop("C")
        if len(self.all("U")) == 1 and "z" in self.text and not self.dimensions:
            self.dimensions.append(Dimension(name=self.all("U")[0].name))
        self.rewrite("U", lambda run: [DONE])
        if superlative := bool(re.search("[hlsiwopkfr]", self.text)):
            self.rewrite("b(?:M|[cI]T)", self._ranked_by)
        self.rewrite("b?g|bu|" + ("Lu|" if superlative else "") + "b[DAT](?:&[DAT])*", self._grouped)
        if not self.dimensions:
            self.rewrite("[DAT]z", self._grouped)
        if "z" in self.text and not self.dimensions:
            raise Unread("of each what")
        self.rewrite("z", lambda run: [replace(run[0], kind="m")])
        if self.dimensions:
            self.rewrite("b$", lambda run: [])  # 按地区分
        is_moved = self.comparison is not None and self.comparison.to == "previous_period"
        if any(each.grain for each in self.dimensions) and (is_moved or "Q" in self.text):
            raise Unread("which period each is compared with, or a running total")

    def _ranked_by(self, run: list[Token]) -> list[Token]:
        self.by = Metric(name=run[-1].name, agg=None if run[-1].kind == "M" else "count")
        return [DONE]

    def _grouped(self, run: list[Token]) -> list[Token]:
        for token in run:
            if token.kind in "gu":
                self.dimensions.append(Dimension(grain=token.role.partition(":")[2]))  # type: ignore[arg-type]
            elif token.kind in "DAT":
                name = token.name.partition(".")[0] if token.kind == "A" else token.name
                self.dimensions.append(Dimension(name=name))
        return [DONE, *(token for token in run if token.kind == "z")]

    def _related(self) -> None:
        """Rows of another table that a thing has or has not; a time that never came."""
        self.rewrite("!W|![DN]", self._absent)
        if len(self.all("TA")) > 1:
            self.rewrite("[!@]T", self._belonging)
        self.rewrite("@(?=[^T]|$)", lambda run: [])

    def _absent(self, run: list[Token]) -> list[Token]:
        self.events.append((run[1].name, True))
        return [DONE]

    def _belonging(self, run: list[Token]) -> list[Token]:
        self.related.append(Related(model=run[1].name, is_not=run[0].kind == "!"))
        return [DONE]

    def _order(self) -> None:
        self.rewrite(":[MDN]", self._sorted)
        for token in self.all("v^"):
            self.order = (self.order[0] if self.order else "", token.kind == "v")
        self.drop("v^")

    def _sorted(self, run: list[Token]) -> list[Token]:
        self.order = (run[1].name, run[1].kind == "M")
        return [DONE]


def _kind(catalog: Catalog, item: Item, ref: Ref | None) -> str:
    if ref is not None and ref.kind == "dimension":
        dimension = catalog.dimension(ref.name)[1]
        return {"number": "N", "time": "W"}.get(dimension.type, "A" if dimension.is_name else "D")
    if ref is not None:
        return {"model": "T", "measure": "M", "value": "V"}[ref.kind]
    if item.time is not None:
        return "t"
    if item.number is not None and not item.roles:
        return "n"
    if not item.roles:
        raise Unread("", (item.text,))
    return LETTERS[item.roles[0].partition(":")[0]]


def require_units(items: Sequence[Item], query: LogicalQuery, catalog: Catalog) -> None:
    """Amounts are not changed into another unit or currency. Raises Inexpressible where one is asked for that is not the one kept.

    A layer that names no currency keeps the one that people mean; of hours or minutes nobody knows which a column keeps.
    """
    asked = {role for item in items if not item.refs for role in item.roles if ":" in role}
    money, units = ({code.partition(":")[2] for code in asked if code.startswith(kind)} for kind in ("currency", "unit"))
    named = [name for leaf in query.leaves for name in (leaf.name, *(each.field for each in leaf.filters))]
    named += [each.field for each in query.filters] + list(query.rows.columns if query.rows else ())
    named += [query.ranking.by] if query.ranking else []
    kept = {catalog.unit(name) for name in named}
    coins = kept & set(said()["currencies"])
    if money and coins and money != coins:
        raise Inexpressible(_("No currency but %(kept)s is kept here.") % {"kept": ", ".join(sorted(coins))})
    if other := sorted(units - kept):
        raise Inexpressible(_("The data do not say that this is kept in %(unit)s.") % {"unit": ", ".join(other)})
