"""Find the definitions of a layer that a free statement follows: only those are shown with its result.

A measure is followed where its aggregate of its expression stands over its table, and where its filter, and the table's, is among the
conditions of the same SELECT; otherwise it counts as not followed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import sqlglot
from django.utils.translation import gettext as _
from django.utils.translation import override
from sqlglot import exp

from business.logical_query.catalog import Catalog
from business.logical_query.wording import format_definition, format_deviation_remark
from business.parsing.model.selects import Select, iterate_conjuncts, parse_statement
from business.semantic_layer.model import Measure, SemanticModel

Filter = Mapping[str, Iterable[str]]
_AGGREGATES: dict[type[exp.AggFunc], str] = {
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Count: "count",
}


@dataclass(frozen=True, eq=False)
class _Aggregated:
    """An aggregate of a statement. expr: without table names. held: the possible values of its rows' columns."""

    agg: str
    expr: str
    model: str
    held: Mapping[str, frozenset[str]]

    def is_of(self, model: SemanticModel, measure: Measure) -> bool:
        wanted = normalise_expression(sqlglot.parse_one(measure.expr, dialect="postgres")) if measure.expr else "*"
        return (self.model, self.agg, self.expr) == (model.name, measure.agg, wanted)

    def keeps(self, model: SemanticModel, *filters: Filter) -> bool:
        return all(
            column in self.held and self.held[column] == frozenset(values)
            for conditions in filters
            for column, values in (conditions or {}).items()
        )


