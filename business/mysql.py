"""MySQL and MariaDB as a data source: read-only statements under limits, SQL for its administrator, checks, and drafts.

The account sees one database with views only; the product reads through them and creates nothing there.
"""

import re
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import partial
from typing import Any

import pymysql
from asgiref.sync import sync_to_async
from django.utils.translation import gettext as _
from pymysql.constants import CR, ER
from pymysql.cursors import SSCursor

from business.connections.account_faults import AccountFault
from business.connections.address import CONNECT_TIMEOUT_S, Address, Tls, find_ca_certificates
from business.connections.identity import SourceRefused
from business.connections.postgres_session import (
    MAX_BYTES,
    NO_DATABASE,
    UNREACHABLE,
    WRONG_PASSWORD,
    FetchedRows,
    SourceUnavailable,
    build_unavailable_error_from,
)
from business.dialects import DialectAccess
from business.guard.policy import TablePolicy
from business.guard.refusal import SqlRefused, build_database_refusal, build_long_row_refusal, build_timeout_refusal
from business.inference.catalog import Column, copy_to_temporary_table, open_scratch_connection
from business.introspect import Unread, infer_layer
from business.limits import StatementLimits
from business.semantic_layer.model import SemanticLayer
from business.table_faults import build_missing_table_fault
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.outgoing.addresses import AddressRefused, build_service_policy, check_target

DEFAULTS = StatementLimits()
_GRANT = re.compile(r"GRANT (?P<rights>.+?) ON (?P<place>.+?) TO .+?(?P<option> WITH GRANT OPTION)?$")
# A binary collation for text comparisons, above all filters by org unit: “north ” and “North” are two units.
_SETTINGS = """
SET SESSION sql_mode = 'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,ERROR_FOR_DIVISION_BY_ZERO', div_precision_increment = 10,
    time_zone = %s, lock_wait_timeout = 1
"""
_OF_MARIADB = (
    "SET SESSION max_statement_time = %s, max_session_mem_used = 268435456, collation_connection = utf8mb4_nopad_bin"
)
_OF_MYSQL = "SET SESSION max_execution_time = %s, collation_connection = utf8mb4_0900_bin"
_TOO_LATE = {
    ER.STATEMENT_TIMEOUT,
    ER.QUERY_TIMEOUT,
    ER.QUERY_INTERRUPTED,
    ER.OPTION_PREVENTS_STATEMENT,
    CR.CR_SERVER_LOST,
}


class _NoPassword:
    """Replaces clear-text authentication: a server that asks for it gets no password."""

    def __init__(self, _connection: object) -> None:
        pass

    def authenticate(self, _packet: object) -> None:
        raise pymysql.err.OperationalError(CR.CR_AUTH_PLUGIN_CANNOT_LOAD, "the server asks for the password in clear")


def build_access(address: Address, policy: TablePolicy, layer: SemanticLayer, limits: StatementLimits) -> DialectAccess:
    """Return the source's access under this policy. Raises nothing: it does not connect yet."""
    dimensions = [item for model in layer.semantic_models for item in model.dimensions if item.type == "time"]
    times = frozenset(column for dimension in dimensions for column in dimension.columns)
    return DialectAccess(policy, "mysql", partial(_fetch_rows, address, layer.time_zone, limits), times, limits)


async def _fetch_rows(
    address: Address, time_zone: str, limits: StatementLimits, statement: str, uncapped: str | None
) -> tuple[FetchedRows, int | None]:
    """Run a statement. Raises SourceUnavailable, SourceRefused, SqlRefused. A cancelled one runs to its limit."""
    return await sync_to_async(_fetch_in_transaction, thread_sensitive=False)(
        address, time_zone, limits, statement, uncapped
    )


def _fetch_in_transaction(
    address: Address, time_zone: str, limits: StatementLimits, statement: str, uncapped: str | None
) -> tuple[FetchedRows, int | None]:
    began = time.perf_counter()
    with open_read_only(address, time_zone=time_zone, limits=limits) as connection:
        if find_excessive_grants(connection, address.database):
            message = _("The account %(user)s can do more than read the views of %(database)s.")
            raise SourceRefused(message % {"user": address.user, "database": address.database})
        with connection.cursor(SSCursor) as cursor:
            cursor.execute(statement)
            columns = tuple(column[0] for column in cursor.description or ())
            rows: list[tuple[Any, ...]] = []
            size_bytes = 0
            while (row := cursor.fetchone()) is not None and len(rows) < limits.rows:
                size_bytes += sum(len(str(value)) for value in row)
                if size_bytes > MAX_BYTES:
                    break
                rows.append(tuple(row))
            is_cut = row is not None and size_bytes > MAX_BYTES
        if is_cut and not rows:
            raise build_long_row_refusal()
        total = None
        if uncapped is not None and len(rows) == limits.rows:
            total = fetch_trusted_rows(connection, f"SELECT count(*) FROM ({uncapped}) AS answer")[0][0]  # noqa: S608  # guarded
        elapsed_ms = int((time.perf_counter() - began) * 1000)
        return FetchedRows(columns, tuple(rows), is_cut, elapsed_ms), total if total and total > limits.rows else None


