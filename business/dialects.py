"""Translate a guarded statement into another engine's SQL; what has no equivalent there is refused, never guessed.

Layers, questions and both grammars of the guard use PostgreSQL's SQL; translation is the last step, after the guard.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

import sqlglot
from django.utils.translation import gettext as _
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from business.connections.postgres_session import FetchedRows
from business.execute import StatementResult
from business.guard.grammar import iterate_nodes, parse_query
from business.guard.guard import guard_statement
from business.guard.policy import TablePolicy
from business.guard.refusal import RefusalKind, SqlRefused
from business.guard.rewrite import ProjectionTarget
from business.guard.rules import list_name_parts
from business.limits import StatementLimits

Dialect = Literal["duckdb", "mysql"]
Fetch = Callable[[str, str | None], Awaitable[tuple[FetchedRows, int | None]]]
"""(statement, the same without our limit where that may cut rows) → rows, and how many there are where some were cut."""

# The part of the guard's vocabulary that means the same everywhere once sqlglot has written it.
_FUNCTIONS = """
count sum avg min max stddev_samp stddev_pop var_samp var_pop abs ceil ceiling floor round sqrt power exp ln mod sign
lower upper length char_length btrim trim ltrim rtrim substring substr left right replace concat concat_ws position strpos
extract date_trunc to_char row_number rank dense_rank ntile lag lead first_value last_value percent_rank cume_dist
"""
FUNCTIONS = frozenset(_FUNCTIONS.split())
OF_DUCKDB = frozenset({"make_date", "array_position", "percentile_cont", "string_agg"})
_OPERATORS = "+ - * / % = <> < > <= >= || ~~ !~~ ~~* !~~* BETWEEN"
OPERATORS = frozenset(_OPERATORS.split()) | {"NOT BETWEEN"}
_TYPES = "text varchar bpchar char int2 int4 int8 smallint int integer bigint numeric decimal float8 double bool date timestamp"
TYPES = frozenset(_TYPES.split())
NODES = frozenset(
    {"A_Indirection", "CollateClause", "GroupingSet", "GroupingFunc", "RangeFunction", "RowExpr", "WithinGroup"}
)
PARTS = frozenset({"year", "quarter", "month", "week", "day", "hour", "minute", "isodow"})
GRAINS = frozenset({"year", "quarter", "month", "week", "day"})
FORMATS = {"YYYY-MM-DD": "%Y-%m-%d", "YYYY-MM": "%Y-%m", "YYYY": "%Y"}
QUARTERS = 'YYYY-"Q"Q'
_PLACE = "place_of_row"


@dataclass(frozen=True)
class DialectAccess:
    """Access to an engine other than PostgreSQL. fetch: runs a translated statement, however the engine is reached.

    times: columns that hold times, which MySQL treats as numbers in arithmetic.
    """

    policy: TablePolicy
    dialect: Dialect
    fetch: Fetch
    times: frozenset[str] = frozenset()
    limits: StatementLimits = field(default_factory=StatementLimits)


async def run_translated(access: DialectAccess, text: str, *, execute: bool = True) -> StatementResult:
    """Check a statement as PostgreSQL's, translate it, and run it unless told not to.

    Raises SqlRefused, and what `fetch` raises.
    """
    checked = guard_statement(text, access.policy, ProjectionTarget(rows=access.limits.rows))
    names = tuple(table.full_name for table in checked.tables)
    statement = translate_statement(checked.sql, access.dialect, access.times)
    if not execute:
        return StatementResult(statement, None, None, names)
    uncapped = (
        translate_statement(checked.uncapped, access.dialect, access.times) if checked.uncapped is not None else None
    )
    rows, total = await access.fetch(statement, uncapped)
    return StatementResult(statement, rows, total, names)


def translate_statement(statement: str, dialect: Dialect, times: frozenset[str] = frozenset()) -> str:
    """Return a statement that the guard wrote, in another dialect. Raises SqlRefused where there is no equivalent."""
    _require_portable_functions(statement, dialect)
    try:
        tree = _rewrite_ties_as_ranks(sqlglot.parse_one(statement, dialect="postgres"))
        for node in reversed(list(tree.bfs())):  # inner nodes first: replacements are not visited again
            written = _rewrite_node(node, dialect)
            if written is not node:
                node.replace(written)
        if dialect == "mysql":
            _require_no_time_arithmetic(tree, times)
        text = tree.sql(
            dialect=dialect, identify=True, unsupported_level=ErrorLevel.RAISE
        )  # quote words reserved there, too
        again = sqlglot.parse(text, dialect=dialect)
    except (SqlglotError, RecursionError) as error:
        raise _build_untranslatable_refusal(str(error).splitlines()[0]) from error
    if len(again) != 1 or again[0] is None or _collect_table_names(again[0]) != _collect_table_names(tree):
        raise _build_untranslatable_refusal("FROM")
    return text


def _require_portable_functions(statement: str, dialect: Dialect) -> None:
    functions = FUNCTIONS | (OF_DUCKDB if dialect == "duckdb" else frozenset())
    for node in iterate_nodes(parse_query(statement)):
        match node.DESCRIPTOR.name:
            case "FuncCall" if (name := list_name_parts(node.funcname)[-1]) not in functions:
                raise _build_untranslatable_refusal(name)
            case "A_Expr" if node.kind not in _SPELLED and (name := list_name_parts(node.name)[-1]) not in OPERATORS:
                raise _build_untranslatable_refusal(name)
            case "TypeName" if (name := list_name_parts(node.names)[-1]) not in TYPES or node.array_bounds:
                raise _build_untranslatable_refusal(name)
            case kind if kind in NODES:
                raise _build_untranslatable_refusal(kind)


_SPELLED = frozenset({3, 4, 5})  # IS [NOT] DISTINCT FROM and NULLIF, whose operator is only “=”


def _rewrite_node(node: exp.Expr, dialect: Dialect) -> exp.Expr:
    """Return a replacement for a node that sqlglot would write with another meaning."""
    match node:
        case exp.Extract():
            return _extract_part(node.this.name.lower(), node.expression, dialect)
        case exp.TimestampTrunc() | exp.DateTrunc():
            grain = node.args["unit"].name.lower()
            if grain not in GRAINS:
                raise _build_untranslatable_refusal(f"date_trunc {grain}")
            return _truncate_to_period(grain, node.this) if dialect == "mysql" else node
        case exp.ToChar() | exp.TimeToStr():
            return _format_time(node, dialect)
        case exp.DataType() if node.this == exp.DataType.Type.DECIMAL and not node.expressions:
            return exp.DataType.build("DECIMAL(38, 10)")
        case exp.Like() | exp.ILike() if dialect == "duckdb" and not isinstance(node.parent, exp.Escape):
            return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))
    return _rewrite_for_mysql(node) if dialect == "mysql" else node


def _rewrite_for_mysql(node: exp.Expr) -> exp.Expr:
    match node:
        case exp.Ordered(this=exp.Literal()):
            node.set("this", _resolve_order_position(node))
        case exp.Filter():
            return _rewrite_filtered_aggregate(node)
        case exp.Sub() if all(map(_is_date, (node.this, node.expression))):
            return _build_function_call("DATEDIFF", node.this.copy(), node.expression.copy())
        case exp.Offset() if node.parent and not node.parent.args.get("limit"):
            node.parent.set("limit", exp.Limit(expression=exp.Literal.number(2**63 - 1)))
    return node


def _require_no_time_arithmetic(tree: exp.Expr, times: frozenset[str]) -> None:
    """Refuse arithmetic on times: MySQL computes with dates as numbers such as 20,250,101; use `DATEDIFF`."""
    if any(alias.columns for alias in tree.find_all(exp.TableAlias)):
        raise _build_untranslatable_refusal("AS (…)")
    named = list(tree.find_all(exp.Alias))
    for _each in named:  # resolve chains of names, at most as long as there are names
        times |= {alias.alias for alias in named if _contains_time_column(alias.this, times)}
    for node in tree.find_all(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg, exp.Sum, exp.Avg):
        if any(_contains_time_column(part, times) for part in node.iter_expressions()):
            raise _build_untranslatable_refusal(f"{node.key} of times")


def _contains_time_column(node: exp.Expr, times: frozenset[str]) -> bool:
    if node.find(exp.Extract, exp.Anonymous, exp.Count, exp.Interval) is not None:
        return False
    return any(column.name in times for column in node.find_all(exp.Column))


def _extract_part(part: str, value: exp.Expr, dialect: Dialect) -> exp.Expr:
    if part not in PARTS:
        raise _build_untranslatable_refusal(f"extract {part}")
    if dialect == "mysql" and part == "isodow":
        return exp.Paren(this=exp.Add(this=_build_function_call("WEEKDAY", value), expression=exp.Literal.number(1)))
    if dialect == "mysql" and part == "week":
        return _build_function_call("WEEK", value, exp.Literal.number(3))
    return exp.Extract(this=exp.Var(this=part.upper()), expression=value)


def _truncate_to_period(grain: str, value: exp.Expr) -> exp.Expr:
    """Return the first day of a period, in MySQL's functions."""
    day = exp.cast(value, "date")
    template = {
        "day": "{d}",
        "week": "{d} - INTERVAL WEEKDAY({d}) DAY",
        "month": "{d} - INTERVAL (DAYOFMONTH({d}) - 1) DAY",
        "quarter": "MAKEDATE(YEAR({d}), 1) + INTERVAL (QUARTER({d}) - 1) QUARTER",
        "year": "MAKEDATE(YEAR({d}), 1)",
    }[grain]
    return exp.Paren(this=sqlglot.parse_one(template.format(d=day.sql("mysql")), dialect="mysql"))


