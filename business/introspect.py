"""A first draft of the semantic layer, read from the database itself: keys, types, comments, values of small text columns.

Drafting opens no data: a table without a recognised org-unit column gets no rule for its rows, and is closed until a
person writes one. Columns whose names suggest pay or secrets are drafted as forbidden.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import count

import psycopg
from psycopg import sql

from business.connections.address import Address
from business.connections.postgres_session import connect_to_source
from business.guard.rewrite import quote_identifier
from business.inference.catalog import SAMPLED_ROWS, Column, Reference, Table, list_foreign_keys, tables_of
from business.inference.column_roles import (
    cast_text_to_date,
    combine_year_and_month,
    find_default_time,
    find_person_name_columns,
    find_title_column,
)
from business.inference.identifiers import UNITS, Identifiers
from business.inference.keys import infer_primary_keys, infer_references
from business.inference.values import build_flag_values, find_text_flag, is_numbered_flag, name_region_codes
from business.parsing.reader.units import build_lookup_key
from business.semantic_layer.expressions import list_columns, qualify_columns
from business.semantic_layer.model import (
    Defaults,
    Dimension,
    DimensionType,
    Entity,
    Measure,
    SemanticLayer,
    SemanticModel,
    UnitRule,
    Value,
    Words,
)
from business.table_faults import find_table_faults

ORG_COLUMNS = ("org_unit", "org_unit_name", "business_unit")
SENSITIVE = re.compile(
    r"salary|wage|payroll|compensation|bonus|passw|secret|token|api_?key|ssn|credit_card|card_num|iban|薪|工资|密码|身份证",
    re.IGNORECASE,
)
Progress = Callable[[int, int, str], None]
"""How many tables are done, of how many, and which is read now."""
Unread = Callable[[str, str], None]
"""A table that could not be read, and why."""
VALUES_AT_MOST = 100  # a text column with more distinct values is free text
NAMES_AT_MOST = 300  # most names of rows
VALUE_CHARS = 60
FLOATING = ("float4", "float8")
_CLOCKS = ("time", "timetz", "interval")  # types without a date
_SHORTEST = 3  # least letters of a table's short name: `checkin` is not “in”
_COUNTS = ("count", "cnt")  # columns of rows that are already totals


def ignore_progress(_done: int, _count: int, _name: str) -> None:
    """Ignore progress."""


def draft_layer(
    address: Address,
    name: str,
    *,
    time_zone: str = "UTC",
    schemas: Sequence[str] | None = None,
    progress: Progress = ignore_progress,
    unread: Unread | None = None,
) -> SemanticLayer:
    """Draft a layer of the database or these schemas, without tables the account may not read or that lead elsewhere.

    progress: called twice per table, on checking access and on reading rows. unread: called for each table that fails,
    and the rest is kept; without it the first failure is raised.
    Raises SourceUnavailable, SourceRefused.
    """
    with connect_to_source(address) as connection:
        connection.execute("SET TRANSACTION READ ONLY")
        found, tables = tables_of(connection, schemas), []
        for number, table in enumerate(found, 1):
            progress(number, 2 * len(found), table.name)
            tables += [table] if _is_readable(connection, table) else []
        declared = list_foreign_keys(connection)

        def further(number: int, count: int, table: str) -> None:
            progress(len(found) + number, len(found) + count, table)

        return infer_layer(connection, name, tables, declared, time_zone=time_zone, progress=further, unread=unread)


def infer_layer(
    connection: psycopg.Connection,
    name: str,
    tables: list[Table],
    declared: list[Reference],
    *,
    time_zone: str,
    sensitive: re.Pattern[str] | None = SENSITIVE,
    progress: Progress = ignore_progress,
    unread: Unread | None = None,
) -> SemanticLayer:
    """Return the layer inferred from tables' names and rows. sensitive: forbidden columns; None to allow all."""
    names = Identifiers([t.name for t in tables], [column.name for t in tables for column in t.columns])
    tables = infer_primary_keys(connection, tables, names.prefix)
    references = infer_references(connection, tables, declared, names.prefix)
    models = []
    for number, table in enumerate(tables, 1):
        progress(number, len(tables), table.name)
        pointing = [(r.column, r.to[1]) for r in references if r.table == table.place]
        forbidden = tuple(column.name for column in table.columns if sensitive and sensitive.search(column.name))
        try:
            with connection.transaction():
                models.append(_draft_table(connection, table, pointing, names, forbidden))
        except psycopg.Error as error:
            if unread is None:
                raise
            for lost in tables[number - 1 :] if connection.broken else (table,):
                unread(".".join(lost.place), str(error).strip().split("\n")[0])
            if connection.broken:
                break
    taken = _Taken(models, names)
    models = [model.model_copy(update={"synonyms": _find_shorter_names(model, taken, names)}) for model in models]
    return SemanticLayer(name=name, time_zone=time_zone, semantic_models=tuple(models))


