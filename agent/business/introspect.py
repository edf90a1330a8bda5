"""A first draft of the semantic layer, read from the database itself: keys, types, comments, values of small text columns.

Nothing is opened by drafting: a table without a recognised org-unit column gets no statement about its rows, and is closed
until a person writes one. Columns whose names speak of pay or secrets are drafted as forbidden.
"""

import re
from collections.abc import Iterator

import psycopg
from psycopg import sql

from agent.business.address import Address
from agent.business.ask.words.units import key_of
from agent.business.drafting.catalog import Column, Table, declared_references, tables_of
from agent.business.drafting.codes import spelled_out
from agent.business.drafting.dated import dated, default_time
from agent.business.drafting.identifiers import UNITS, Identifiers
from agent.business.drafting.keys import SAMPLED_ROWS, references_in, with_keys
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
_CLOCKS = ("time", "timetz", "interval")  # no day of theirs
_SHORTEST = 3  # letters of a word that a table is called by: `checkin` is no “in”
_COUNTS = ("count", "cnt")  # of rows that are sums already
_PERSON = ("first name", "last name")


def draft_layer(address: Address, name: str, *, time_zone: str = "UTC") -> SemanticLayer:
    """Read the database and describe it. Raises SourceUnavailable."""
    with connected(address) as connection:
        connection.execute("SET TRANSACTION READ ONLY")
        tables = tables_of(connection)
        names = Identifiers([t.name for t in tables], [column.name for t in tables for column in t.columns])
        tables = with_keys(connection, tables, names.prefix)
        references = references_in(connection, tables, declared_references(connection), names.prefix)
        models = []
        for table in tables:
            pointing = {r.column: r.to[1] for r in references if r.table == (table.schema, table.name)}
            models.append(_model(connection, table, pointing, names))
    models = [model.model_copy(update={"synonyms": _shorter(model, models, names)}) for model in models]
    return SemanticLayer(name=name, time_zone=time_zone, semantic_models=tuple(models))


def _model(
    connection: psycopg.Connection, table: Table, references: dict[str, str], names: Identifiers
) -> SemanticModel:
    """references: by column, the table it points to."""
    forbidden = tuple(column.name for column in table.columns if SENSITIVE.search(column.name))
    columns = [column for column in table.columns if column.name not in forbidden]
    open_names = {column.name for column in columns}
    entities = [Entity(name=table.name, type="primary", expr=table.key)] if table.key in open_names else []
    entities += [
        Entity(name=to, type="foreign", expr=column) for column, to in references.items() if column in open_names
    ]
    org = next((column for column in ORG_COLUMNS if column in {c.name for c in table.columns}), None)
    dimensions = tuple(_dimensions(connection, table, columns, {entity.expr for entity in entities}, names))
    made = dated(table, dimensions)
    dimensions = (*dimensions, made) if made else dimensions
    return SemanticModel(
        name=table.name,
        schema=table.schema,
        table=table.name,
        description=Words(en=table.comment),
        org_unit=OrgUnit(column=org) if org else None,
        defaults=Defaults(agg_time_dimension=default_time(table.name, dimensions)),
        entities=tuple(entities),
        dimensions=dimensions,
        measures=(_measure(table, names),),
        forbidden_columns=forbidden,
    )


def _dimensions(
    connection: psycopg.Connection, table: Table, columns: list[Column], keys: set[str], names: Identifiers
) -> Iterator[Dimension]:
    prefix = names.prefix_of(column.name for column in table.columns)
    said = {column.name: names.column(column.name, table.name, prefix) for column in columns}
    whole = {key_of(phrases[0]) for phrases in said.values() if phrases}
    title = _title(columns, said)
    person = None if title else _person(connection, table, said, columns)
    if person:
        yield person
    for column in columns:
        is_title = column.name == title
        values: tuple[Value, ...] = ()
        if column.category in "SE":
            values = _values(connection, (table.schema, table.name), column.name, is_name=is_title)
            values = spelled_out(column.name, values)
        elif column.category == "B":
            values = _flag(said[column.name], "true", "false")
        elif _is_flag(connection, table, column):
            values = _flag(said[column.name], "1", "0")
        first, *rest = said[column.name] or (column.name.replace("_", " "),)
        if column.name == table.key and column.name.lower().endswith("id"):
            rest.append("id")
        others = [phrase for phrase in rest if key_of(phrase) not in whole - {key_of(first)}]
        plain = column.name.replace("_", " ")
        yield Dimension(
            name=column.name,
            expr=expression_of(column.name) if column.name in keys else _exact(column),
            type="categorical" if values and column.category == "N" else _kind(column),
            description=Words(en=column.comment),
            unit=UNITS.get(column.name.lower().rpartition("_")[2], "") if column.category == "N" else "",
            synonyms=()
            if values and column.category in "BN"
            else tuple(dict.fromkeys(phrase for phrase in (first, *others) if phrase != plain)),
            values=values,
            is_name=is_title,
        )