def _format_time(node: exp.Expr, dialect: Dialect) -> exp.Expr:
    """Return a time as text, in one of the few formats that all engines write alike."""
    value, format_ = node.this, node.args.get("format")
    asked = format_.name if format_ is not None else ""
    known = {**FORMATS, **{form: form for form in FORMATS.values()}}
    if asked in (QUARTERS, '%Y-"Q"Q'):
        year, quarter = (_extract_part(part, value, dialect) for part in ("year", "quarter"))
        format_ = exp.DPipe(this=exp.cast(year, "text"), expression=exp.Literal.string("-Q"))
        return exp.DPipe(this=format_, expression=exp.cast(quarter, "text"))
    if asked not in known:
        raise _build_untranslatable_refusal(f"to_char {asked}")
    return _build_function_call(
        "DATE_FORMAT" if dialect == "mysql" else "STRFTIME", value, exp.Literal.string(known[asked])
    )


def _rewrite_filtered_aggregate(node: exp.Filter) -> exp.Expr:
    """Return an aggregate over the rows that meet a condition, for an engine without FILTER."""
    call: exp.Expr = node.this.copy()
    condition, value = node.expression.this, call.this
    inner = value.expressions[0] if isinstance(value, exp.Distinct) else value
    kept = exp.Case().when(condition, exp.Literal.number(1) if isinstance(inner, exp.Star) else inner)
    call.set("this", exp.Distinct(expressions=[kept]) if isinstance(value, exp.Distinct) else kept)
    return call