def _is_readable(connection: psycopg.Connection, table: Table) -> bool:
    """Return whether the account can read a table that leads nowhere else; a view may need other settings."""
    if any(find_table_faults(connection, [table.place])):
        return False
    try:
        with connection.transaction():
            connection.execute(sql.SQL("SELECT * FROM {} LIMIT 1").format(sql.Identifier(*table.place)))
    except psycopg.Error:
        return False
    return True


def _draft_table(
    connection: psycopg.Connection,
    table: Table,
    references: list[tuple[str, str]],
    names: Identifiers,
    forbidden: tuple[str, ...],
) -> SemanticModel:
    """Draft one table. references: columns, and the table each points to."""
    columns = [column for column in table.columns if column.name not in forbidden]
    open_names = {column.name for column in columns}
    name = clean_name(table.name)
    entities = [Entity(name=name, type="primary", expr=table.key)] if table.key in open_names else []
    entities += [
        Entity(name=clean_name(to), type="foreign", expr=column) for column, to in references if column in open_names
    ]
    org = next((column for column in ORG_COLUMNS if column in {c.name for c in table.columns}), None)
    keys = {entity.expr for entity in entities}
    dimensions = tuple(_draft_dimensions(connection, table, columns, keys, names))
    made = combine_year_and_month(table, dimensions)
    dimensions = (*dimensions, made) if made else dimensions
    return SemanticModel(
        name=name,
        schema=table.schema,
        table=table.name,
        description=Words(en=table.comment),
        org_unit=UnitRule(column=org) if org else None,
        defaults=Defaults(agg_time_dimension=find_default_time(table.name, dimensions)),
        entities=tuple(entities),
        dimensions=dimensions,
        measures=(_draft_row_count(table, names),),
        forbidden_columns=forbidden,
    )


def clean_name(place: str) -> str:
    """Return a table's or column's name for a layer, without spaces and control characters."""
    return re.sub(r"[\s\x00-\x1f]+", "_", place.strip())[:63] or "unnamed"


def _find_free_name(name: str, taken: Container[str]) -> str:
    """Return a name that no column of the table has, with a number appended if needed."""
    numbered = (f"{name[:58]}_{number}" for number in count(2))
    return name if name not in taken else next(item for item in numbered if item not in taken)


def _draft_dimensions(
    connection: psycopg.Connection, table: Table, columns: list[Column], keys: set[str], names: Identifiers
) -> Iterator[Dimension]:
    prefix = names.prefix_of(column.name for column in table.columns)
    dates = {column.name: cast_text_to_date(connection, table, column) for column in columns}
    words = {column.name: names.column(column.name, table.name, prefix) for column in columns}
    whole = {build_lookup_key(phrases[0]) for phrases in words.values() if phrases}
    title = find_title_column(connection, table, words, names)
    person = None if title else find_person_name_columns(table, words)
    if person:
        yield _draft_person_name(connection, table, person)
    taken = {column.name for column in table.columns}
    for column in columns:
        is_key, is_title = column.name in keys, column.name == title
        one = _draft_dimension(connection, table, column, words[column.name], whole, is_key=is_key, is_title=is_title)
        if one.name != column.name:
            one = one.model_copy(update={"name": _find_free_name(one.name, taken)})
            taken.add(one.name)
        if dates[column.name]:
            one = one.model_copy(update={"expr": dates[column.name], "type": "time", "values": ()})
        yield one