def fetch_trusted_rows(
    connection: Any, statement: str, given: tuple[Any, ...] | None = None
) -> tuple[tuple[Any, ...], ...]:
    """Return the rows of a trusted statement."""
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return tuple(cursor.fetchall())


def find_excessive_grants(connection: Any, database: str) -> list[str]:
    """Return the account's grants beyond reading this database, as the server words them."""
    grants = (re.sub(r" (IDENTIFIED|REQUIRE) .*", "", row[0]) for row in fetch_trusted_rows(connection, "SHOW GRANTS"))
    return [grant for grant in grants if not _is_harmless(grant, database)]


def _is_harmless(grant: str, database: str) -> bool:
    found = _GRANT.fullmatch(grant)
    if found is None or found["option"]:
        return False
    place = found["place"].replace("\\_", "_")
    return found["rights"] == "USAGE" or (found["rights"] == "SELECT" and place == f"{quote_identifier(database)}.*")


def quote_identifier(name: str) -> str:
    """Return a name quoted as a MySQL identifier."""
    return f"`{name.replace('`', '``')}`"


@contextmanager
def open_read_only(address: Address, *, time_zone: str = "UTC", limits: StatementLimits = DEFAULTS) -> Iterator[Any]:
    """Open a connection inside a read-only transaction under the limits. Raises SourceUnavailable, SqlRefused."""
    try:
        connection = _connect_to_server(address, limits)
    except (pymysql.MySQLError, OSError, AddressRefused) as error:
        raise _build_unavailable_error(address, error) from error
    try:
        is_mariadb = "MariaDB" in connection.get_server_info()
        with connection.cursor() as cursor:
            cursor.execute(_SETTINGS, ("+00:00" if time_zone == "UTC" else time_zone,))
            cursor.execute(_OF_MARIADB if is_mariadb else _OF_MYSQL, (limits.seconds if is_mariadb else limits.ms,))
            cursor.execute("START TRANSACTION READ ONLY")
        yield connection
    except pymysql.MySQLError as error:
        raise _convert_query_error(error, limits) from error
    finally:
        connection.close()


def _connect_to_server(address: Address, limits: StatementLimits) -> Any:
    """Open a socket to a checked address; the certificate is checked under the host's name."""
    target = check_target(address.host, address.port, build_service_policy())
    connection = pymysql.Connection(
        host=target.host,
        user=address.user,
        password=address.password,
        database=address.database,
        charset="utf8mb4",
        ssl=_build_tls_context(address.tls),
        ssl_disabled=address.tls is Tls.DISABLE,
        read_timeout=limits.seconds + 2,
        write_timeout=limits.seconds + 2,
        local_infile=False,
        auth_plugin_map={b"mysql_clear_password": _NoPassword, b"dialog": _NoPassword},
        autocommit=True,
        defer_connect=True,
    )
    connection.connect(socket.create_connection((target.addresses[0], address.port), timeout=CONNECT_TIMEOUT_S))
    return connection


def _build_tls_context(tls: Tls | None) -> ssl.SSLContext | None:
    if tls is Tls.DISABLE:
        return None
    if tls is Tls.REQUIRE:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context
    file = find_ca_certificates()
    return ssl.create_default_context(cafile=None if file == "system" else file)


_REASONS = {
    ER.ACCESS_DENIED_ERROR: WRONG_PASSWORD,
    ER.BAD_DB_ERROR: NO_DATABASE,
    ER.DBACCESS_DENIED_ERROR: NO_DATABASE,
}


_ABOUT_NAMES = {
    ER.BAD_FIELD_ERROR,
    ER.NO_SUCH_TABLE,
    ER.NON_UNIQ_ERROR,
    ER.PARSE_ERROR,
    ER.SP_DOES_NOT_EXIST,
    ER.WRONG_FIELD_WITH_GROUP,
    ER.MIX_OF_GROUP_FUNC_AND_FIELDS,
    ER.INVALID_GROUP_FUNC_USE,
}


def _build_unavailable_error(address: Address, error: Exception) -> SourceUnavailable:
    if isinstance(error, AddressRefused):
        return SourceUnavailable(str(error))
    code = error.args[0] if isinstance(error, pymysql.MySQLError) and error.args else None
    return build_unavailable_error_from(address, str(_REASONS.get(code, UNREACHABLE)))