def _person(
    connection: psycopg.Connection, table: Table, said: dict[str, tuple[str, ...]], columns: list[Column]
) -> Dimension | None:
    """What people are called whose names are kept in two columns; None where they are not."""
    texts = [column.name for column in columns if column.category == "S"]
    parts = [next((name for name in texts if part in said[name]), "") for part in _PERSON]
    if not all(parts) or any("full_name" in (column.name, *said[column.name]) for column in columns):
        return None
    expr = f"concat_ws(' ', {', '.join(map(expression_of, parts))})"
    values = _values(connection, (table.schema, table.name), expr, is_name=True)
    return Dimension(name="full_name", expr=expr, synonyms=("name",), values=values, is_name=True)


def _flag(said: tuple[str, ...], yes: str, no: str) -> tuple[Value, ...]:
    """A column of yes and no as what is so, or is not so: “active”, “final exam”."""
    return (Value(value=yes, synonyms=said), Value(value=no))


def _is_flag(connection: psycopg.Connection, table: Table, column: Column) -> bool:
    """Whether a number is named as a yes or no, and holds nothing but 1 and 0."""
    if column.category != "N" or not column.name.lower().startswith(("is_", "has_")):
        return False
    query = sql.SQL("SELECT count({c}) > 0 AND bool_and({c} IN (0, 1)) FROM (SELECT {c} FROM {t} LIMIT {n}) s").format(
        c=sql.Identifier(column.name), t=sql.Identifier(table.schema, table.name), n=sql.Literal(SAMPLED_ROWS)
    )
    row = connection.execute(query).fetchone()
    return bool(row and row[0])


def _measure(table: Table, names: Identifiers) -> Measure:
    """How many rows there are; where rows say of how many they are, those numbers added up."""
    name = f"number_of_{table.name}"[:63]
    count = next(
        (column.name for column in table.columns if column.name.lower() in _COUNTS and column.category == "N"), ""
    )
    if not count:
        return Measure(name=name, agg="count")
    return Measure(name=name, agg="sum", expr=expression_of(count), synonyms=(table.name, *names.table(table.name)))


def _shorter(model: SemanticModel, models: list[SemanticModel], names: Identifiers) -> tuple[str, ...]:
    """Other words for a table: written out, and its last words where nothing else is called so: “transactions”."""
    whole = names.table(model.name)
    ends = [" ".join(phrase.split()[n:]) for phrase in whole for n in range(1, len(phrase.split()))]
    ends = [
        end for end in ends if not end.startswith("of ") and not end.endswith(("ed", "made")) and len(end) >= _SHORTEST
    ]
    taken = {key_of(word) for other in models for word in names.table(other.name)}
    taken |= {
        key_of(" ".join(phrase.split()[n:]))
        for other in models
        if other is not model
        for phrase in names.table(other.name)
        for n in range(len(phrase.split()))
    }
    taken |= {key_of(word) for other in models for one in other.dimensions for word in one.words()}
    return tuple(
        dict.fromkeys(
            [
                *(word for word in whole if word != model.name.replace("_", " ")),
                *(word for word in ends if key_of(word) not in taken),
            ]
        )
    )


def _kind(column: Column) -> DimensionType:
    kinds: dict[str, DimensionType] = {"N": "number", "D": "time", "B": "boolean"}
    return "categorical" if column.type in _CLOCKS else kinds.get(column.category, "categorical")


def _title(columns: list[Column], said: dict[str, tuple[str, ...]]) -> str:
    """The column that says what a row is called: name, title, or its table's name or title; else none."""
    texts = [column.name for column in columns if column.category == "S"]
    wanted = ("name", "title", "full name", "user name", "username")
    return next((name for want in wanted for name in texts if want in said[name]), "")


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