def _draft_dimension(
    connection: psycopg.Connection,
    table: Table,
    column: Column,
    words: tuple[str, ...],
    whole: set[tuple[str, ...]],
    *,
    is_key: bool,
    is_title: bool,
) -> Dimension:
    """Draft one column. whole: the full names of the table's columns, which no other may have."""
    values, is_flag = _read_column_values(connection, table, column, words, is_title=is_title)
    first, *rest = words or (column.name.replace("_", " "),)
    if column.name == table.key and column.name.lower().endswith("id"):
        rest.append("id")
    others = [phrase for phrase in rest if build_lookup_key(phrase) not in whole - {build_lookup_key(first)}]
    others = [phrase for phrase in others if _fits_column_type(phrase, column)]
    plain = column.name.replace("_", " ")
    plain_expr = format_column_expression(column.name) if is_key else _format_exact_expression(column)
    if any(value.value != value.value.strip() for value in values):  # "April" and "April    " are one
        plain_expr = f"btrim({plain_expr})"
        values = tuple({value.value.strip(): Value(value=value.value.strip()) for value in values}.values())
    return Dimension(
        name=clean_name(column.name),
        expr=plain_expr,
        type="categorical" if is_flag and column.category == "N" else _find_dimension_type(column),
        description=Words(en=column.comment),
        unit=UNITS.get(column.name.lower().rpartition("_")[2], "") if column.category == "N" else "",
        synonyms=() if is_flag else tuple(dict.fromkeys(phrase for phrase in (first, *others) if phrase != plain)),
        values=values,
        is_name=is_title,
    )


def _fits_column_type(phrase: str, column: Column) -> bool:
    """Return whether a name fits the type: texts are no counts, and a thing's number (`meal_number`) is not it."""
    if column.category != "N":
        return not phrase.startswith("number of ")
    return not column.name.lower().endswith("number") or phrase.endswith(("number", "id"))


def _read_column_values(
    connection: psycopg.Connection, table: Table, column: Column, words: tuple[str, ...], *, is_title: bool
) -> tuple[tuple[Value, ...], bool]:
    """Return the values of a column, and whether it is a yes/no column."""
    flagged = tuple(dict.fromkeys((*words, column.name.replace("_", " "))))
    if column.category == "B":
        return build_flag_values(flagged, "true", "false"), True
    if is_numbered_flag(connection, table, column):
        return build_flag_values(flagged, "1", "0"), True
    if column.category not in "SE":
        return (), False
    values = _read_distinct_values(connection, table.place, format_column_expression(column.name), is_name=is_title)
    written = find_text_flag(values) if not is_title else None
    if written:
        return build_flag_values(flagged, *written), True
    return name_region_codes(column.name, values), False


def _draft_person_name(connection: psycopg.Connection, table: Table, names: tuple[str, str]) -> Dimension:
    """Return the name of people kept in two columns."""
    expr = f"concat_ws(' ', {', '.join(map(format_column_expression, names))})"
    values = _read_distinct_values(connection, table.place, expr, is_name=True)
    return Dimension(name="full_name", expr=expr, synonyms=("name",), values=values, is_name=True)


def _draft_row_count(table: Table, names: Identifiers) -> Measure:
    """Draft the count of rows; rows with a count column are summed by it."""
    name = f"number_of_{clean_name(table.name)}"[:63]
    count = next(
        (column.name for column in table.columns if column.name.lower() in _COUNTS and column.category == "N"), ""
    )
    if not count:
        return Measure(name=name, agg="count")
    return Measure(
        name=name, agg="sum", expr=format_column_expression(count), synonyms=(table.name, *names.table(table.name))
    )


class _Taken:
    """The names of a layer's tables and columns, in full and by their last words."""

    def __init__(self, models: Sequence[SemanticModel], names: Identifiers) -> None:
        self._whole = {build_lookup_key(phrase) for model in models for phrase in names.table(model.name)}
        self._whole |= {build_lookup_key(word) for model in models for one in model.dimensions for word in one.words()}
        self._ends = Counter(end for model in models for end in self._list_name_endings(model, names))

    def is_taken(self, phrase: str, model: SemanticModel, names: Identifiers) -> bool:
        """Return whether anything but this table has this name or ends in it."""
        key = build_lookup_key(phrase)
        return key in self._whole or self._ends[key] > (key in self._list_name_endings(model, names))

    @staticmethod
    def _list_name_endings(model: SemanticModel, names: Identifiers) -> set[tuple[str, ...]]:
        phrases = [phrase.split() for phrase in names.table(model.name)]
        return {build_lookup_key(" ".join(words[n:])) for words in phrases for n in range(len(words))}


