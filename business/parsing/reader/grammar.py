"""The grammar of questions: each item is a letter, each production a pattern over the letters, and all must be used.

Values, numbers, times and groups are taken first and leave a `_`; the remainder must be one of the few heads: numbers
or rows. If no production takes an item, the question is not read.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from business.logical_query.catalog import Catalog
from business.logical_query.query import (
    Breakdown,
    Filter,
    Inexpressible,
    LogicalQuery,
    Metric,
    Related,
    TimeRange,
)
from business.logical_query.times import days_of
from business.parsing.reader.items import QuestionItem
from business.parsing.reader.lexicon import Ref
from business.parsing.reader.words import load_word_lists

_SIGNS = {"more": ">", "at_least": ">=", "less": "<", "at_most": "<=", "exactly": "=", "or_more": ">=", "or_less": "<="}
SUPERLATIVES = "hlsiwopkfr"
MAX_LIMIT = 1_000


class Unread(Exception):
    """The question cannot be read. left: the words that no production takes."""

    def __init__(self, why: str = "", left: tuple[str, ...] = ()) -> None:
        super().__init__(why)
        self.left = left


_NOTHING = QuestionItem("")


@dataclass(frozen=True)
class GrammarToken:
    """kind: its letter; `1` is a metric, `_` a used item. values: of a run, as stored."""

    kind: str
    item: QuestionItem = _NOTHING
    ref: Ref | None = None
    values: tuple[str, ...] = ()
    metric: Metric | None = None

    @property
    def name(self) -> str:
        assert self.ref is not None  # called only for items of the layer
        return self.ref.name

    @property
    def model(self) -> str:
        return table_of(self.name)

    @property
    def role(self) -> str:
        return self.item.roles[0] if self.item.roles else ""


Run = list[GrammarToken]
DONE = GrammarToken("_")


def table_of(name: str) -> str:
    return name.partition(".")[0]


def find_first_token(run: Run, kinds: str) -> GrammarToken:
    """Return the first token of these kinds; there must be one."""
    return next(token for token in run if token.kind in kinds)


@dataclass
class Reading:
    """The items of a question with one meaning per word, and the parts read so far.

    events: columns, mostly times, that must be set (False) or missing (True).
    """

    catalog: Catalog
    today: date
    row: Run
    filters: list[Filter] = field(default_factory=list)
    times: list[TimeRange] = field(default_factory=list)
    dimensions: list[Breakdown] = field(default_factory=list)
    related: list[Related] = field(default_factory=list)
    events: list[tuple[str, bool]] = field(default_factory=list)
    limit: int | None = None
    by: Metric | str | None = None
    order: bool | None = None  # whether it is descending
    is_share: bool = False
    is_yearless: bool = False

    @classmethod
    def of(cls, catalog: Catalog, items: Sequence[QuestionItem], refs: Sequence[Ref | None], today: date) -> "Reading":
        """Read everything but the head. Raises Unread."""
        tokens = [_build_token(catalog, *entry) for entry in zip(items, refs, [*items[1:], _NOTHING], strict=True)]
        reading = cls(catalog, today, [token for token in tokens if token.kind])
        for part in (
            reading._read_values,
            reading._numbers,
            reading._read_times,
            reading._read_groups,
            reading._read_absences,
        ):
            part()
        return reading

    @property
    def text(self) -> str:
        return "".join(token.kind for token in self.row)

    def rewrite(self, pattern: str, made: Callable[[Run], Run | None]) -> None:
        """Replace tokens that match a pattern by what is made of them; keep them where that is None."""
        at = 0
        while found := re.compile(pattern).search(self.text, at):
            parts = made(self.row[found.start() : found.end()])
            at = found.start() + (1 if parts is None else len(parts))
            if parts is not None:
                self.row[found.start() : found.end()] = parts

    def all(self, kinds: str) -> Run:
        return [token for token in self.row if token.kind in kinds]

    def drop(self, kinds: str) -> None:
        self.row = [token for token in self.row if token.kind not in kinds]

    def days(self, time: TimeRange) -> tuple[date | None, date | None]:
        return days_of(time, self.today, self.catalog.layer.fiscal_year_start)

    def _read_values(self) -> None:
        """Read a run of one column's values, negated or not; the column's own name beside them adds nothing."""
        if re.search("[TV].*(?:[cm]R|R[cm])[Vt]*$", self.text):
            self.drop("R")  # of the customers in Norway, how many of them are carriers
        self.rewrite("VK", lambda run: run[:1])
        self.rewrite("V[&|C]?V", self._join_values)
        self.rewrite(
            "[b-]V", lambda run: run[1:] if run[0].item.text in ("by", "to") else None
        )  # albums by Led Zeppelin
        if len(self.all("TA")) > 1:  # with no cancelled orders
            self.rewrite("[!@]VT", lambda run: [run[0], run[2], run[1]] if run[1].model == run[2].name else None)
        self.rewrite(
            "[DANW]V|V[DANW]", lambda run: [find_first_token(run, "V")] if run[0].name == run[1].name else None
        )
        self.rewrite("!V|V", self._add_value_filter)
        if len({entry.field for entry in self.filters}) < len(self.filters):
            raise Unread("values of one column in two places")

    def _join_values(self, run: Run) -> Run | None:
        if run[0].name != run[-1].name:
            return None
        token = replace(run[0], values=tuple(dict.fromkeys((*run[0].values, *run[-1].values))))
        return [token, *(entry for entry in run if entry.kind == "C")]

    def _add_value_filter(self, run: Run) -> Run:
        value = find_first_token(run, "V")
        self.filters.append(Filter(field=value.name, op="in" if len(run) == 1 else "not_in", values=value.values))
        return [replace(value, kind="U" if len(run) == 1 and len(value.values) > 1 else "_")]

    def _numbers(self) -> None:
        """Read comparisons of a column with a number, things with so many rows of another table, and limits."""
        self.rewrite("NT?Bn[&-]nE?|NT?n[&-]nE", self._add_number_filter)
        self.rewrite("NT?>n(?![&-]n)|NT?>?n<|Nn(?![hlsi])|>nN", self._add_number_filter)
        self.rewrite("@?(?:>n|n<)T|(?<!L)TI?(?:>n|n<)(?![&-]n)", self._counted)
        self.rewrite("[fr]n|[hlsipkwo]n|n[hlsipk]", self._set_limit)
        if re.search("[hlsipkwo]", self.text):  # which three customers have the most orders
            self.rewrite("n(?=_*[TDA])", self._set_limit)

    def _add_number_filter(self, run: Run) -> Run | None:
        column, numbers = find_first_token(run, "N").name, [token for token in run if token.kind == "n"]
        if run[1].kind == "n" and run[1].item.text.isalpha():
            return None  # order numbers of the three orders
        if len({token.item.text.isdecimal() for token in numbers}) > 1:
            raise Unread("whose scale the first number has")  # 1-2万
        operators = [_SIGNS[token.role] for token in run if token.kind in "<>"] or ["="]
        signs: Any = (">=", "<=") if len(numbers) > 1 else operators
        model, dimension = self.catalog.dimension(column)
        if dimension.expr in {entity.expr for entity in model.entities} and signs != ["="]:
            raise Unread("a number that names a row")
        for sign, number in zip(signs, numbers, strict=False):
            self.filters.append(Filter(field=column, op=sign, values=(number.item.number or 0.0,)))
        return [*(token for token in run if token.kind == "T"), DONE]

    def _counted(self, run: Run) -> Run | None:
        sign, number, name = find_first_token(run, "<>"), find_first_token(run, "n"), find_first_token(run, "T").name
        if len(self.all("TA")) < 2 or (run[0].kind == "T" and sign.item.text.isascii()):
            return None  # bands that have more than five albums
        if number.values:
            raise Unread("an amount of what")  # orders of over 10000
        op: Any = _SIGNS[sign.role]
        self.related.append(Related(model=name, op=op, value=number.item.number or 0))
        return [DONE]

    def _set_limit(self, run: Run) -> Run:
        number = find_first_token(run, "n").item.number or 0
        if self.limit is not None or number != int(number) or not 0 < number <= MAX_LIMIT:
            raise Unread("how many")
        self.limit = int(number)
        return [token for token in run if token.kind != "n"]

    def _read_times(self) -> None:
        """Read one time, of the time column beside it or the only one."""
        self.rewrite("!Wt", lambda run: self._refuse_negated_time(run[1]))
        self.rewrite(
            "(?<!!)Wt|tW",
            lambda run: [self._assign_time_column(find_first_token(run, "t"), find_first_token(run, "W"))],
        )
        columns = {column.name: column for column in self.all("W")}
        if len(self.all("t")) == 1 and len(columns) == 1 and "!" not in self.text:
            self.rewrite("t", lambda run: [self._assign_time_column(run[0], *columns.values())])
            self.drop("W" if all(token.item.time and token.item.time.field for token in self.all("t")) else "")
        self.is_yearless = any(token.item.is_yearless for token in self.all("t"))
        times = [token.item.time for token in self.all("t") if token.item.time is not None]
        if len(times) > 1:
            raise Unread("several times")
        self.times = times
        self.rewrite("t", lambda run: [DONE])

    def _refuse_negated_time(self, column: GrammarToken) -> None:
        """Read “customers that haven't ordered in 2026”; an order not shipped then is ambiguous."""
        if column.model in {token.name for token in self.all("T")}:
            raise Unread("not then, or of then")

    def _assign_time_column(self, time: GrammarToken, column: GrammarToken) -> GrammarToken:
        model, dimension = self.catalog.dimension(column.name)
        if time.item.is_yearless and model.defaults.agg_time_dimension != dimension.name:
            raise Unread("of which year")  # birthdays are of every year
        assert time.item.time is not None  # of its kind
        return replace(time, item=replace(time.item, time=time.item.time.model_copy(update={"field": column.name})))

    def _read_groups(self) -> None:
        """Read what follows “by”, “each”, “各”; periods; each of the named or compared values; the order."""
        self.is_share = "%" in self.text
        self.order = "v" in self.text if self.all("v^") else None
        self.drop("%v^")
        runs = self.all("U")
        if runs and ("C" in self.text or (len(runs) == 1 and "z" in self.text and "b" not in self.text)):
            self.dimensions += [Breakdown(name=token.name) for token in runs]
            self.drop("C")
        self.rewrite("U", lambda run: [DONE])
        if is_ranked := bool(self.all(SUPERLATIVES)):
            self.rewrite("b(?:M|[cI]T)", self._ranked_by)
        self.rewrite("b?g|bu|" + ("Lu|" if is_ranked else "") + "b[DAT](?:&[DAT])*", self._grouped)
        if not self.dimensions:
            self.rewrite("[DAT]z", self._grouped)
        if "z" in self.text and not self.dimensions:
            raise Unread("of each what")
        self.rewrite("z", lambda run: [replace(run[0], kind="m")])
        if self.dimensions:
            self.rewrite("b$", lambda run: [])  # 按地区分

    def _ranked_by(self, run: Run) -> Run:
        self.by = Metric(name=run[-1].name, agg=None if run[-1].kind == "M" else "count")
        return [DONE]

    def _grouped(self, run: Run) -> Run:
        for token in run:
            if token.kind in "gu":
                self.dimensions.append(Breakdown(grain=token.role.partition(":")[2]))  # type: ignore[arg-type]
            elif token.kind in "DAT":
                self.dimensions.append(Breakdown(name=token.model if token.kind == "A" else token.name))
        return [DONE, *(token for token in run if token.kind == "z")]

    def _read_absences(self) -> None:
        """Read rows of another table that a thing has or lacks, and times that never came."""
        self.rewrite("![WDN]", lambda run: self.events.append((run[1].name, True)) or [DONE])  # type: ignore[func-returns-value]
        if len(self.all("TA")) > 1:
            self.rewrite("[!@]T", self._belonging)
        self.rewrite("@(?=[^T]|$)", lambda run: [])
        self.rewrite("_&_", lambda run: [DONE, DONE])

    def _belonging(self, run: Run) -> Run:
        self.related.append(Related(model=run[1].name, is_not=run[0].kind == "!"))
        return [DONE]


