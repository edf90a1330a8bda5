"""Infer undeclared keys: columns that are named like one and whose values behave like one.

Both name and data must fit: the key is unique, and references to it hold no other values.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import psycopg
from psycopg import sql

from business.inference.catalog import Column, Reference, Table, query_column_rows
from business.parsing.reader.units import singularise

_KEYS = ("id", "key", "no", "code", "number")
_ENDINGS = (*_KEYS, "name")


def infer_primary_keys(connection: psycopg.Connection, tables: list[Table], prefix: str) -> list[Table]:
    """Return the tables with primary keys inferred from names and rows. prefix: of all table names."""
    others = {singularise(table.name.lower().removeprefix(prefix)) for table in tables}
    found = [replace(table, key=table.key or _infer_own_key(connection, table, prefix, others)) for table in tables]
    own = [table for table in found if not table.is_view]
    return [replace(table, key=table.key or _infer_shared_key(connection, table, own)) for table in found]


def infer_references(
    connection: psycopg.Connection, tables: list[Table], declared: list[Reference], prefix: str
) -> list[Reference]:
    """Return the references, declared or inferred from names and values."""
    declared_keys = {(*reference.table, reference.column) for reference in declared}
    found = list(declared)
    keyed = [_Keyed.of(table, prefix) for table in tables if table.key]
    for table in tables:
        for column in table.columns:
            if (*table.place, column.name) in declared_keys or column.name == table.key:
                continue
            fits = [
                other
                for other, is_certain in _find_target_tables(column, table, keyed)
                if is_certain or _contains_only_keys(connection, table, column, other)
            ]
            fits = [other for other in fits if not other.is_view] or fits
            if len(fits) == 1:
                found.append(Reference(table.place, column.name, fits[0].place))
    return [*found, *_find_polymorphic_references(connection, tables, found)]


def _find_polymorphic_references(
    connection: psycopg.Connection, tables: list[Table], found: list[Reference]
) -> Iterator[Reference]:
    """Yield the polymorphic references of `sender_id` beside a `sender_type`: to each top-level table with such keys.

    The target depends on the row: a column with several references is not joined, and no longer path replaces it.
    """
    pointing = {(*one.table, one.column) for one in found}
    roots = [table for table in tables if table.key and table.place not in {one.table for one in found}]
    for table in tables:
        names = {column.name.lower() for column in table.columns}
        for column in table.columns:
            role = column.name.lower().removesuffix("_id")
            is_typed = role != column.name.lower() and f"{role}_type" in names and column.name != table.key
            if not is_typed or (*table.place, column.name) in pointing:
                continue
            others = [
                root for root in roots if root is not table and _has_common_values(connection, table, column, root)
            ]
            if len(others) > 1:
                yield from (Reference(table.place, column.name, o.place) for o in others)


def _infer_own_key(connection: psycopg.Connection, table: Table, prefix: str, tables: set[str]) -> str:
    """Return the first unique column that is named as its table's key. tables: the names of all."""
    bare = table.name.lower().removeprefix(prefix)
    last = bare.rpartition("_")[2]
    wanted = [
        "id",
        *(f"{own}{between}{end}" for end in _ENDINGS for own in (singularise(bare), bare) for between in ("_", "")),
    ]
    if singularise(last) not in tables:  # course_offering.offering_id, and no table of offerings
        wanted += [f"{last}_id", f"{singularise(last)}_id"]
    if "_" not in bare:
        wanted.append(f"{bare[0]}id")
    names = {column.name.lower(): column for column in table.columns}
    return next(
        (names[name].name for name in wanted if name in names and has_unique_values(connection, table, names[name])), ""
    )


def _infer_shared_key(connection: psycopg.Connection, table: Table, tables: list[Table]) -> str:
    """Return a text key such as “city_name” of cities: unique only here, and holding all values of its namesakes."""
    for column in table.columns:
        others = [(other, c) for other in tables if other is not table for c in other.columns if c.name == column.name]
        is_named = column.category == "S" and column.name.lower().endswith(("_name", "_code", "_id"))
        if not others or not is_named or any(other.key == column.name for other, _c in others):
            continue
        keyed = replace(table, key=column.name)
        if not has_unique_values(connection, table, column) or any(
            has_unique_values(connection, other, c) for other, c in others
        ):
            continue
        if all(_contains_only_keys(connection, other, c, keyed) for other, c in others):
            return column.name
    return ""


@dataclass(frozen=True)
class _Keyed:
    """A table with a key, and the names of columns elsewhere that hold it.

    own: the table's names. end: the suffix of such a column, or "".
    """

    table: Table
    key: Column
    own: tuple[str, ...]
    spoken: frozenset[str]
    end: str

    @classmethod
    def of(cls, table: Table, prefix: str) -> "_Keyed":
        bare = table.name.lower().removeprefix(prefix)
        own = tuple(dict.fromkeys((singularise(bare), bare)))
        spoken = {f"{name}{between}{end}" for name in own for between in ("_", "") for end in _KEYS}
        key = next(column for column in table.columns if column.name == table.key)
        plain = key.name.lower()
        is_prefixed = bool(prefix) and plain != "id"
        return cls(table, key, own, frozenset(spoken | set(own)), plain.removeprefix(prefix) if is_prefixed else "")

    def is_named_by(self, name: str) -> bool:
        """Return whether a column of this name is named after the key: `city_id`, `from_airport`, `citingpaperid`."""
        plain = self.key.name.lower()
        if name in self.spoken or (plain != "id" and name == plain):
            return True
        if self.end and name.endswith(self.end):
            return True
        if any(name.endswith(f"_{own}") for own in self.own):
            return True
        return name.endswith(plain) and any(plain.startswith(own) for own in self.own)


def _find_target_tables(column: Column, table: Table, keyed: list[_Keyed]) -> Iterator[tuple[Table, bool]]:
    """Yield tables whose key a column is named after, and whether that suffices: name and type of a declared key."""
    name = column.name.lower()
    for other in keyed:
        if other.table is not table and other.key.category == column.category and other.is_named_by(name):
            is_same = name == other.key.name.lower() != "id"
            yield other.table, is_same and other.table.is_declared and column.type == other.key.type


def has_unique_values(connection: psycopg.Connection, table: Table, column: Column) -> bool:
    """Return whether the column's values are unique."""
    question = "SELECT count(*) > 0 AND count(*) = count(DISTINCT c) FROM (SELECT {c} AS c FROM {t} LIMIT {n}) s"
    return query_column_rows(connection, question, table, column)


def _has_common_values(connection: psycopg.Connection, table: Table, column: Column, other: Table) -> bool:
    """Return whether some values of the column are keys of the other table."""
    if next(c for c in other.columns if c.name == other.key).category != column.category:
        return False
    question = "SELECT EXISTS (SELECT 1 FROM {t} t JOIN {o} o ON o.{k} = t.{c})"
    return query_column_rows(connection, question, table, column, **_build_target_identifiers(other))


def _contains_only_keys(connection: psycopg.Connection, table: Table, column: Column, other: Table) -> bool:
    """Return whether the column has values, all of them keys of the other table."""
    question = (
        "SELECT count(c) > 0 AND bool_and(c IS NULL OR EXISTS (SELECT 1 FROM {o} o WHERE o.{k} = s.c)) "
        "FROM (SELECT {c} AS c FROM {t} LIMIT {n}) s"
    )
    return query_column_rows(connection, question, table, column, **_build_target_identifiers(other))


def _build_target_identifiers(table: Table) -> dict[str, sql.Composable]:
    return {"o": sql.Identifier(*table.place), "k": sql.Identifier(table.key)}
