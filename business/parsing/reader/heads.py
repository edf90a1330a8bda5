"""What is asked for: numbers, the first of a ranking, or rows; and the query that it makes with what is said besides."""

import re

from business.logical_query.conditions import positive
from business.logical_query.query import Dimension, Filter, LogicalQuery, Metric, Ranking, Related, Rows
from business.parsing.reader.grammar import DONE, PRICE, Reading, Token, Unread

_ASKS = "[Lxmqe_]*"
DOWN = frozenset({"max", "most", "latest", "dearest", "top"})


class Head:
    """metrics or rows: what is asked for. said: of what."""

    def __init__(self, reading: Reading) -> None:
        self.said = reading
        self.catalog = reading.catalog
        self.metrics: list[Metric] = []
        self.rows: Rows | None = None
        self.ranking: Ranking | None = None
        self.within: tuple[Dimension, ...] = ()

    def query(self) -> LogicalQuery:
        """The query of a whole question. Raises Unread."""
        said = self.said
        is_exists, is_listed = "x" in said.text, bool(said.all("LA"))
        self._events()
        if re.search("[hlsiwopkfr]", said.text):
            self._ranked()
        else:
            self._numbers()
            self.metrics or self._rows()
        filters = self._shares()
        if self.metrics and self.metrics[0].agg == "avg":  # average freight per order: of each row, as it is anyway
            said.dimensions = [each for each in said.dimensions if each.name != self.base]
        self._require_sense(filters)
        if len(self.metrics) > 1 and said.times and any(self._is_thing(metric.name) for metric in self.metrics):
            raise Unread("those that came then, or that there were")
        filters, related, times = self._of_related([*filters, *self._missing()])
        order = said.order
        if order and not self.ranking:
            is_of_metric = order[0] in {"", *(metric.name for metric in self.metrics)}
            self.ranking = Ranking(by="" if is_of_metric else order[0], descending=order[1])
        return LogicalQuery.model_validate(
            {
                "metrics": tuple(self.metrics),
                "dimensions": tuple(dict.fromkeys(said.dimensions)),
                "rows": self.rows,
                "filters": tuple(filters),
                "times": tuple(times),
                "related": tuple(related),
                "ranking": self.ranking,
                "comparison": said.comparison,
                "share": said.is_share and bool(said.dimensions),
                "outcome": "exists" if is_exists and self.rows is not None and not is_listed else "table",
            }
        )

    @property
    def base(self) -> str:
        return self.rows.model if self.rows is not None else self.metrics[0].name.partition(".")[0]

    def make_metrics(self) -> None:
        """Measures, counts, and sums or averages of columns, each as one token."""
        said = self.said
        tables = {token.name for token in said.all("T")}
        if len(tables) == 1 and len(said.all("T")) > 1:
            said.rewrite("T(_*)T", lambda run: run[:-1])
        said.rewrite("AT|TA", self._named)
        said.rewrite("[me]?[SQ]?M(?:_*[me])?|Ma|aM", self._measure)
        said.rewrite("[aSQ]N|N[aSQ]", self._aggregate)
        said.rewrite("[cI]#?D|#D[Im]", self._distinct)
        said.rewrite("[cS]*[cI]S?_*[TA]I?", self._counted)
        said.rewrite("[TA][SI_@]*I[cm]?|[TA]S?_*[cm]|m_*[TA]I?", self._counted)

    def _named(self, run: list[Token]) -> list[Token] | None:
        table = next(token for token in run if token.kind == "T")
        other = next(token for token in run if token.kind == "A")
        return [table] if other.name.partition(".")[0] == table.name else None

    def _measure(self, run: list[Token]) -> list[Token] | None:
        name = next(token for token in run if token.kind == "M").name
        is_average = self.catalog.measures[name][1].agg == "avg"
        if any(token.kind == "a" for token in run) and not is_average:
            return None
        return [Token("1", metric=Metric(name=name)), *(token for token in run if token.kind == "_")]

    def _aggregate(self, run: list[Token]) -> list[Token]:
        name = next(token for token in run if token.kind == "N").name
        agg = "avg" if any(token.kind == "a" for token in run) else "sum"
        return [Token("1", metric=Metric(name=name, agg=agg))]  # type: ignore[arg-type]

    def _distinct(self, run: list[Token]) -> list[Token] | None:
        column = next(token for token in run if token.kind == "D")
        if not any(token.kind == "#" for token in run) and not self.catalog.dimension(column.name)[1].values:
            return None
        return [Token("1", metric=Metric(name=column.name, agg="count_distinct"))]

    def _counted(self, run: list[Token]) -> list[Token] | None:
        """How many of a table. `c` stays where it is asked for by itself: no condition behind it is another number's."""
        name = next(token for token in run if token.kind in "TA").model
        if run[0].kind == "I" and not run[0].item.text.isascii():
            return None  # 客户总数，欧洲客户数
        asks = [token for token in run if token.kind in "cm"]
        around = [DONE] * sum(token.kind == "_" for token in run)
        return [*around, Token("1", item=(asks or run)[0].item, metric=Metric(name=name, agg="count"))]

    def _numbers(self) -> None:
        """One number, or several of the same conditions."""
        said = self.said
        self.make_metrics()
        made = said.all("1")
        if len(made) > 1 and not re.fullmatch(_ASKS + "1(&1)+" + _ASKS, said.text):
            raise Unread("a condition of which number")
        if len(made) > 1 and any(token.role in ("count", "much") for token in made):
            raise Unread("a condition of which number")
        self.metrics = [token.metric for token in made if token.metric is not None]
        if not made:
            return
        # 客户数在德国有多少: a number that is named and asked for is one
        if made[0].role not in ("count", "much"):
            said.rewrite("1_*[cme]$", lambda run: run[:-1])
        self._owners("1")
        self._all_said("[Lxq_]*1(&1)*[Lxq_]*")

    def _owners(self, head: str) -> None:
        """“Revenue of customers in Germany”: a table whose conditions are said is named besides."""
        said = self.said
        bases = {(token.metric.name if token.metric else "").partition(".")[0] for token in said.all("1")}
        fields = {each.field.partition(".")[0] for each in said.filters} | {
            each.name.partition(".")[0] for each in said.dimensions
        }
        for token in said.all("T"):
            if token.name in fields | bases and (head != "T" or len(said.all("T")) > 1):
                said.row.remove(token)

    def _all_said(self, pattern: str) -> None:
        """Raises Unread with what is left over."""
        if not re.fullmatch(pattern, self.said.text):
            left = [token.item.text for token in self.said.row if token.kind not in "1_Lxmq&@" and token.item.text]
            raise Unread("", tuple(left))

    def _ranked(self) -> None:
        """The first of groups by a metric, or of rows by a column."""
        said = self.said
        groups, self.row = list(said.dimensions), said.text
        said.rewrite("AT|TA", self._named)
        token = self.superlative()
        if token.role in ("dearest", "cheapest"):
            named = {token.name for token in said.all("T")}
            said.by = self.price(named or {each.field.partition(".")[0] for each in said.filters})
        if said.by is None and token.role in ("latest", "earliest"):
            tables = said.all("T")
            default = self.catalog.model(tables[0].name).defaults.agg_time_dimension if tables else ""
            said.by = f"{tables[0].name}.{default}" if default else None
        if said.by is None and len(said.all("M")) == 1:
            said.by = Metric(name=said.all("M")[0].name)
            said.drop("M")
        if said.by is None:
            raise Unread("the first by what")
        subject = next(iter(said.all("TDA")), None)
        if subject is not None:
            said.row.remove(subject)
        is_down = token.role in DOWN
        if isinstance(said.by, Metric):
            self._first_groups(said.by, subject, groups)
        else:
            self._first_rows(said.by, subject, is_down=is_down, is_thing=token.kind in "pk")
        if said.by is not None and not (self.rows is None and self.metrics[0].agg in ("max", "min")):
            self.ranking = Ranking(
                by=said.by if isinstance(said.by, str) else "",
                descending=is_down,
                limit=said.limit or 1,
                within=self.within,
            )
        self._owners("")
        self._all_said("[Lxmqe_@]*")

    def superlative(self) -> Token:
        """The superlative, with what it is of beside it. Raises Unread for several, or a plain “top” of nobody knows how many."""
        said = self.said
        tokens = said.all("hlsiwopkfr")
        plain = [token for token in tokens if token.kind in "fr"]
        if plain and said.limit is None:
            raise Unread("how many")
        if len(tokens) > 1 and len(tokens) - len(plain) == 1:  # 销售额最高的前5个
            tokens = [token for token in tokens if token not in plain]
        if len(tokens) != 1:
            raise Unread("two superlatives")
        said.row = [token for token in said.row if token not in plain or token is tokens[0]]
        first, then = (
            ("[hlsiwofr]a?[MN]|[wo]W", "a?[MN][hlsiwofr]|W[wo]")
            if tokens[0].item.text.isascii()
            else ("a?[MN][hlsiwofr]|W[wo]", "[hlsiwofr]a?[MN]|[wo]W")
        )
        if said.by is None:
            is_after = tokens[0].item.text.isascii() or bool(re.search("LT@?[si]T", said.text))  # 哪个品类有最多的产品
            counted = ("[si][cI]?T", "TI?[si]|TI[fr]") if is_after else ("TI?[si]|TI[fr]", "[si][cI]?T")
            for pattern in (first, then, *counted):
                said.rewrite(pattern, self._ranked_by)
        said.drop("hlsiwopkfr")
        return tokens[0]

    def _ranked_by(self, run: list[Token]) -> list[Token] | None:
        said = self.said
        target = next(token for token in run if token.kind in "MNWT")
        if said.by is not None or (target.kind == "T" and len(said.all("TDAu")) < 2 and not said.dimensions):
            return None
        if target.kind == "M":
            said.by = Metric(name=target.name)
        elif target.kind == "T":
            said.by = Metric(name=target.name, agg="count")
        else:
            is_average = any(token.kind == "a" for token in run)
            said.by = Metric(name=target.name, agg="avg") if is_average else target.name
        return [DONE]

    def price(self, tables: set[str]) -> str:
        """The price of the one thing that is named. Raises Unread."""
        found = [
            f"{name}.{each.name}"
            for name in tables
            for each in self.catalog.model(name).dimensions
            if each.type == "number" and any(word in said for said in each.words() for word in PRICE)
        ]
        if len(found) != 1:
            raise Unread("which price")
        return found[0]

    def _first_groups(self, by: Metric, subject: Token | None, groups: list[Dimension]) -> None:
        said = self.said
        self.metrics = [by]
        if subject is not None and groups and re.search("[fr]$", self.row):
            raise Unread("the first of each, or of all")
        if subject is not None:
            name = subject.name.partition(".")[0] if subject.kind == "A" else subject.name
            said.dimensions.append(Dimension(name=name))
            self.within = tuple(groups)
        if not said.dimensions or len(groups) > 1:
            raise Unread("the first of what")

    def _first_rows(self, by: str, subject: Token | None, *, is_down: bool, is_thing: bool) -> None:
        """Rows by a column; without a table the largest number itself."""
        said = self.said
        model = by.partition(".")[0]
        if said.dimensions or (subject is not None and subject.kind == "D"):
            raise Unread("the first of what")
        table = subject.name.partition(".")[0] if subject is not None else model
        is_nameless = self.catalog.model(table).name_dimension is None
        is_number = self.catalog.dimension(by)[1].type == "number"
        if (subject is None and not is_thing and "L" not in said.text) or (is_nameless and is_number and "L" not in said.text):
            if not is_number and subject is None and said.limit is None:  # the most recent hire
                self.rows = Rows(model=model)
                return
            if not is_number or said.limit is not None or "L" in said.text:
                raise Unread("the first of what")
            self.metrics = [Metric(name=by, agg="max" if is_down else "min")]
            return
        if table != model:
            raise Unread("the first by what")
        self.rows = Rows(model=table)

    def _rows(self) -> None:
        """A list of things, with the columns that are asked for; by groups their number."""
        said = self.said
        said.rewrite("AT|TA", self._named)
        self._owners("T")
        said.rewrite("A", lambda run: [Token("T", run[0].item, run[0].ref)] if not said.all("T") else None)
        tables = said.all("T")
        columns = said.all("DNWA")
        if len(tables) > 1:
            raise Unread("", tuple(token.item.text for token in tables[1:]))
        model = tables[0].name.partition(".")[0] if tables else self._owner(columns)
        if not tables and not columns and not said.dimensions and re.search("[cm]", said.text):
            said.rewrite("[cm]", lambda run: [])  # how many engineers
            self.metrics = [Metric(name=model, agg="count")]
        elif said.dimensions:
            if columns or not tables:
                raise Unread("a breakdown of what", tuple(token.item.text for token in columns))
            self.metrics = [Metric(name=model, agg="count")]
        else:
            self.rows = Rows(model=model, columns=self._columns(model, columns), distinct="#" in said.text)
        self._all_said("[Lxmqe_#]*T?[Lxmqe_]*(?:&?[DNWA]_*)*T?[Lxmqe_]*")

    def _owner(self, columns: list[Token]) -> str:
        said = self.said
        owners = {token.name.partition(".")[0] for token in columns} | {
            each.field.partition(".")[0] for each in (*said.filters, *said.times) if each.field
        }
        joins = self.catalog.joins
        bases = [one for one in sorted(owners) if all(joins.distance(one, other) is not None for other in owners)]
        if not columns and "q" in said.text:
            raise Unread("what of it")  # what was invoiced
        if len(bases) != 1 or not (re.search("[Lxmqec]", said.text) or (columns and self._is_named(bases[0]))):
            raise Unread("a list of what")
        return bases[0]

    def _columns(self, model: str, columns: list[Token]) -> tuple[str, ...]:
        """The columns that are asked for of a list, beside what the thing is called."""
        said = self.said
        if not columns:
            return ()
        name, is_named = self.catalog.model(model).name_dimension, self._is_named(model)
        if not re.search("[Lmqe]", said.text) and not is_named and not said.all("T"):
            raise Unread("a column of what")
        if len(columns) == 1 and not is_named and columns[0].kind == "D":
            if not re.search("[Lq]_*#?D", said.text) or len(said.all("Lqme")) > 1:
                raise Unread("a column of what", (columns[0].item.text,))
            return (columns[0].name,)  # which countries do customers come from
        if not is_named and not said.all("T"):
            raise Unread("a number of what", (columns[0].item.text,))
        called = [f"{model}.{name.name}"] if name is not None else []
        return tuple(dict.fromkeys([*called, *(token.name for token in columns)]))

    def _is_named(self, model: str) -> bool:
        """Whether certain things are named."""
        name = self.catalog.model(model).name_dimension
        return name is not None and any(each.field == f"{model}.{name.name}" for each in self.said.filters)

    def _events(self) -> None:
        """A time that is only said to have been: “shipped orders”, “customers that ordered”."""
        said = self.said
        names = [f"{t.name}.{self.catalog.model(t.name).defaults.agg_time_dimension}" for t in said.all("T")]
        is_asked = bool(re.search("[wo]W|W[wo]|[qL]_*W|W_*[mq]", said.text))
        if is_asked:
            return
        row = [DONE, *said.row, DONE]
        for place, token in enumerate(row):
            if token.kind == "W" and token.name not in names:
                if row[place - 1].values or row[place + 1].values:
                    raise Unread("what was done with it")  # shipped with somebody
                said.events.append((token.name, False))
        said.drop("W")

    def _is_thing(self, name: str) -> bool:
        return name in self.catalog.models and self.catalog.models[name].name_dimension is not None

    def _missing(self) -> list[Filter]:
        """Times that are there or not, of the thing itself or of rows that it has; a number that is none."""
        found = []
        for name, is_not in self.said.events:
            model, column = self.catalog.dimension(name)
            if self.catalog.joins.distance(self.base, model.name) is None:
                self.said.related.append(Related(model=model.name, is_not=is_not))
            elif column.type == "boolean":
                found.append(Filter(field=name, values=("false",)))
            elif model.name == self.base and model.defaults.agg_time_dimension == column.name and not is_not:
                continue
            elif is_not and column.type == "number":  # no stock on hand
                none = (Filter(field=name, op="is_null"), Filter(field=name, op="=", values=(0,)))
                found.append(Filter(any_of=none))
            else:
                found.append(Filter(field=name, op="is_null" if is_not else "is_not_null"))
        return found

    def _shares(self) -> list[Filter]:
        """A part of a whole: the one condition says which."""
        said = self.said
        if not said.is_share or said.dimensions:
            return said.filters
        if self.rows is not None and not self.rows.columns:
            self.metrics, self.rows = [Metric(name=self.rows.model, agg="count")], None
        if len(said.filters) != 1 or len(self.metrics) != 1:
            raise Unread("the percentage of what")
        (whole,) = self.metrics
        self.metrics = [whole.model_copy(update={"filters": tuple(said.filters), "over": whole, "percent": True})]
        return []

    def _of_related(self, filters: list[Filter]) -> tuple[list[Filter], list[Related], list]:
        """What only rows that a thing has or has not have is said of these; so is a time of theirs."""
        said, joins = self.said, self.catalog.joins
        far = [f for f in filters if f.field and joins.distance(self.base, f.field.partition(".")[0]) is None]
        if not said.related:
            if far:
                raise Unread("how these hang together")
            return filters, [], said.times
        if len(said.related) > 1 or (self.rows is None and self.metrics[0].name not in self.catalog.models):
            raise Unread("of which rows")
        (related,) = said.related
        if related.model == self.base or any(joins.distance(related.model, f.field.partition(".")[0]) is None for f in far):
            raise Unread("how these hang together")
        related = related.model_copy(update={"filters": tuple(positive(f) if related.is_not else f for f in far)})
        times = said.times
        if len(times) == 1 and times[0].field.partition(".")[0] in ("", related.model):
            related, times = related.model_copy(update={"time": times[0]}), []
        return [f for f in filters if f not in far], [related], times

    def _require_sense(self, filters: list[Filter]) -> None:
        """What nobody asks means something else. Raises Unread."""
        base = self.base
        name = self.catalog.models[base].name_dimension if base in self.catalog.models else None
        asks_itself = self.rows is not None and not self.rows.columns and self.ranking is None
        counts_itself = any(metric.name == base for metric in self.metrics) and not self.said.dimensions
        if name is not None and (asks_itself or counts_itself):
            if any(each.field == f"{base}.{name.name}" and each.op == "in" for each in filters):
                raise Unread("a thing by its own name")
        for time in self.said.times:
            owner = time.field.partition(".")[0]
            if owner not in ("", base) and not any(each.model == owner for each in self.said.related):
                raise Unread("of whose time")