def list_definition_remarks(
    sql: str, catalog: Catalog, language: str, repeated: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the remarks on a statement: definitions it follows, similar ones it does not, else that it follows none.

    catalog: of words that may be shown. language: of the words, `zh…` or any other for English. repeated: models
    whose rows a join repeats: their definitions are not followed.
    """
    key = "zh" if language.startswith("zh") else "en"
    found = _Followed.of(sql, catalog, repeated)
    plain = (model for model in found.used if not model.default_filter and model.name not in repeated)
    definitions = [format_definition(model, key) for model in plain if model.description.all()]
    with override("zh-hans" if key == "zh" else "en"):
        definitions += [format_definition(measure, key) for measure in found.followed if measure.description.all()]
        definitions += [format_deviation_remark(measure, key) for measure in found.missed]
        if found.is_free:
            definitions.append(_("Counted by a model's own query, not by a definition in the data."))
    return tuple(dict.fromkeys(definitions))


def list_definition_differences(sql: str, catalog: Catalog, repeated: Collection[str] = ()) -> tuple[str, ...]:
    """Return for the model each measure that a statement computes, or names a column by, against its definition."""
    return tuple(
        describe_measure_definition(model, measure) for model, measure in _Followed.of(sql, catalog, repeated).differing
    )


def describe_measure_definition(model: SemanticModel, measure: Measure) -> str:
    """Return for the model how the layer defines a measure."""
    filters = _format_filters(measure, model)
    return (
        f"{model.name}.{measure.name} is defined as {measure.agg}({measure.expr or '*'}){f' where {filters}' if filters else ''}; "
        "this computes it otherwise. Use the measure in a query, or follow its definition."
    )


def _format_filters(measure: Measure, model: SemanticModel) -> str:
    conditions = {**model.default_filter, **measure.filter}
    return " and ".join(f"{column} in {list(values)}" for column, values in conditions.items())


@dataclass(frozen=True)
class _Followed:
    """used: the tables of a statement. is_free: whether something is counted by no definition."""

    used: tuple[SemanticModel, ...] = ()
    followed: tuple[Measure, ...] = ()
    differing: tuple[tuple[SemanticModel, Measure], ...] = ()
    is_free: bool = False

    @property
    def missed(self) -> tuple[Measure, ...]:
        return tuple(measure for _model, measure in self.differing)

    @classmethod
    def of(cls, sql: str, catalog: Catalog, repeated: Collection[str] = ()) -> "_Followed":
        tree = parse_statement(sql)
        if tree is None:  # shown in full when it runs
            return cls()
        names = {table.name for table in tree.find_all(exp.Table)}
        used = tuple(model for model in catalog.layer.semantic_models if model.table in names)
        found = [
            entry for select in tree.find_all(exp.Select) for entry in _find_aggregates(Select.of(select, catalog))
        ]
        aliases = (expression.alias for select in tree.find_all(exp.Select) for expression in select.expressions)
        shown = {alias.lower().replace("_", " ") for alias in aliases if alias}
        matched: set[_Aggregated] = set()
        followed, differing = [], []
        for model in used:
            for measure in model.measures:
                own = {item for item in found if item.is_of(model, measure)}
                kept = {item for item in own if item.keeps(model, measure.filter, model.default_filter)}
                is_repeated = model.name in repeated
                if own and own == kept and not measure.time and not is_repeated:
                    matched |= own
                    followed.append(measure)
                elif (
                    (measure.filter or model.default_filter or is_repeated)
                    if own
                    else _has_measure_name(measure, shown)
                ):
                    differing.append((model, measure))
        is_free = any(item not in matched for item in found) or (not found and tree.find(exp.AggFunc) is not None)
        return cls(used, tuple(followed), tuple(differing), is_free)


def _has_measure_name(measure: Measure, shown: Collection[str]) -> bool:
    """Return whether a column of the result has the measure's name. shown: column names in lower case, with spaces."""
    return any(word.lower() in shown for word in measure.words())


def _find_aggregates(own: Select) -> Iterator[_Aggregated]:
    """Yield the aggregates of one SELECT, without those of its subqueries."""
    where = own.select.args.get("where")
    for node in own.select.find_all(exp.AggFunc):
        if node.parent_select is not own.select or type(node) not in _AGGREGATES:
            continue
        inner, agg = node.this, _AGGREGATES[type(node)]
        if isinstance(inner, exp.Distinct):
            agg, inner = f"{agg}_distinct", inner.expressions[0]
        filtered = node.parent if isinstance(node.parent, exp.Filter) else None
        conditions = [part.this for part in (where, filtered and filtered.expression) if part]
        alias = own.source_of(inner)
        model = own.sources.get(alias)
        if isinstance(model, SemanticModel):
            yield _Aggregated(
                agg, normalise_expression(inner), model.name, _find_possible_values(own, alias, model, conditions)
            )
        else:
            yield _Aggregated(agg, normalise_expression(inner), "", {})


def _find_possible_values(
    own: Select, alias: str, model: SemanticModel, conditions: Iterable[exp.Expr]
) -> dict[str, frozenset[str]]:
    """Return the possible values of a table's columns under conditions joined by AND."""
    held: dict[str, frozenset[str]] = {}
    for part in iterate_conjuncts(conditions):
        column, values = _find_condition_values(part, model)
        if column is not None and own.source_of(column) == alias:
            held[column.name] = held.get(column.name, values) & values
    return held


def _find_condition_values(part: exp.Expr, model: SemanticModel) -> tuple[exp.Column | None, frozenset[str]]:
    """Return a column and its possible values under a condition; for exclusions, the layer's other listed values."""
    turned = part.this if isinstance(part, exp.Not) else part
    is_not = isinstance(part, exp.Not) != isinstance(turned, exp.NEQ)
    column = turned.this.unnest() if isinstance(turned, exp.In | exp.EQ | exp.NEQ) else None
    column = column.this if isinstance(column, exp.Cast) else column
    listed = turned.expressions if isinstance(turned, exp.In) else [turned.args.get("expression")]
    if not isinstance(column, exp.Column) or not all(isinstance(item, exp.Literal) for item in listed):
        return None, frozenset()
    values = frozenset(item.this for item in listed if isinstance(item, exp.Literal))
    if not is_not:
        return column, values
    known = [d for d in model.dimensions if d.expr == column.name and d.values]
    return (column, frozenset(value.value for value in known[0].values) - values) if known else (None, values)


def normalise_expression(part: exp.Expr) -> str:
    """Return an expression without the names of its tables and without quotes."""
    copy = part.copy()
    for column in copy.find_all(exp.Column):
        column.this.set("quoted", False)
        for name in ("table", "db", "catalog"):
            column.set(name, None)
    return copy.sql(dialect="postgres").lower()
