"""Read a question's head (numbers, a ranking or rows), and build the query with the other parts."""

import re

from business.logical_query.conditions import remove_negation
from business.logical_query.query import Breakdown, Filter, LogicalQuery, Metric, Related, ResultOrder, Rows
from business.parsing.reader.grammar import (
    DONE,
    SUPERLATIVES,
    GrammarToken,
    Reading,
    Run,
    Unread,
    find_first_token,
    table_of,
)

DOWN = frozenset({"max", "most", "latest", "dearest", "top"})
_ASKED = ("count", "much")
_PRICE = ("price", "cost", "价", "费")


class QueryHead:
    """metrics or rows: what is asked for. reading: their subject."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.catalog = reading.catalog
        self.metrics: list[Metric] = []
        self.rows: Rows | None = None
        self.ranking: ResultOrder | None = None

    def query(self) -> LogicalQuery:
        """Return the query of a whole question. Raises Unread."""
        reading = self.reading
        self._read_events()
        reading.rewrite("AT|TA", self._resolve_name_column)
        if reading.all(SUPERLATIVES):
            self._ranked()
        elif not self._read_numbers():
            self._read_rows()
        if self.metrics and self.metrics[0].agg == "avg":  # average freight per order: of each row, as it is anyway
            reading.dimensions = [dimension for dimension in reading.dimensions if dimension.name != self.base]
        if reading.order is not None and self.ranking is None:
            self.ranking = ResultOrder(descending=reading.order)
        self._require_plausible_query()
        reading.filters += self._build_event_filters()
        self._apply_to_related_rows()
        if reading.is_share and not reading.dimensions and self.rows is not None and not self.rows.columns:
            self.metrics, self.rows = [Metric(name=self.rows.model, agg="count")], None
        query = LogicalQuery(
            metrics=tuple(self.metrics),
            dimensions=tuple(dict.fromkeys(reading.dimensions)),
            rows=self.rows,
            filters=tuple(reading.filters),
            times=tuple(reading.times),
            related=tuple(reading.related),
            ranking=self.ranking,
            share=reading.is_share and bool(reading.dimensions),
        )
        if reading.is_share and not reading.dimensions:
            if len(reading.filters) != 1 or len(self.metrics) != 1:
                raise Unread("the percentage of what")
            return convert_to_share(query, reading.filters[0])
        return query

    @property
    def base(self) -> str:
        return self.rows.model if self.rows is not None else table_of(self.metrics[0].name)

    def make_metrics(self) -> None:
        """Make one token of each measure, count, and sum or average of a column."""
        reading = self.reading
        if len({token.name for token in reading.all("T")}) == 1:
            reading.rewrite("T(_*)T", lambda run: run[:-1])
        reading.rewrite("[me]?S?M(?:_*[me])?|Ma|aM", self._make_measure_token)
        reading.rewrite(
            "[aS]N|N[aS]",
            lambda run: [
                _make_metric_token(
                    find_first_token(run, "N").name, "avg" if find_first_token(run, "aS").kind == "a" else "sum"
                )
            ],
        )
        reading.rewrite("[cI]#?D|#D[Im]", self._make_distinct_count)
        reading.rewrite("[cS]*[cI]S?_*[TA]I?", self._make_row_count)
        reading.rewrite("[TA][SI_@]*I[cm]?|[TA]S?_*[cm]|m_*[TA]I?", self._make_row_count)

    def _resolve_name_column(self, run: Run) -> Run | None:
        """Read “names of customers” as the customers."""
        return [find_first_token(run, "T")] if run[0].model == run[1].model else None

    def _make_measure_token(self, run: Run) -> Run | None:
        name = find_first_token(run, "M").name
        if any(token.kind == "a" for token in run) and self.catalog.measures[name][1].agg != "avg":
            return None
        return [_make_metric_token(name), *(token for token in run if token.kind == "_")]

    def _make_distinct_count(self, run: Run) -> Run | None:
        name = find_first_token(run, "D").name
        is_listed = any(token.kind == "#" for token in run) or bool(self.catalog.dimension(name)[1].values)
        return [_make_metric_token(name, "count_distinct")] if is_listed else None

    def _make_row_count(self, run: Run) -> Run | None:
        """Count the rows of a table; the token is that of the word that asks for it, if any."""
        if run[0].kind == "I" and not run[0].item.text.isascii():
            return None  # 客户总数，欧洲客户数
        asks = [token for token in run if token.kind in "cm"] or run
        return [
            *(token for token in run if token.kind == "_"),
            _make_metric_token(find_first_token(run, "TA").model, "count", asks[0]),
        ]

    def _read_numbers(self) -> bool:
        """Read one number, or several with the same conditions. A number both named and asked for is one: 客户数在德国有多少."""
        reading = self.reading
        self.make_metrics()
        made = reading.all("1")
        self.metrics = [token.metric for token in made if token.metric is not None]
        if made and made[0].role not in _ASKED:
            reading.rewrite("1_*[cme]$", lambda run: run[:-1])
        if len(made) > 1:
            is_of_both = re.fullmatch("[Lxq_]*1(&1)+[Lxq_]*", reading.text) and not any(t.role in _ASKED for t in made)
            if not is_of_both or (
                reading.times and any(self._find_name_column(metric.name) for metric in self.metrics)
            ):
                raise Unread("a condition of which number")
        if made:
            self._drop_owner_tables({table_of(metric.name) for metric in self.metrics})
            self._require_pattern("[Lxq_]*1(&1)*[Lxq_]*")
        return bool(made)

    def _drop_owner_tables(self, bases: set[str], *, keep: int = 0) -> None:
        """Drop tables named only for their conditions: “revenue of customers in Germany”."""
        reading = self.reading
        owners = bases | {table_of(f.field) for f in reading.filters} | {table_of(d.name) for d in reading.dimensions}
        for token in reading.all("T"):
            if token.name in owners and len(reading.all("T")) > keep:
                reading.row.remove(token)

    def _require_pattern(self, pattern: str) -> None:
        """Raise Unread with the words left over."""
        if not re.fullmatch(pattern, self.reading.text):
            raise Unread("", tuple(t.item.text for t in self.reading.row if t.kind not in "1_Lxmq&@" and t.item.text))

    def _ranked(self) -> None:
        """Read the first groups by a metric, or rows by a column."""
        reading, text = self.reading, self.reading.text
        token = self.superlative()
        tables = {item.name for item in reading.all("T")}
        if token.kind in "pk":
            reading.by = self.price(tables or {table_of(item.field) for item in reading.filters})
        if reading.by is None and token.kind in "wo" and len(tables) == 1:
            default = self.catalog.model(*tables).defaults.agg_time_dimension
            reading.by = f"{min(tables)}.{default}" if default else None
        if reading.by is None and len(reading.all("M")) == 1:
            reading.by = Metric(name=find_first_token(reading.row, "M").name)
            reading.drop("M")
        if reading.by is None:
            raise Unread("the first by what")
        subject = next(iter(reading.all("TDA")), None)
        if subject is not None:
            reading.row.remove(subject)
        is_down = token.role in DOWN
        self.ranking = ResultOrder(descending=is_down, limit=reading.limit or 1)
        if isinstance(reading.by, Metric):
            self._rank_groups(reading.by, subject)
        else:
            self._rank_rows(reading.by, subject, is_thing=token.kind in "pk" or "L" in text)
        self._drop_owner_tables(set())
        self._require_pattern("[Lxmqe_@]*")

    def superlative(self) -> GrammarToken:
        """Return the superlative with its subject beside it. Raises Unread for several, or “top” without a number."""
        reading = self.reading
        tokens, plain = reading.all(SUPERLATIVES), reading.all("fr")
        if len(tokens) - len(plain) == 1:  # 销售额最高的前5个
            reading.drop("fr")
            tokens = reading.all(SUPERLATIVES)
        if len(tokens) != 1 or (plain and reading.limit is None):
            raise Unread("two superlatives, or how many")
        is_english = tokens[0].item.text.isascii()
        is_after = is_english or bool(re.search("LT@?[si]T", reading.text))  # 哪个品类有最多的产品
        before, after = "a?[MN][hlsiwofr]|W[wo]", "[hlsiwofr]a?[MN]|[wo]W"
        patterns = (after, before) if is_english else (before, after)
        counted = ("TI?[si]|TI[fr]", "[si][cI]?T")
        for pattern in (*patterns, *(counted[::-1] if is_after else counted)):
            reading.rewrite(pattern, self._set_ranking_metric)
        reading.drop(SUPERLATIVES)
        return tokens[0]

    def _set_ranking_metric(self, run: Run) -> Run | None:
        reading, target = self.reading, find_first_token(run, "MNWT")
        if reading.by is not None or (target.kind == "T" and len(reading.all("TDAu")) < 2 and not reading.dimensions):
            return None
        is_average = any(token.kind == "a" for token in run)
        if target.kind == "M":
            reading.by = Metric(name=target.name)
        elif target.kind == "T" or is_average:
            reading.by = Metric(name=target.name, agg="count" if target.kind == "T" else "avg")
        else:
            reading.by = target.name
        return [DONE]

    def price(self, tables: set[str]) -> str:
        """Return the price of the one named thing. Raises Unread."""
        columns = [
            (name, entry) for name in tables for entry in self.catalog.model(name).dimensions if entry.type == "number"
        ]
        found = [
            (name, item)
            for name, item in columns
            if any(word in wording for wording in item.words() for word in _PRICE)
        ]
        if len(found) != 1:
            raise Unread("which price")
        return f"{found[0][0]}.{found[0][1].name}"

    def _rank_groups(self, by: Metric, subject: GrammarToken | None) -> None:
        reading = self.reading
        self.metrics = [by]
        if bool(reading.dimensions) == (subject is not None) or len(reading.dimensions) > 1:
            raise Unread("the first of what, or of each")
        if subject is not None:
            reading.dimensions.append(Breakdown(name=subject.model if subject.kind == "A" else subject.name))

    def _rank_rows(self, by: str, subject: GrammarToken | None, *, is_thing: bool) -> None:
        """Read the first rows by a column; the largest number itself if no thing, or none with a name, is given."""
        reading, model = self.reading, table_of(by)
        is_number = self.catalog.dimension(by)[1].type == "number"
        if reading.dimensions or (subject is not None and (subject.kind == "D" or subject.model != model)):
            raise Unread("the first of what")
        if is_number and not is_thing and (subject is None or self._find_name_column(model) == ""):
            if reading.limit is not None:
                raise Unread("the first of what")
            self.metrics = [Metric(name=by, agg="max" if self.ranking and self.ranking.descending else "min")]
            self.ranking = None
        else:
            self.rows = Rows(model=model)
            self.ranking = ResultOrder.model_validate({**dict(self.ranking or ()), "by": by})

    def _read_rows(self) -> None:
        """Read a list of things with the requested columns; their count for groups or “how many”."""
        reading = self.reading
        self._drop_owner_tables(set(), keep=1)
        reading.rewrite("A", lambda run: None if reading.all("T") else [GrammarToken("T", run[0].item, run[0].ref)])
        tables, columns = reading.all("T"), reading.all("DNWA")
        if len(tables) > 1:
            raise Unread("", tuple(token.item.text for token in tables[1:]))
        model = tables[0].model if tables else self._find_owner_table(columns)
        is_counted = not tables and not columns and bool(reading.all("cm"))  # how many engineers
        if is_counted or (reading.dimensions and tables and not columns):
            reading.drop("c" if is_counted else "")
            self.metrics = [Metric(name=model, agg="count")]
        elif reading.dimensions or ("e" in reading.text and not reading.all("N")):
            raise Unread("a breakdown of what, or how much of what", tuple(token.item.text for token in columns))
        else:
            self.rows = Rows(
                model=model, columns=self._select_list_columns(model, columns), distinct="#" in reading.text
            )
        self._require_pattern("[Lxmqe_#]*T?[Lxmqe_]*(?:&?[DNWA]_*)*T?[Lxmqe_]*")

    def _find_owner_table(self, columns: Run) -> str:
        """Return the table meant where none is named: the one that points to everything else named."""
        reading, reaches = self.reading, self.catalog.joins.distance
        fields = [*(f.field for f in reading.filters), *(time.field for time in reading.times)]
        owners = {token.model for token in columns} | {table_of(name) for name in fields if name}
        bases = [owner for owner in sorted(owners) if all(reaches(owner, other) is not None for other in owners)]
        if not columns and "q" in reading.text:
            raise Unread("what of it")  # what was invoiced
        if len(bases) != 1 or not (reading.all("Lxmqec") or (columns and self._names_particular_things(bases[0]))):
            raise Unread("a list of what")
        return bases[0]

    def _select_list_columns(self, model: str, columns: Run) -> tuple[str, ...]:
        """Return the requested columns of a list beside the thing's name; alone, a column's values."""
        reading, is_named = self.reading, self._names_particular_things(model)
        if not columns:
            return ()
        if len(columns) == 1 and not is_named and columns[0].kind == "D":
            if not re.search("[Lq]_*#?D", reading.text) or len(reading.all("Lqme")) > 1:
                raise Unread("a column of what", (columns[0].item.text,))
            return (columns[0].name,)  # which countries do customers come from
        if not is_named and not reading.all("T"):
            raise Unread("a column of what", (columns[0].item.text,))
        return tuple(
            dict.fromkeys([*filter(None, [self._find_name_column(model)]), *(token.name for token in columns)])
        )

    def _find_name_column(self, model: str) -> str:
        """Return the name column of a table; "" for none, or for no table."""
        name = self.catalog.models[model].name_dimension if model in self.catalog.models else None
        return f"{model}.{name.name}" if name is not None else ""

    def _names_particular_things(self, model: str) -> bool:
        """Return whether particular things are named, by name or number."""
        return any(item.field == self._find_name_column(model) or item.op == "=" for item in self.reading.filters)

    def _read_events(self) -> None:
        """Read a time that only must be set: “shipped orders”, “customers that ordered”."""
        reading = self.reading
        names = [f"{t.name}.{self.catalog.model(t.name).defaults.agg_time_dimension}" for t in reading.all("T")]
        if re.search("[wo]W|W[wo]|[qL]_*W|W_*[mq]", reading.text):
            return
        row = [DONE, *reading.row, DONE]
        for before, token, after in zip(row, row[1:], row[2:], strict=False):
            if token.kind == "W" and token.name not in names:
                if before.values or after.values:
                    raise Unread("what was done with it")  # shipped with somebody
                reading.events.append((token.name, False))
        reading.drop("W")

    def _build_event_filters(self) -> list[Filter]:
        """Return columns that are set or missing, of the thing or its related rows. Raises Unread."""
        found = []
        for name, is_not in self.reading.events:
            model, column = self.catalog.dimension(name)
            if self.catalog.joins.distance(self.base, model.name) is None:
                self.reading.related.append(Related(model=model.name, is_not=is_not))
            elif column.type == "boolean":
                found.append(Filter(field=name, values=("false",)))
            elif column.type == "number":
                raise Unread("none, or zero of it")  # no stock on hand
            elif is_not or name != f"{self.base}.{model.defaults.agg_time_dimension}":
                found.append(Filter(field=name, op="is_null" if is_not else "is_not_null"))
        return found

    def _apply_to_related_rows(self) -> None:
        """Apply conditions and times of related rows that a thing has or lacks to these. Raises Unread."""
        reading, reaches = self.reading, self.catalog.joins.distance
        far = [f for f in reading.filters if reaches(self.base, table_of(f.field)) is None]
        is_listed = self.rows is not None or self.metrics[0].name in self.catalog.models
        if not reading.related and not far:
            return
        if len(reading.related) != 1 or not is_listed or reading.related[0].model == self.base:
            raise Unread("how these hang together")
        (related,) = reading.related
        if any(reaches(related.model, table_of(f.field)) is None for f in far):
            raise Unread("how these hang together")
        changes: dict[str, object] = {"filters": tuple(remove_negation(f) if related.is_not else f for f in far)}
        if len(reading.times) == 1 and table_of(reading.times[0].field) in ("", related.model):
            changes["time"], reading.times = reading.times[0], []
        reading.related = [related.model_copy(update=changes)]
        reading.filters = [f for f in reading.filters if f not in far]

    def _require_plausible_query(self) -> None:
        """Raise Unread for implausible queries: a thing by its own name, revenue of customers who came then."""
        reading, base = self.reading, self.base
        asks_itself = self.rows is not None and not self.rows.columns and self.ranking is None
        counts_itself = any(metric.name == base for metric in self.metrics) and not reading.dimensions
        if (asks_itself or counts_itself) and any(
            f.field == self._find_name_column(base) and f.op == "in" for f in reading.filters
        ):
            raise Unread("a thing by its own name")
        tables = {"", base, *(item.model for item in reading.related)}
        if any(table_of(time.field) not in tables for time in reading.times):
            raise Unread("of whose time")


def _make_metric_token(name: str, agg: str | None = None, token: GrammarToken = DONE) -> GrammarToken:
    return GrammarToken("1", token.item, metric=Metric.model_validate({"name": name, "agg": agg}))


def convert_to_share(query: LogicalQuery, part: Filter) -> LogicalQuery:
    """Return the query for the percentage of the number that one of its conditions keeps."""
    (whole,) = query.metrics
    rest = tuple(other for other in query.filters if other is not part)
    return query.model_copy(update={"metrics": (whole.model_copy(update={"filters": (part,)}),), "filters": rest})
