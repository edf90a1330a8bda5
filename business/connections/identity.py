"""Identify a server: the product's own is never a data source, whatever name, address, port or socket leads to it.

The server is asked first, on the very connection that will be used, for its cluster's unique number
(`system_identifier`), which only a superuser of that server could falsify. A standby or a copy of the product's server
has its number, and its data. A server that does not tell its number is refused.
"""

from functools import cache

import psycopg
from asgiref.sync import sync_to_async
from django.db import connection as own
from django.utils.translation import gettext as _

from copilot_site.lib.errors import InvalidInput

_WHO = "SELECT system_identifier FROM pg_catalog.pg_control_system()"


class SourceRefused(InvalidInput):
    """This server or account cannot be a data source; the text says what has to change."""


def require_foreign_server(connection: psycopg.Connection) -> None:
    """Raise SourceRefused for a connection to the product's own server, or to one that does not tell its number."""
    try:
        row = connection.execute(_WHO).fetchone()
    except psycopg.Error as error:
        raise _build_unidentified_refusal(error) from error
    _require_other_identifier(row, load_own_server_identifier())


async def require_foreign_server_async(connection: psycopg.AsyncConnection) -> None:
    """Raise SourceRefused as `require_foreign_server` does, and for a superuser's connection."""
    if connection.info.parameter_status("is_superuser") == "on":
        raise SourceRefused(
            _("The account %(user)s is a superuser there: run ALTER ROLE %(role)s NOSUPERUSER.")
            % {"user": connection.info.user, "role": psycopg.sql.Identifier(connection.info.user).as_string()}
        )
    try:
        row = await (await connection.execute(_WHO)).fetchone()
    except psycopg.Error as error:
        raise _build_unidentified_refusal(error) from error
    _require_other_identifier(row, await sync_to_async(load_own_server_identifier, thread_sensitive=False)())


@cache
def load_own_server_identifier() -> int:
    """Return the number of the product's own server, cached per process. Raises SourceRefused where it has none."""
    try:
        with psycopg.connect(**own.get_connection_params()) as connection:  # not Django's: any thread may call this
            row = connection.execute(_WHO).fetchone()
    except psycopg.Error as error:
        raise SourceRefused(
            _(
                "The product's own database server does not say which one it is, so no other can be told from it: "
                "run GRANT EXECUTE ON FUNCTION pg_catalog.pg_control_system() TO PUBLIC in the product's database."
            )
        ) from error
    return int(row[0]) if row else 0


def _require_other_identifier(row: tuple[int, ...] | None, ours: int) -> None:
    if row is None or int(row[0]) == ours:
        raise SourceRefused(
            _(
                "This address leads to the product's own database server, or to a copy of it, which is never a data source: "
                "enter the server that holds the business data."
            )
        )


def _build_unidentified_refusal(error: psycopg.Error) -> SourceRefused:
    return SourceRefused(
        _(
            "The server does not say which one it is (%(why)s): run GRANT EXECUTE ON FUNCTION pg_catalog.pg_control_system() "
            "TO PUBLIC in this database as its administrator."
        )
        % {"why": error.diag.message_primary or type(error).__name__}
    )
