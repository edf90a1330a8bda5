"""A first draft of the semantic layer, read from the database itself: keys, types, comments, values of small text columns.

Nothing is opened by drafting: a table without a recognised org-unit column gets no statement about its rows, and is closed
until a person writes one. Columns whose names speak of pay or secrets are drafted as forbidden.
"""

import re
from dataclasses import dataclass

import psycopg
from psycopg import sql

from agent.business.address import Address
from agent.business.guard.rewrite import quoted
from agent.business.layer.expressions import columns_in, qualified
from agent.business.layer.model import (
    Defaults,
    Dimension,
    DimensionType,
    Entity,
    Measure,
    OrgUnit,
    SemanticLayer,
    SemanticModel,
    Value,
    Words,
)
from agent.business.session import connected

ORG_COLUMNS = ("org_unit", "org_unit_name", "business_unit")
SENSITIVE = re.compile(
    r"salary|wage|payroll|compensation|bonus|passw|secret|token|api_?key|ssn|credit_card|card_num|iban|薪|工资|密码|身份证",
    re.IGNORECASE,
)
VALUES_AT_MOST = 100  # a text column with more distinct values is free text
NAMES_AT_MOST = 300  # of what rows are called
VALUE_CHARS = 60
FLOATING = ("float4", "float8")
SAMPLED_ROWS = 200_000

_COLUMNS = """
SELECT n.nspname, c.relname, a.attname, t.typname, t.typcategory, obj_description(c.oid, 'pg_class'),
       col_description(c.oid, a.attnum),
       EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND i.indnkeyatts = 1
              AND i.indkey[0] = a.attnum)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
WHERE c.relkind IN ('r', 'p') AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
ORDER BY n.nspname, c.relname, a.attnum
"""
_FOREIGN_KEYS = """
SELECT n.nspname, c.relname, a.attname, fn.nspname, f.relname
FROM pg_constraint k
JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_class f ON f.oid = k.confrelid JOIN pg_namespace fn ON fn.oid = f.relnamespace
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
WHERE k.contype = 'f' AND cardinality(k.conkey) = 1
"""


@dataclass(frozen=True)
class Column:
    """As the catalog has it. category: pg_type.typcategory (N number, D date, S text, B boolean)."""

    name: str
    type: str
    category: str
    comment: str
    is_primary: bool


def draft_layer(address: Address, name: str, *, time_zone: str = "UTC") -> SemanticLayer:
    """Read the database and describe it. Raises SourceUnavailable."""
    with connected(address) as connection:
        connection.execute("SET TRANSACTION READ ONLY")
        tables: dict[tuple[str, str], list[Column]] = {}
        comments: dict[tuple[str, str], str] = {}
        for schema, table, column, kind, category, about, comment, is_primary in connection.execute(_COLUMNS):
            tables.setdefault((schema, table), []).append(Column(column, kind, category, comment or "", is_primary))
            comments[schema, table] = about or ""
        references = {
            (schema, table, column): (to_schema, to)
            for schema, table, column, to_schema, to in connection.execute(_FOREIGN_KEYS)
        }
        _guess_references(tables, references)
        models = [
            _model(
                connection,
                key,
                columns,
                comments[key],
                {c: to for (s, t, c), to in references.items() if (s, t) == key},
            )
            for key, columns in tables.items()
        ]
    return SemanticLayer(name=name, time_zone=time_zone, semantic_models=tuple(models))


def _guess_references(
    tables: dict[tuple[str, str], list[Column]], references: dict[tuple[str, str, str], tuple[str, str]]
) -> None:
    """Databases without foreign keys: a column with the name and type of another table's only primary key points there."""
    keys: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for key, columns in tables.items():
        for column in columns:
            if column.is_primary and column.name != "id":
                keys.setdefault((column.name, column.type), []).append(key)
    for (schema, table), columns in tables.items():
        for column in columns:
            to = keys.get((column.name, column.type), [])
            if len(to) == 1 and to[0] != (schema, table):
                references.setdefault((schema, table, column.name), to[0])