def _find_shorter_names(model: SemanticModel, taken: _Taken, names: Identifiers) -> tuple[str, ...]:
    """Return other words for a table: expanded, and its last words if unique: “transactions”."""
    whole = names.table(model.name)
    ends = [" ".join(phrase.split()[n:]) for phrase in whole for n in range(1, len(phrase.split()))]
    ends = [
        end for end in ends if not end.startswith("of ") and not end.endswith(("ed", "made")) and len(end) >= _SHORTEST
    ]
    return tuple(
        dict.fromkeys(
            [
                *(word for word in whole if word != model.name.replace("_", " ")),
                *(word for word in ends if not taken.is_taken(word, model, names)),
            ]
        )
    )


def _find_dimension_type(column: Column) -> DimensionType:
    kinds: dict[str, DimensionType] = {"N": "number", "D": "time", "B": "boolean"}
    return "categorical" if column.type in _CLOCKS else kinds.get(column.category, "categorical")


def format_column_expression(column: str) -> str:
    """Return a column as an expression, quoted where PostgreSQL would misread the bare name."""
    try:
        return column if list_columns(column) == (column,) else quote_identifier(column)
    except ValueError:
        return quote_identifier(column)


def _format_exact_expression(column: Column) -> str:
    """Return a column as an expression with order-independent sums: floating-point numbers as the decimals people see.

    Through text: a direct cast to numeric keeps only 6 digits of a `real` and 15 of a `double precision`.
    """
    plain = format_column_expression(column.name)
    return f"{plain}::text::numeric" if column.type in FLOATING else plain


def fill_values(address: Address, layer: SemanticLayer) -> SemanticLayer:
    """Return the layer with current values of small text columns and people's synonyms. Raises SourceUnavailable."""
    with connect_to_source(address) as connection:
        connection.execute("SET TRANSACTION READ ONLY")
        models = [
            m.model_copy(update={"dimensions": tuple(_fill_dimension(connection, m, d) for d in m.dimensions)})
            for m in layer.semantic_models
        ]
    return layer.model_copy(update={"semantic_models": tuple(models)})


def _fill_dimension(connection: psycopg.Connection, model: SemanticModel, dimension: Dimension) -> Dimension:
    bare = dimension.expr.removeprefix("btrim(").removesuffix(")").strip('"')
    is_column = dimension.columns == (bare,)
    if dimension.type != "categorical" or not (is_column or dimension.is_name):
        return dimension
    written = {value.value: value for value in dimension.values}
    found = _read_distinct_values(connection, model.place, dimension.expr, is_name=dimension.is_name)
    values = {value.value: value for value in found} | written  # values that people wrote stay, even without rows
    return dimension.model_copy(update={"values": tuple(values.values())})


def _read_distinct_values(
    connection: psycopg.Connection, key: tuple[str, str], expr: str, *, is_name: bool
) -> tuple[Value, ...]:
    """Return the sorted distinct values of a small text column or combined name; none for free text."""
    most = NAMES_AT_MOST if is_name else VALUES_AT_MOST
    query = sql.SQL(
        "SELECT DISTINCT c::text FROM (SELECT {e} AS c FROM {t} AS t LIMIT {n}) s WHERE c IS NOT NULL LIMIT {m}"
    ).format(
        e=sql.SQL(qualify_columns(expr, "t")),  # type: ignore[arg-type,unused-ignore]  # by the guard's grammar
        t=sql.Identifier(*key),
        n=sql.Literal(SAMPLED_ROWS),
        m=sql.Literal(most + 1),
    )
    values = sorted(value for (value,) in connection.execute(query))
    short = [value for value in values if len(value) <= VALUE_CHARS]
    if len(values) > most or (len(short) < len(values) and not is_name):
        return ()
    return tuple(Value(value=value) for value in short)
