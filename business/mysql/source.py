"""MySQL and MariaDB as a data source: SQL for its administrator, checks of the account, and drafts from its views.

The account sees one database with views only; the product reads through them and creates nothing there.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from business.connections.account_faults import AccountFault
from business.connections.address import Address
from business.inference.catalog import Column
from business.inference.temporary_tables import copied, scratch
from business.introspect import Unread, layer_of
from business.limits import Limits
from business.mysql.session import excess, named, reading, rows_of
from business.semantic_layer.model import SemanticLayer
from business.table_faults import missing_table
from copilot_site.lib.errors import InvalidInput

SAMPLED_ROWS = 20_000  # of each view, for a draft
MAX_NAME = 63  # bytes of a name in PostgreSQL
DRAFTING = Limits(seconds=60)
_TABLES = "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = %s ORDER BY table_name"
_COLUMNS = """
SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = %s
ORDER BY table_name, ordinal_position
"""
# MySQL's type → PostgreSQL's, with its category. Others (JSON, bytes, places on a map) are not drafted.
_TYPES = {
    **dict.fromkeys(("tinyint", "smallint", "mediumint", "int", "bigint", "year"), ("int8", "N")),
    **dict.fromkeys(("decimal", "numeric"), ("numeric", "N")),
    **dict.fromkeys(("float", "double"), ("float8", "N")),
    **dict.fromkeys(
        ("char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", "time"), ("text", "S")
    ),
    **dict.fromkeys(("datetime", "timestamp"), ("timestamp", "D")),
    "date": ("date", "D"),
}
_TABLE = re.compile(r"(?P<table>[^()]+)(?:\((?P<columns>[^()]+)\))?")


def setup(account: str, database: str, views: str, tables: Sequence[str]) -> str:
    """Return SQL that shows tables of a database as views in another one, and lets an account, which exists, read only these.

    tables: names, each optionally with the columns to show: `employee(id, name)`. Raises InvalidInput for other text.
    """
    statements = [f"CREATE DATABASE IF NOT EXISTS {named(views)};"]
    for text in tables:
        found = _TABLE.fullmatch(text.strip())
        if found is None:
            raise InvalidInput(f"{text!r} is no table; write employee, or employee(id, name)")
        columns = ", ".join(named(part.strip()) for part in (found["columns"] or "").split(",") if part.strip())
        view, table = (f"{named(place)}.{named(found['table'].strip())}" for place in (views, database))
        select = f"SELECT {columns or '*'} FROM {table}"  # noqa: S608  # names are quoted
        statements.append(f"CREATE OR REPLACE SQL SECURITY DEFINER VIEW {view} AS {select};")
    user, _at, host = account.partition("@")
    statements.append(f"GRANT SELECT ON {named(views)}.* TO {named(user)}@{named(host or '%')};")
    return "\n".join(statements) + "\n"


def faults_of(address: Address, tables: Sequence[str] = ()) -> Iterator[AccountFault]:
    """Yield excessive rights of the account, tables that are not views, and missing ones.

    Raises SourceUnavailable, SqlRefused.
    """
    with reading(address) as connection:
        grants = excess(connection, address.database)
        kinds = dict(rows_of(connection, _TABLES, (address.database,)))
    for grant in grants:
        sentence = _("The account %(user)s can do more than read the views of %(database)s.")
        statement = grant.replace("GRANT ", "REVOKE ", 1).replace(" TO ", " FROM ", 1) + ";"
        yield AccountFault(sentence % {"user": address.user, "database": address.database}, statement)
    for name, kind in kinds.items():
        if kind != "VIEW":
            sentence = _("%(name)s is not a view: the database of a MySQL source holds views only.") % {"name": name}
            yield AccountFault(sentence, _("make a view of it in its place"))
    yield from (missing_table(name) for name in tables if name not in kinds)


def draft(address: Address, name: str, *, time_zone: str, unread: Unread | None = None) -> SemanticLayer:
    """Return a layer inferred from names and first rows of the views. Raises SourceUnavailable, SqlRefused.

    unread: called for each view left out; the guard cannot parse names longer than PostgreSQL's.
    """
    columns: dict[str, list[Column]] = {}
    with scratch() as postgres, reading(address, limits=DRAFTING) as connection:
        for table, column, kind in rows_of(connection, _COLUMNS, (address.database,)):
            if len(column.encode()) > MAX_NAME:
                if unread is not None:
                    unread(f"{table}.{column}", _("its name is too long"))
            elif kind.lower() in _TYPES:
                columns.setdefault(table, []).append(Column(column, *_TYPES[kind.lower()], ""))
        tables = []
        for table, found in columns.items():
            listed = ", ".join(named(item.name) for item in found)
            rows = rows_of(connection, f"SELECT {listed} FROM {named(table)} LIMIT {SAMPLED_ROWS}")  # noqa: S608
            tables.append(copied(postgres, table, found, (_plain(row, found) for row in rows)))
        layer = layer_of(postgres, name, tables, [], time_zone=time_zone, unread=unread)
    models = tuple(model.model_copy(update={"table_schema": address.database}) for model in layer.semantic_models)
    return layer.model_copy(update={"semantic_models": models})


def _plain(row: Sequence[Any], columns: Sequence[Column]) -> list[Any]:
    """Return values that PostgreSQL accepts: an invalid day (0000-00-00) becomes NULL."""
    return [_value(value, column) for value, column in zip(row, columns, strict=True)]


def _value(value: Any, column: Column) -> Any:
    if column.category == "D" and not isinstance(value, date):
        return None
    if column.category == "S" and value is not None:
        return str(value).replace("\0", "")
    return value