def _convert_query_error(error: pymysql.MySQLError, limits: StatementLimits) -> SqlRefused:
    code, *message = error.args or (0,)
    return (
        build_timeout_refusal(limits.seconds)
        if code in _TOO_LATE
        else build_database_refusal(message[0] if message else code, is_about_names=code in _ABOUT_NAMES)
    )


SAMPLED_ROWS = 20_000  # of each view, for a draft
MAX_NAME = 63  # bytes of a name in PostgreSQL
DRAFTING = StatementLimits(seconds=60)
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
    statements = [f"CREATE DATABASE IF NOT EXISTS {quote_identifier(views)};"]
    for text in tables:
        found = _TABLE.fullmatch(text.strip())
        if found is None:
            raise InvalidInput(f"{text!r} is no table; write employee, or employee(id, name)")
        columns = ", ".join(
            quote_identifier(part.strip()) for part in (found["columns"] or "").split(",") if part.strip()
        )
        view, table = (
            f"{quote_identifier(place)}.{quote_identifier(found['table'].strip())}" for place in (views, database)
        )
        select = f"SELECT {columns or '*'} FROM {table}"  # noqa: S608  # names are quoted
        statements.append(f"CREATE OR REPLACE SQL SECURITY DEFINER VIEW {view} AS {select};")
    user, _at, host = account.partition("@")
    statements.append(
        f"GRANT SELECT ON {quote_identifier(views)}.* TO {quote_identifier(user)}@{quote_identifier(host or '%')};"
    )
    return "\n".join(statements) + "\n"


def find_faults(address: Address, tables: Sequence[str] = ()) -> Iterator[AccountFault]:
    """Yield excessive rights of the account, tables that are not views, and missing ones.

    Raises SourceUnavailable, SqlRefused.
    """
    with open_read_only(address) as connection:
        grants = find_excessive_grants(connection, address.database)
        kinds = dict(fetch_trusted_rows(connection, _TABLES, (address.database,)))
    for grant in grants:
        sentence = _("The account %(user)s can do more than read the views of %(database)s.")
        statement = grant.replace("GRANT ", "REVOKE ", 1).replace(" TO ", " FROM ", 1) + ";"
        yield AccountFault(sentence % {"user": address.user, "database": address.database}, statement)
    for name, kind in kinds.items():
        if kind != "VIEW":
            sentence = _("%(name)s is not a view: the database of a MySQL source holds views only.") % {"name": name}
            yield AccountFault(sentence, _("make a view of it in its place"))
    yield from (build_missing_table_fault(name) for name in tables if name not in kinds)


def draft_layer(address: Address, name: str, *, time_zone: str, unread: Unread | None = None) -> SemanticLayer:
    """Return a layer inferred from names and first rows of the views. Raises SourceUnavailable, SqlRefused.

    unread: called for each view left out; the guard cannot parse names longer than PostgreSQL's.
    """
    columns: dict[str, list[Column]] = {}
    with open_scratch_connection() as postgres, open_read_only(address, limits=DRAFTING) as connection:
        for table, column, kind in fetch_trusted_rows(connection, _COLUMNS, (address.database,)):
            if len(column.encode()) > MAX_NAME:
                if unread is not None:
                    unread(f"{table}.{column}", _("its name is too long"))
            elif kind.lower() in _TYPES:
                columns.setdefault(table, []).append(Column(column, *_TYPES[kind.lower()], ""))
        tables = []
        for table, found in columns.items():
            listed = ", ".join(quote_identifier(item.name) for item in found)
            statement = f"SELECT {listed} FROM {quote_identifier(table)} LIMIT {SAMPLED_ROWS}"  # noqa: S608
            rows = fetch_trusted_rows(connection, statement)
            tables.append(copy_to_temporary_table(postgres, table, found, (_clean_row(row, found) for row in rows)))
        layer = infer_layer(postgres, name, tables, [], time_zone=time_zone, unread=unread)
    models = tuple(model.model_copy(update={"table_schema": address.database}) for model in layer.semantic_models)
    return layer.model_copy(update={"semantic_models": models})


def _clean_row(row: Sequence[Any], columns: Sequence[Column]) -> list[Any]:
    """Return values that PostgreSQL accepts: an invalid day (0000-00-00) becomes NULL."""
    return [_clean_value(value, column) for value, column in zip(row, columns, strict=True)]


def _clean_value(value: Any, column: Column) -> Any:
    if column.category == "D" and not isinstance(value, date):
        return None
    if column.category == "S" and value is not None:
        return str(value).replace("\0", "")
    return value
