"""Check a data source's account for missing and excessive rights, each with the statement that fixes it.

A source's account reads the tables and builds sandboxes (`sandbox/setup.py`); it owns nothing else, has no power over
the server, and is a member of no role that has. The sandboxes' roles are checked the same way.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from django.utils.translation import gettext as _

SECRETS = (
    "pg_authid", "pg_shadow", "pg_user_mapping", "pg_subscription", "pg_statistic", "pg_statistic_ext_data",
    "pg_largeobject", "pg_hba_file_rules", "pg_ident_file_mappings", "pg_file_settings",
)  # fmt: skip
# Functions of PostgreSQL and of extensions that read or write files, run programs, or connect to other servers.
OUTSIDE = (
    r"^(pg_read_file|pg_read_binary_file|pg_ls_.*|pg_stat_file|pg_file_.*|pg_logdir_ls|pg_current_logfile|lo_import|lo_export"
    r"|pg_hba_file_rules|pg_ident_file_mappings|pg_show_all_file_settings|pg_reload_conf|pg_promote|dblink.*)$"
)
POWERFUL = (
    "pg_read_all_data", "pg_write_all_data", "pg_read_server_files", "pg_write_server_files", "pg_execute_server_program",
    "pg_monitor", "pg_read_all_settings", "pg_read_all_stats", "pg_signal_backend", "pg_create_subscription", "pg_maintain",
)  # fmt: skip


@dataclass(frozen=True)
class AccountFault:
    """A fault in one sentence. statement: the SQL, or the command, that fixes it."""

    sentence: str
    statement: str

    def __str__(self) -> str:
        return _("%(fault)s Run: %(statement)s") % {"fault": self.sentence, "statement": self.statement}


_POWERS = """
SELECT attribute, word FROM pg_roles r, LATERAL (VALUES
    (r.rolsuper, 'SUPERUSER', 1), (r.rolcreaterole, 'CREATEROLE', 2), (r.rolbypassrls, 'BYPASSRLS', 3),
    (r.rolreplication, 'REPLICATION', 4)) AS power(attribute, word, place)
WHERE r.rolname = %(role)s AND attribute ORDER BY place
"""
_MEMBER_OF = """
SELECT quote_ident(r.rolname) FROM pg_roles r
WHERE r.rolname <> %(role)s AND pg_has_role(%(role)s, r.oid, 'MEMBER')
  AND (r.rolsuper OR r.rolcreaterole OR r.rolbypassrls OR r.rolreplication OR r.rolname = ANY(%(powerful)s))
ORDER BY 1
"""
_OWNED = """
SELECT kind, name, administrator FROM (
    SELECT 1 AS place, 'DATABASE' AS kind, quote_ident(datname) AS name, datdba AS owner
    FROM pg_database WHERE datname = current_database()
    UNION ALL
    SELECT 2, 'SCHEMA', quote_ident(nspname), nspowner FROM pg_namespace
    WHERE nspname !~ '^(pg_|information_schema$|copilot_wall_)'
    UNION ALL
    SELECT 3, 'TABLE', format('%%I.%%I', n.nspname, c.relname), c.relowner
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^(pg_|information_schema$|copilot_wall_)'
) AS thing, (SELECT quote_ident(rolname) AS administrator FROM pg_roles WHERE oid = 10) AS first
WHERE pg_has_role(%(role)s, owner, 'MEMBER') ORDER BY place, name LIMIT 5
"""
_SECRETS_READ = """
SELECT 'pg_catalog.' || c.relname FROM pg_class c
WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relname = ANY(%(secrets)s)
  AND (has_table_privilege(%(role)s, c.oid, 'SELECT')
       OR has_any_column_privilege(%(role)s, c.oid, 'SELECT') AND c.relname <> 'pg_subscription'
       OR c.relname = 'pg_subscription' AND has_column_privilege(%(role)s, c.oid, 'subconninfo', 'SELECT'))
ORDER BY 1
"""
_OUTSIDE_FUNCTIONS = """
SELECT p.oid::regprocedure::text
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
WHERE (p.proname ~ %(outside)s OR NOT l.lanpltrusted AND l.lanname NOT IN ('c', 'internal'))
  AND has_schema_privilege(%(role)s, n.oid, 'USAGE') AND has_function_privilege(%(role)s, p.oid, 'EXECUTE')
ORDER BY 1
"""
_SERVERS = """
SELECT 'FOREIGN SERVER ' || quote_ident(srvname) FROM pg_foreign_server WHERE has_server_privilege(%(role)s, oid, 'USAGE')
UNION ALL
SELECT 'FOREIGN DATA WRAPPER ' || quote_ident(fdwname) FROM pg_foreign_data_wrapper
WHERE has_foreign_data_wrapper_privilege(%(role)s, oid, 'USAGE')
"""
_LACKS = """
SELECT has_database_privilege(current_database(), 'CREATE'), quote_ident(current_database()), quote_ident(current_user),
    coalesce(has_schema_privilege(to_regnamespace('copilot_walls'), 'USAGE')
             AND has_function_privilege(to_regprocedure('copilot_walls.create_role(text, text)'), 'EXECUTE')
             AND has_function_privilege(to_regprocedure('copilot_walls.drop_role(text)'), 'EXECUTE'), false)