def _build_token(catalog: Catalog, item: QuestionItem, ref: Ref | None, after: QuestionItem) -> GrammarToken:
    """Return the token of an item. Raises Unread without a letter. An amount of money has a value."""
    if ref is not None and ref.kind == "dimension":
        dimension = catalog.dimension(ref.name)[1]
        kind = {"number": "N", "time": "W"}.get(dimension.type, "A" if dimension.is_name else "D")
        return GrammarToken(kind, item, ref)
    if ref is not None:
        return GrammarToken({"model": "T", "measure": "M", "value": "V"}[ref.kind], item, ref, (ref.value,))
    if item.time is not None:
        return GrammarToken("t", item)
    if item.number is not None and not item.roles:
        is_amount = any(role.partition(":")[0] in ("money", "currency") for role in after.roles)
        return GrammarToken("n", item, values=("",) if is_amount else ())
    letter = load_word_lists()["letters"].get(item.roles[0].partition(":")[0]) if item.roles else None
    if letter is None:
        raise Unread("", (item.text,))
    return GrammarToken(letter, item)


def require_currency(items: Sequence[QuestionItem], query: LogicalQuery, catalog: Catalog) -> None:
    """Raise Inexpressible for a currency other than the stored one: amounts are not converted.

    A layer without a currency is assumed to store the one asked for.
    """
    asked = {role for item in items if not item.refs for role in item.roles}
    money = {role.partition(":")[2] for role in asked if role.startswith("currency:")}
    named = [name for leaf in query.metrics for name in (leaf.name, *(entry.field for entry in leaf.filters))]
    named += [entry.field for entry in query.filters] + list(query.rows.columns if query.rows else ())
    named += [query.ranking.by] if query.ranking else []
    kept = {catalog.unit(name) for name in named}
    coins = kept & set(load_word_lists()["currencies"])
    if money and coins and money != coins:
        raise Inexpressible(_("No currency but %(kept)s is kept here.") % {"kept": ", ".join(sorted(coins))})