def _model(
    connection: psycopg.Connection,
    key: tuple[str, str],
    columns: list[Column],
    comment: str,
    references: dict[str, tuple[str, str]],
) -> SemanticModel:
    schema, table = key
    forbidden = tuple(column.name for column in columns if SENSITIVE.search(column.name))
    open_columns = [column for column in columns if column.name not in forbidden]
    entities = [Entity(name=table, type="primary", expr=c.name) for c in open_columns if c.is_primary]
    entities += [
        Entity(name=to[1], type="foreign", expr=column) for column, to in references.items() if column not in forbidden
    ]
    keys = {entity.expr for entity in entities}
    names = {column.name for column in columns}
    org = next((column for column in ORG_COLUMNS if column in names), None)
    title = _title(open_columns, table)
    dimensions = tuple(
        Dimension(
            name=column.name,
            expr=expression_of(column.name) if column.name in keys else _exact(column),
            type=_kind(column),
            description=Words(en=column.comment),
            synonyms=_synonyms(column.name, table),
            values=_values(connection, key, column.name, is_name=column.name == title)
            if column.category in "SE"
            else (),
            is_name=column.name == title,
        )
        for column in open_columns
    )
    times = [d.name for d in dimensions if d.type == "time"]
    return SemanticModel(
        name=table,
        schema=schema,
        table=table,
        description=Words(en=comment),
        org_unit=OrgUnit(column=org) if org else None,
        defaults=Defaults(agg_time_dimension=times[0] if len(times) == 1 else ""),
        entities=tuple(entities),
        dimensions=dimensions,
        measures=(Measure(name=f"number_of_{table}"[:63], agg="count", synonyms=()),),
        forbidden_columns=forbidden,
    )


def _synonyms(column: str, table: str) -> tuple[str, ...]:
    """Shorter ways to say a column: city_name → city, customer.customer_region → region."""
    spoken = [column.removesuffix("_name")] if column.endswith("_name") else []
    owners = (f"{table}_", f"{table.rstrip('s')}_")
    spoken += [column.removeprefix(owner) for owner in owners if column.startswith(owner)]
    return tuple(word.replace("_", " ") for word in dict.fromkeys(spoken) if word and word != "id")


def _kind(column: Column) -> DimensionType:
    kinds: dict[str, DimensionType] = {"N": "number", "D": "time", "B": "boolean"}
    return kinds.get(column.category, "categorical")


def _title(columns: list[Column], table: str) -> str:
    """The column that says what a row is called: name, title, or one that ends so; else none."""
    texts = [column.name for column in columns if column.category == "S"]
    singular = table.rstrip("s")
    wanted = ("name", "title", f"{singular}_name", f"{table}_name", f"{singular}name", "full_name", "username")
    return next((name for want in wanted for name in texts if name.lower() == want), "")


def expression_of(column: str) -> str:
    """A column as an expression: quoted where PostgreSQL would read the bare name otherwise."""
    try:
        return column if columns_in(column) == (column,) else quoted(column)
    except ValueError:
        return quoted(column)


def _exact(column: Column) -> str:
    """A column as an expression whose sums do not depend on the order of rows: floating-point numbers as the decimals people see.

    By way of text: cast to numeric at once, PostgreSQL keeps 6 digits of a `real` and 15 of a `double precision`.
    """
    plain = expression_of(column.name)
    return f"{plain}::text::numeric" if column.type in FLOATING else plain


def fill_values(address: Address, layer: SemanticLayer) -> SemanticLayer:
    """The layer with today's values of its small text columns; synonyms that people wrote stay. Raises SourceUnavailable."""
    with connected(address) as connection:
        connection.execute("SET TRANSACTION READ ONLY")
        models = [
            m.model_copy(update={"dimensions": tuple(_filled(connection, m, d) for d in m.dimensions)})
            for m in layer.semantic_models
        ]
    return layer.model_copy(update={"semantic_models": tuple(models)})


def _filled(connection: psycopg.Connection, model: SemanticModel, dimension: Dimension) -> Dimension:
    is_column = dimension.columns == (dimension.expr.strip('"'),)
    if dimension.type != "categorical" or not (is_column or dimension.is_name):
        return dimension
    written = {value.value: value for value in dimension.values}
    found = _values(connection, (model.table_schema, model.table), dimension.expr, is_name=dimension.is_name)
    values = {value.value: value for value in found} | written  # what people wrote stays, though no row has it today
    return dimension.model_copy(update={"values": tuple(values.values())})


def _values(connection: psycopg.Connection, key: tuple[str, str], expr: str, *, is_name: bool) -> tuple[Value, ...]:
    """The distinct values of a small text column, or of a name put together from columns, sorted; nothing for free text."""
    most = NAMES_AT_MOST if is_name else VALUES_AT_MOST
    query = sql.SQL(
        "SELECT DISTINCT c::text FROM (SELECT {e} AS c FROM {t} AS t LIMIT {n}) s WHERE c IS NOT NULL LIMIT {m}"
    ).format(
        e=sql.SQL(qualified(expr, "t")),  # type: ignore[arg-type,unused-ignore]  # written anew from what the guard's grammar read
        t=sql.Identifier(*key),
        n=sql.Literal(SAMPLED_ROWS),
        m=sql.Literal(most + 1),
    )
    values = sorted(value for (value,) in connection.execute(query))
    short = [value for value in values if len(value) <= VALUE_CHARS]
    if len(values) > most or (len(short) < len(values) and not is_name):
        return ()
    values = short
    return tuple(Value(value=value) for value in values)