def _resolve_order_position(ordered: exp.Ordered) -> exp.Expr:
    """Return the selected expression that an ORDER BY position stands for, so that rewrites for MySQL apply to it."""
    query = ordered.find_ancestor(exp.Query)
    shown = query.selects if isinstance(query, exp.Select) else []
    place = int(ordered.this.name) - 1
    if place >= len(shown) or any(item.is_star for item in shown[: place + 1]):
        raise _build_untranslatable_refusal("ORDER BY")
    return shown[place].unalias().copy()


def _is_date(node: exp.Expr) -> bool:
    return isinstance(node, exp.Cast) and node.to.this == exp.DataType.Type.DATE


def _build_function_call(name: str, *given: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=list(given))


def _rewrite_ties_as_ranks(tree: exp.Expr) -> exp.Expr:
    """Return FETCH FIRST … WITH TIES by ranks, since sqlglot would drop the ties; refused below the outermost query."""
    query, limit = tree, None
    if tree.is_star and {name for name, part in tree.args.items() if part} <= {"expressions", "from_", "limit"}:
        query, limit = tree.args["from_"].this.this, tree.args.get("limit")  # the guard's limit on ties
    if isinstance(query, exp.Select) and _has_ties(query):
        tree = _build_rank_order(query, limit if query is not tree else None)
    if any(map(_has_ties, tree.find_all(exp.Query))):
        raise _build_untranslatable_refusal("WITH TIES")
    return tree


def _has_ties(query: exp.Expr) -> bool:
    limit = query.args.get("limit")
    return isinstance(limit, exp.Fetch) and bool(
        limit.args["limit_options"] and limit.args["limit_options"].args.get("with_ties")
    )


def _build_rank_order(query: exp.Select, limit: exp.Expr | None) -> exp.Expr:
    if not all(isinstance(select, exp.Alias | exp.Column) for select in query.selects):
        raise _build_untranslatable_refusal("WITH TIES")
    names = [exp.column(select.alias_or_name, quoted=True) for select in query.selects]
    keys = []
    for ordered in query.args["order"].expressions:
        if not isinstance(ordered.this, exp.Literal):
            raise _build_untranslatable_refusal("WITH TIES")
        key = ordered.copy()
        key.set("this", names[int(ordered.this.name) - 1].copy())
        keys.append(key)
    bare = query.copy()
    first = bare.args["limit"].args["count"]
    for part in ("order", "limit"):
        bare.set(part, None)
    place = exp.Window(this=exp.Anonymous(this="RANK"), order=exp.Order(expressions=keys)).as_(_PLACE)
    inner = exp.select(*names, place).from_(bare.subquery("found"))
    statement = exp.select(*names).from_(inner.subquery("ranked")).where(exp.column(_PLACE) <= first).order_by(_PLACE)
    if limit is not None:
        statement.set("limit", limit.copy())
    return statement


def _collect_table_names(tree: exp.Expr) -> set[tuple[str, str]]:
    return {(table.db, table.name) for table in tree.find_all(exp.Table)}


def _build_untranslatable_refusal(what: str) -> SqlRefused:
    return SqlRefused(
        RefusalKind.FUNCTION,
        _("This source has no equal of %(what)s: ask for counts, sums, averages and dates.") % {"what": what},
    )
