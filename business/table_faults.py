"""Check that a layer's table is a table or view of data in its own database and leads nowhere else.

A view, or a table with partitions, is looked at as far as it reaches: a foreign table, a catalog of the server or a function that
connects elsewhere behind it would be reached through it.
"""

from collections.abc import Collection, Iterator

import psycopg
from django.utils.translation import gettext as _

from business.connections.account_faults import OUTSIDE, AccountFault

# What a rule of a view reads stands in its tree; `pg_depend` does not record the server's own catalogs.
_REACHED = r"""
WITH RECURSIVE reached(oid) AS (
    SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = %(schema)s AND c.relname = %(table)s
    UNION
    SELECT further.oid FROM reached, LATERAL (
        SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = reached.oid
        UNION ALL
        SELECT found[1]::oid FROM pg_rewrite w, regexp_matches(w.ev_action::text, ':relid (\d+)', 'g') AS found
        WHERE w.ev_class = reached.oid AND w.ev_type = '1'
    ) AS further
)
SELECT format('%%I.%%I', n.nspname, c.relname), c.relkind::text, n.nspname ~ '^(pg_|information_schema$)'
FROM reached JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace
UNION ALL
SELECT p.oid::regprocedure::text, 'function', true
FROM reached JOIN pg_rewrite w ON w.ev_class = reached.oid,
     regexp_matches(w.ev_action::text, ':funcid (\d+)', 'g') AS found, pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE p.oid = found[1]::oid AND (p.proname ~ %(outside)s OR NOT l.lanpltrusted AND l.lanname NOT IN ('c', 'internal'))
"""
_MAY_READ = """
SELECT has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'), quote_ident(current_user),
       format('%%I.%%I', n.nspname, c.relname)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = %(schema)s AND c.relname = %(table)s
"""
PLAIN = ("r", "p", "v", "m")


def build_missing_table_fault(name: str) -> AccountFault:
    sentence = _("The database has no table %(name)s.") % {"name": name}
    return AccountFault(sentence, _("take it out of the semantic layer, or draft it anew"))


def find_table_faults(connection: psycopg.Connection, tables: Collection[tuple[str, str]]) -> Iterator[AccountFault]:
    """Yield what is wrong with tables, by schema and name: missing, not readable for the account, or leading elsewhere."""
    for schema, table in tables:
        named = {"name": f"{schema}.{table}"}
        given = {"schema": schema, "table": table, "outside": OUTSIDE}
        may_read = connection.execute(_MAY_READ, given).fetchone()
        if may_read is None:
            yield build_missing_table_fault(named["name"])
            continue
        if not may_read[0]:
            sentence = _("The account cannot read the table %(name)s.") % named
            yield AccountFault(sentence, f"GRANT SELECT ON {may_read[2]} TO {may_read[1]};")
        for name, kind, is_system in connection.execute(_REACHED, given).fetchall():
            if is_system or kind not in PLAIN:
                sentence = _("%(table)s leads to %(name)s, which is not business data of this database.")
                yield AccountFault(
                    sentence % {"table": named["name"], "name": name}, _("take it out of the semantic layer")
                )
                break