"""


def find_account_faults(connection: psycopg.Connection, schemas: Collection[str]) -> list[AccountFault]:
    """Return the faults of a connection's account as a data source's, the gravest first."""
    return [*_find_excessive_rights(connection), *_find_missing_rights(connection, schemas)]


def find_forbidden_reach(
    connection: psycopg.Connection, role: str, *, held_by: str = "PUBLIC"
) -> Iterator[AccountFault]:
    """Yield what a role reaches beyond tables: catalogs with secrets, files, programs, other servers.

    held_by: whose rights to revoke, as SQL; a sandbox's role has none of its own.
    """
    given: dict[str, Any] = {"role": role, "secrets": list(SECRETS), "outside": OUTSIDE}
    for (name,) in connection.execute(_SECRETS_READ, given).fetchall():
        sentence = _("The account %(role)s can read %(name)s, which holds secrets of the server.")
        yield AccountFault(sentence % {"role": role, "name": name}, f"REVOKE ALL ON {name} FROM {held_by};")
    functions = [name for (name,) in connection.execute(_OUTSIDE_FUNCTIONS, given).fetchall()]
    if functions:
        sentence = _("The account %(role)s can run functions that read files, run programs or connect elsewhere.")
        yield AccountFault(
            sentence % {"role": role}, f"REVOKE EXECUTE ON FUNCTION {', '.join(functions)} FROM {held_by};"
        )
    for (name,) in connection.execute(_SERVERS, given).fetchall():
        sentence = _("The account %(role)s can use %(name)s, which leads to other servers.")
        yield AccountFault(sentence % {"role": role, "name": name}, f"REVOKE USAGE ON {name} FROM {held_by};")


def _find_excessive_rights(connection: psycopg.Connection) -> Iterator[AccountFault]:
    role = connection.info.user
    given: dict[str, Any] = {"role": role, "powerful": list(POWERFUL)}
    who = _quote_identifier(connection, role)
    powers = {
        "SUPERUSER": _("The account %(role)s is a superuser."),
        "CREATEROLE": _("The account %(role)s can create roles."),
        "BYPASSRLS": _("The account %(role)s bypasses row security."),
        "REPLICATION": _("The account %(role)s can copy the whole server by replication."),
    }
    found = [word for _has, word in connection.execute(_POWERS, given).fetchall()]
    for word in found:
        yield AccountFault(powers[word] % {"role": role}, f"ALTER ROLE {who} NO{word};")
    if "SUPERUSER" in found:  # implies all of the rest
        return
    groups = [name for (name,) in connection.execute(_MEMBER_OF, given).fetchall()]
    for name in groups:
        sentence = _("The account %(role)s is a member of %(name)s, which has power over the server.")
        yield AccountFault(sentence % {"role": role, "name": name}, f"REVOKE {name} FROM {who};")
    if groups:  # may imply much of the rest
        return
    for kind, name, administrator in connection.execute(_OWNED, given).fetchall():
        sentence = _("The account %(role)s owns %(name)s, and could change it.") % {"role": role, "name": name}
        yield AccountFault(sentence, f"ALTER {kind} {name} OWNER TO {administrator};")
    yield from find_forbidden_reach(connection, role, held_by=f"PUBLIC, {who}")


def _find_missing_rights(connection: psycopg.Connection, schemas: Collection[str]) -> Iterator[AccountFault]:
    role = connection.info.user
    may_create, database, who, has_functions = connection.execute(_LACKS).fetchone() or (False, "", "", False)
    if not has_functions:
        yield AccountFault(
            _("The database lacks the functions by which the account %(role)s makes roles for sandboxes.")
            % {"role": role},
            build_setup_command(role, connection.info.dbname, schemas),
        )
    if not may_create:
        sentence = _("The account %(role)s cannot create schemas in the database.") % {"role": role}
        yield AccountFault(sentence, f"GRANT CREATE ON DATABASE {database} TO {who};")
    for schema in schemas:
        row = connection.execute(
            "SELECT has_schema_privilege(to_regnamespace(quote_ident(%s)), 'USAGE')", [schema]
        ).fetchone()
        if row is None or row[0] is None:
            sentence = _("The database has no schema %(name)s.") % {"name": schema}
            yield AccountFault(sentence, _("take it out of the schemas of the data source"))
        elif not row[0]:
            sentence = _("The account %(role)s cannot use the schema %(name)s.") % {"role": role, "name": schema}
            yield AccountFault(sentence, f"GRANT USAGE ON SCHEMA {_quote_identifier(connection, schema)} TO {who};")


def build_setup_command(account: str, database: str, schemas: Collection[str] = (), *, more: str = "") -> str:
    """Return the command that prints the SQL for the administrator of the database."""
    more = "".join(f" --schema {schema}" for schema in schemas if schema != "public") + more
    return f"manage.py data_source setup --account {account} --database {database}{more} | psql -d {database}"


def _quote_identifier(connection: psycopg.Connection, name: str) -> str:
    return psycopg.sql.Identifier(name).as_string(connection)
