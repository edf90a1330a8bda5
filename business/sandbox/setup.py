"""SQL that a server's administrator runs once in a database to make it a data source.

On the product's own server the product's account is the administrator, and runs it itself.
"""

from collections.abc import Sequence
from pathlib import Path

import psycopg
from psycopg import sql

from business.sandbox.hardening import LOCK, hardening

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


def role_functions() -> str:
    """Return SQL for the functions that create and drop sandbox roles; safe to run again."""
    values = ", ".join(f"('{name}', '{value}')" for name, value in ROLE_SETTINGS.items())
    return TEMPLATE.read_text().replace("{connections}", str(CONNECTIONS)).replace("{settings}", values)


def source_setup(account: str, database: str, schemas: Sequence[str], *, only_business_data: bool = False) -> str:
    """Return SQL that lets an account, which exists, serve as a data source's: it reads these schemas and builds sandboxes, and no more.

    only_business_data: also revoke from PUBLIC what a question never needs.
    """
    who, where = sql.Identifier(account), sql.Identifier(database)
    parts: list[sql.Composable | str] = [
        role_functions(),
        sql.SQL("GRANT USAGE ON SCHEMA copilot_walls TO {};").format(who),
        sql.SQL("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA copilot_walls TO {};").format(who),
        sql.SQL("GRANT CONNECT, CREATE ON DATABASE {} TO {};").format(where, who),
    ]
    for schema in map(sql.Identifier, schemas):
        parts.append(sql.SQL("GRANT USAGE ON SCHEMA {} TO {};").format(schema, who))
        parts.append(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA {} TO {};").format(schema, who))
    if only_business_data:
        parts.append(hardening(database, keep_for=account))
    return "\n".join(part if isinstance(part, str) else part.as_string() for part in parts) + "\n"


def set_up_own(connection: psycopg.Connection) -> None:
    """Run the administrator's part where the account is a superuser, as on the product's own server."""
    if connection.info.parameter_status("is_superuser") == "on":
        connection.execute(f"SELECT pg_advisory_xact_lock({LOCK});\n{role_functions()}")
