"""SQL that a server's administrator runs once in a database to make it a data source, and to harden it.

On the product's own server the product's account is the administrator, and runs it itself. To harden is to revoke system functions
and catalogs, which questions never need, from PUBLIC, in a database that holds nothing but business data
(`DataSource.is_dedicated`). Without it the views still protect the data; what stays open are counts in statistics views, and
functions that waste time or memory.
"""

from collections.abc import Sequence
from pathlib import Path

import psycopg
from django.utils.translation import gettext as _
from psycopg import sql

from business.connections.account_faults import AccountFault, build_setup_command
from business.connections.address import Address
from business.connections.identity import SourceRefused
from business.connections.postgres_session import connect_to_source
from business.guard.vocabulary import FUNCTIONS

# Kept although not immutable: the functions of the vocabulary, and those behind operators, casts, types and aggregates.
# Revoked although immutable: each makes a value far longer than its arguments, or is slow on a short one.
GROWING = (
    "repeat", "lpad", "rpad", "array_fill", "format", "factorial", "generate_subscripts",
    "pg_typeof", "xpath", "xpath_exists", "xml_is_well_formed", "random", "random_normal",
)  # fmt: skip
KEPT = FUNCTIONS | {"dpow", "numeric_power"}  # the functions behind ^
LOCK = 0x636F7069  # serialises builders in a database
WHO_IS_IT = "pg_control_system"

_IS_DONE = """
SELECT NOT has_table_privilege('public', 'pg_catalog.pg_class', 'SELECT') AND NOT EXISTS (
    SELECT 1 FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f'
    AND p.proname = ANY(%s) AND NOT has_function_privilege('public', p.oid, 'EXECUTE'))
"""
_TAKE_FUNCTIONS = """
DO $$
DECLARE f regprocedure;
BEGIN
  FOR f IN
    SELECT p.oid::regprocedure FROM pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind = 'f' AND p.proname = ANY({kept}::text[])
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO PUBLIC', f);
  END LOOP;
  FOR f IN
    SELECT p.oid::regprocedure FROM pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind IN ('f', 'p')
      AND has_function_privilege('public', p.oid, 'EXECUTE')
      AND (p.proname = ANY({growing}::text[])
           OR (p.provolatile <> 'i' AND NOT p.proname = ANY({kept}::text[])
               AND NOT EXISTS (SELECT 1 FROM pg_operator o WHERE o.oprcode = p.oid)
               AND NOT EXISTS (SELECT 1 FROM pg_cast c WHERE c.castfunc = p.oid)
               AND NOT EXISTS (SELECT 1 FROM pg_type t WHERE p.oid IN (t.typinput, t.typoutput, t.typreceive, t.typsend,
                                                                      t.typmodin, t.typmodout, t.typanalyze, t.typsubscript))
               AND NOT EXISTS (SELECT 1 FROM pg_aggregate a WHERE p.oid IN (a.aggtransfn, a.aggfinalfn, a.aggcombinefn,
                                                                           a.aggserialfn, a.aggdeserialfn, a.aggmtransfn,
                                                                           a.aggminvtransfn, a.aggmfinalfn))
               AND NOT EXISTS (SELECT 1 FROM pg_amproc a WHERE a.amproc = p.oid)))
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f);
  END LOOP;
END $$;
"""
# Comparisons of numbers and times that PostgreSQL has not marked, though none tells of what it compares: none of them raises an
# error. Marked, they reach the indexes below a view's fence. Only a superuser may mark them.
_MARK = r"""
DO $$
DECLARE f regprocedure;
BEGIN
  FOR f IN
    SELECT p.oid::regprocedure FROM pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND NOT p.proleakproof AND p.prorettype = 'bool'::regtype
      AND p.proname ~ '^(numeric_(eq|ne|lt|le|gt|ge)|(date|timestamp|timestamptz)_(eq|ne|lt|le|gt|ge)_(date|timestamp|timestamptz))$'
  LOOP
    EXECUTE format('ALTER FUNCTION %s LEAKPROOF', f);
  END LOOP;
EXCEPTION WHEN insufficient_privilege THEN NULL;
END $$;
"""
_TAKE_CATALOGS = """
REVOKE SELECT ON ALL TABLES IN SCHEMA pg_catalog FROM PUBLIC;
REVOKE SELECT ON ALL TABLES IN SCHEMA information_schema FROM PUBLIC;
REVOKE USAGE ON SCHEMA information_schema FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
"""


_KEEP_FOR = """
DO $$
DECLARE thing text;
BEGIN
  FOR thing IN SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'pg_catalog'::regnamespace
    AND p.prokind IN ('f', 'p') AND p.provolatile <> 'i' AND has_function_privilege('public', p.oid, 'EXECUTE')
  LOOP
    EXECUTE format('GRANT EXECUTE ON ROUTINE %s TO %I', thing, {account});
  END LOOP;
  FOR thing IN SELECT c.oid::regclass FROM pg_class c WHERE c.relnamespace = 'pg_catalog'::regnamespace
    AND c.relkind IN ('r', 'v') AND has_table_privilege('public', c.oid, 'SELECT')
  LOOP
    EXECUTE format('GRANT SELECT ON %s TO %I', thing, {account});
  END LOOP;
END $$;
"""


