"""The insert of an entry: one statement, put together once in a process and planned once in a connection.

What the ORM makes anew for each row costs more processor time than the database's part in it (ADR 0013).
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from django.db import connections, transaction
from django.db.utils import DEFAULT_DB_ALIAS

from copilot_site.lib.prepared_statements import prepared_cursor

if TYPE_CHECKING:
    from audit.models import Entry


def insert(entry: "Entry") -> None:
    """Insert a sealed entry in the caller's transaction and give it its id. Raises whatever the database raises."""
    statement, fields = _insert_of(type(entry))
    connection = connections[DEFAULT_DB_ALIAS]
    values = [field.get_db_prep_save(getattr(entry, field.attname), connection) for field in fields]
    with transaction.mark_for_rollback_on_error(DEFAULT_DB_ALIAS), prepared_cursor(connection) as cursor:
        cursor.execute(statement, values)
        (entry.pk,) = cursor.fetchone()
    entry._state.adding, entry._state.db = False, DEFAULT_DB_ALIAS


@cache
def _insert_of(model: "type[Entry]") -> tuple[str, list[Any]]:
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    # with its schema: a temporary table of the same name would come first
    names, places = ", ".join(str(field.column) for field in fields), ", ".join(["%s"] * len(fields))
    return f"INSERT INTO public.{model._meta.db_table} ({names}) VALUES ({places}) RETURNING id", fields  # noqa: S608 - names of our own
