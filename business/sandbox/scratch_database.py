"""Temporary databases of commands on the product's server: created, filled from a file, removed with their roles."""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from psycopg import sql

from business.connections.address import Address
from business.sandbox import sql_views
from copilot_site.lib.commands import read_text_file
from copilot_site.lib.errors import InvalidInput


@contextmanager
def open_scratch_database(seed: Path) -> Iterator[Address]:
    """Open a database filled by an SQL file, as its owner; gone afterwards. Raises InvalidInput for a seed that fails."""
    server = Address.of_django()
    address = server.at(f"copilot_scratch_{secrets.token_hex(6)}")
    with _connect_as_admin(server) as connection:
        roles_before = _list_roles(connection)
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(address.database)))
    try:
        _load_seed(address, seed)
        yield address
    finally:
        _drop_database(server, address.database, roles_before)


@contextmanager
def copy_scratch_database(address: Address, name: str) -> Iterator[Address]:
    """Yield a copy of a scratch database as it is now, without sandboxes; gone afterwards. Nobody may be connected to it."""
    copied = address.at(f"{address.database}_{name}")
    with _connect_as_admin(Address.of_django()) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(copied.database), sql.Identifier(address.database)
            )
        )
    try:
        yield copied
    finally:
        _drop_database(Address.of_django(), copied.database, None)


def _connect_as_admin(server: Address) -> psycopg.Connection:
    return psycopg.connect(**server.keywords(), autocommit=True)


# What only psql understands, and what makes other databases.
_PSQL = re.compile(r"^(?:\\.*|(?:CREATE|DROP) DATABASE\b[^;]*;)$", re.MULTILINE | re.IGNORECASE)
_QUIET = """
DO $$ DECLARE t regclass; BEGIN
  FOR t IN SELECT relid FROM pg_stat_user_tables JOIN pg_class c ON c.oid = relid AND c.relkind = 'r'
  LOOP EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', t); END LOOP;
END $$
"""


def _load_seed(address: Address, seed: Path) -> None:
    """Fill the database; its statistics stay as they are from then on, so that a copy is planned like the original."""
    text = _PSQL.sub("", read_text_file(seed))
    with psycopg.connect(**address.keywords()) as connection:
        try:
            connection.execute("SET search_path = public")  # not the account's own schema, which a seed may make
            connection.execute(text)  # the operator's own file
            connection.execute(_QUIET)
        except psycopg.Error as error:
            raise InvalidInput(f"The seed {seed.name} does not load: {error.diag.message_primary}.") from error


def _drop_database(server: Address, database: str, roles_before: set[str] | None) -> None:
    """Drop the database, its sandboxes' roles, and the roles that its seed made."""
    address = server.at(database)
    sql_views.drop_all_sandboxes(address)
    made = set()
    if roles_before is not None:
        with _connect_as_admin(address) as connection:
            made = _list_roles(connection) - roles_before
            for role in made:
                connection.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(role)))
    with _connect_as_admin(server) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(database)))
        for role in made:
            with suppress(psycopg.errors.DependentObjectsStillExist):  # another process is loading the same seed
                connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(role)))


def _list_roles(connection: psycopg.Connection) -> set[str]:
    """Return the current roles, without other databases' sandboxes, which change concurrently."""
    rows = connection.execute("SELECT rolname FROM pg_roles WHERE NOT starts_with(rolname, %s)", [sql_views.PREFIX])
    return {name for (name,) in rows}