def harden_database(admin: Address) -> None:
    """Revoke the rights from PUBLIC once; a hardened database is left unchanged. Raises SourceRefused.

    A database that was hardened for a smaller vocabulary gets the functions back that were added since. On the product's own
    server this account may do it; elsewhere the database's administrator has done it.
    """
    with connect_to_source(admin) as connection:
        if is_hardened(connection) and (has_leakproof_comparisons(connection) or not admin.is_own):
            return
        if not admin.is_own:
            raise SourceRefused(str(build_hardening_warning(admin)))
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])  # the first questions may be concurrent
        if not is_hardened(connection):
            connection.execute(build_hardening_sql(admin.database))
        elif not has_leakproof_comparisons(connection):
            connection.execute(_MARK)


def build_hardening_warning(admin: Address) -> AccountFault:
    """Return the warning for a database meant for business data only that is not hardened."""
    return AccountFault(
        _("Everyone still has rights on system catalogs and functions of the database %(database)s.")
        % {"database": admin.database},
        build_setup_command(admin.user, admin.database, more=" --only-business-data"),
    )


def is_hardened(connection: psycopg.Connection) -> bool:
    """Return whether a database is hardened for the current vocabulary."""
    done = connection.execute(_IS_DONE, [sorted(KEPT)]).fetchone()
    return bool(done and done[0])


def has_leakproof_comparisons(connection: psycopg.Connection) -> bool:
    """Return whether comparisons of numbers and times reach the indexes below a view's fence; a database is safe without."""
    done = connection.execute("SELECT proleakproof FROM pg_proc WHERE oid = 'numeric_ge'::regproc").fetchone()
    return bool(done and done[0])


def build_hardening_sql(database: str, *, keep_for: str = "") -> sql.Composed:
    """Return the SQL for a database's administrator. keep_for: an account that builds sandboxes there and keeps what it has now.

    With one, everybody may still read the server's identifier.
    """
    kept = sorted(KEPT | {WHO_IS_IT} if keep_for else KEPT)
    take = sql.SQL(_TAKE_FUNCTIONS).format(growing=sql.Literal(list(GROWING)), kept=sql.Literal(kept))
    parts: list[sql.Composable] = [
        take,
        sql.SQL(_MARK),
        sql.SQL(_TAKE_CATALOGS),
        sql.SQL("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC;\n").format(sql.Identifier(database)),
    ]
    if keep_for:
        parts.insert(0, sql.SQL(_KEEP_FOR).format(account=sql.Literal(keep_for)))
    return sql.Composed(parts)


TEMPLATE = Path(__file__).with_name("setup.sql")
CONNECTIONS = 8  # concurrent per role: a page full of questions, not a flood

# Settings a sandbox's role starts with. The session sets the limits again itself; these hold where something else connects.
ROLE_SETTINGS = {
    "default_transaction_read_only": "on",
    "statement_timeout": "5s",
    "lock_timeout": "200ms",
    "idle_in_transaction_session_timeout": "10s",
    "transaction_timeout": "15s",
    "work_mem": "16MB",
    "hash_mem_multiplier": "1",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "temp_file_limit": "256MB",  # only a superuser may set it
}


def build_role_functions_sql() -> str:
    """Return SQL for the functions that create and drop sandbox roles; safe to run again."""
    values = ", ".join(f"('{name}', '{value}')" for name, value in ROLE_SETTINGS.items())
    return TEMPLATE.read_text().replace("{connections}", str(CONNECTIONS)).replace("{settings}", values)


def build_source_setup_sql(
    account: str, database: str, schemas: Sequence[str], *, only_business_data: bool = False
) -> str:
    """Return SQL that lets an account, which exists, serve as a data source's: it reads these schemas and builds sandboxes, and no more.

    only_business_data: also revoke from PUBLIC what a question never needs.
    """
    who, where = sql.Identifier(account), sql.Identifier(database)
    parts: list[sql.Composable | str] = [
        build_role_functions_sql(),
        sql.SQL("GRANT USAGE ON SCHEMA copilot_walls TO {};").format(who),
        sql.SQL("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA copilot_walls TO {};").format(who),
        sql.SQL("GRANT CONNECT, CREATE ON DATABASE {} TO {};").format(where, who),
    ]
    for schema in map(sql.Identifier, schemas):
        parts.append(sql.SQL("GRANT USAGE ON SCHEMA {} TO {};").format(schema, who))
        parts.append(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA {} TO {};").format(schema, who))
    if only_business_data:
        parts.append(build_hardening_sql(database, keep_for=account))
    return "\n".join(part if isinstance(part, str) else part.as_string() for part in parts) + "\n"


def set_up_own_server(connection: psycopg.Connection) -> None:
    """Run the administrator's part where the account is a superuser, as on the product's own server."""
    if connection.info.parameter_status("is_superuser") == "on":
        connection.execute(f"SELECT pg_advisory_xact_lock({LOCK});\n{build_role_functions_sql()}")
