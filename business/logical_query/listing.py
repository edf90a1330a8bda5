"""A list of things, or of columns of things, as SQL."""

from dataclasses import dataclass
from datetime import date

from django.utils.translation import gettext as _

from business.guard.rewrite import quote_identifier
from business.logical_query.catalog import Catalog
from business.logical_query.comparisons import ORDERED
from business.logical_query.conditions import Conditions
from business.logical_query.query import Inexpressible, LogicalQuery, ResultOrder, Rows
from business.logical_query.source import JoinedTables

SHOWN_COLUMNS = 6  # columns shown for things without a name


def build_listing_sql(query: LogicalQuery, catalog: Catalog, today: date) -> str:
    """Return the statement of a query with rows. Raises Inexpressible."""
    assert query.rows is not None
    return _Listing(query, query.rows, catalog, today).text()


def build_order_and_limit(ranking: ResultOrder, by: str, rest: str) -> str:
    """Return ORDER BY and LIMIT. by: the position of a column; rest: breaks ties unless they are shown."""
    text = f" ORDER BY {by} {'DESC' if ranking.descending else 'ASC'} NULLS LAST"
    if ranking.limit and ranking.ties:
        return f"{text} FETCH FIRST {ranking.limit} ROWS WITH TIES"
    return text + rest + (f" LIMIT {ranking.limit}" if ranking.limit else "")


@dataclass(frozen=True)
class _Listing:
    query: LogicalQuery
    rows: Rows
    catalog: Catalog
    today: date

    def text(self) -> str:
        ranking, source = self.query.ranking, JoinedTables(self.rows.model, self.catalog)
        if ranking is not None and ranking.by.isdecimal():
            raise Inexpressible(_("A list is ordered by one of its columns."))
        columns = self._build_columns(source)
        conditions = Conditions(self.catalog, self.today, self.query.filters, self.query.times, self.query.related)
        where = conditions.where(source)
        distinct = self._needs_distinct_rows()
        if not distinct:
            columns += self._list_extra_columns(source, conditions)
        shown = list(dict.fromkeys(columns))
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        select = f"SELECT {'DISTINCT ' if distinct else ''}{', '.join(shown)} FROM {source.text()}{condition}"
        return select + self._build_order_by(ranking, shown, source, distinct=distinct)

    def _build_columns(self, source: JoinedTables) -> list[str]:
        if self.rows.columns:
            return [self._name_column(name, source) for name in self.rows.columns]
        model = self.catalog.model(self.rows.model)
        if model.name_dimension is not None:
            return [self._name_column(f"{model.name}.{model.name_dimension.name}", source)]
        key = model.primary.expr if model.primary else ""
        shown = [item for item in model.dimensions if item.expr != key][:SHOWN_COLUMNS]
        columns = [f"{source.key(model.name)} AS {quote_identifier(key)}"] if key else []
        if not columns and not shown:
            raise Inexpressible(_("%(name)s has nothing to show.") % {"name": model.name})
        return columns + [self._name_column(f"{model.name}.{item.name}", source) for item in shown]

    def _name_column(self, name: str, source: JoinedTables) -> str:
        if name in self.catalog.models:
            model = self.catalog.model(name)
            if model.name_dimension is None:
                return f"{source.key(name)} AS {quote_identifier(name)}"
            return f"{source.column(f'{name}.{model.name_dimension.name}')} AS {quote_identifier(name)}"
        return f"{source.column(name)} AS {quote_identifier(name.rpartition('.')[2])}"

    def _needs_distinct_rows(self) -> bool:
        """Return whether to show distinct rows: columns that do not identify things and are no numbers or times."""
        if self.rows.distinct or not self.rows.columns:
            return self.rows.distinct
        if self.query.ranking is not None and self.query.ranking.by:
            return False
        model = self.catalog.model(self.rows.model)
        own = [self.catalog.dimension(name) for name in self.rows.columns if name not in self.catalog.models]
        keys = {model.primary.expr} if model.primary else set()
        keys |= {model.name_dimension.expr} if model.name_dimension else set()
        if any(owner.name == model.name and dimension.expr in keys for owner, dimension in own):
            return False
        kinds = {dimension.type for _owner, dimension in own}
        return not (len(self.rows.columns) > 1 and kinds & {"number", "time"})

    def _list_extra_columns(self, source: JoinedTables, conditions: Conditions) -> list[str]:
        """Return the columns that the list is limited or ordered by, to show beside each thing."""
        found = [
            self._name_column(item.field, source)
            for item in self.query.filters
            if item.op in ORDERED and source.reaches(self.catalog.dimension(item.field)[0].name)
        ]
        ranking = self.query.ranking
        found += [self._name_column(ranking.by, source)] if ranking is not None and ranking.by else []
        for related in self.query.related:
            if related.op is None or related.is_not:
                continue
            inner, sql, where = conditions.per_owner(related, source)
            own = f"{inner.key(source.base)} = {source.key(source.base)}"
            found.append(
                f"(SELECT {sql} FROM {inner.text()} WHERE {' AND '.join([*where, own])}) AS {quote_identifier('count')}"
            )
        return found

    def _build_order_by(
        self, ranking: ResultOrder | None, shown: list[str], source: JoinedTables, *, distinct: bool
    ) -> str:
        if ranking is None or not ranking.by:
            limit = f" LIMIT {ranking.limit}" if ranking and ranking.limit else ""
            return f" ORDER BY 1{limit}"
        named = self._name_column(ranking.by, source)
        if named not in shown:
            raise Inexpressible(_("%(name)s is not among what is shown.") % {"name": ranking.by})
        primary = self.catalog.model(source.base).primary
        rest = f", {source.key(source.base)}" if primary and not distinct else ""
        return build_order_and_limit(ranking, str(shown.index(named) + 1), rest)
