"""Check that the triggers that link entries and refuse changes are as migrations installed them, with nothing added.

The tables' owner can switch a trigger off, move it to another table, add a condition or replace its function. A guard
counts only if it is enabled, on its own table and runs the installed text. The owner can also add rules or triggers that
change, drop or hide entries, or that run code in the transaction that records.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

CHANGE, EMPTYING, ADDITION = 1 + 2 + 8 + 16, 2 + 32, 1 + 4
"""`pg_trigger.tgtype`: before each changed or deleted row; before a TRUNCATE; after each added row."""
SEARCH_PATH = "pg_catalog, public, pg_temp"  # ours: a path set by others may put other tables and catalogs first
TRIGGERS = {
    "audit_entry_link": ("audit_entry", ADDITION, "audit_link_entry"),
    "audit_entry_append_only": ("audit_entry", CHANGE, "audit_guard_entry"),
    "audit_entry_no_truncate": ("audit_entry", EMPTYING, "audit_refuse_change"),
    "audit_link_append_only": ("audit_link", CHANGE, "audit_guard_link"),
    "audit_link_no_truncate": ("audit_link", EMPTYING, "audit_refuse_change"),
    "audit_head_forward_only": ("audit_head", CHANGE, "audit_guard_head"),
    "audit_head_no_truncate": ("audit_head", EMPTYING, "audit_refuse_change"),
    "audit_checkpoint_append_only": ("audit_checkpoint", CHANGE, "audit_refuse_change"),
    "audit_checkpoint_no_truncate": ("audit_checkpoint", EMPTYING, "audit_refuse_change"),
    "audit_hold_release_only": ("audit_hold", CHANGE, "audit_guard_hold"),
    "audit_hold_no_truncate": ("audit_hold", EMPTYING, "audit_refuse_change"),
}
UNIQUE = {  # columns with a unique index, by table
    "audit_entry.id", "audit_link.seq", "audit_link.entry_id", "audit_head.only_one", "audit_checkpoint.id",
    "audit_checkpoint.seq,kind,signature", "audit_hold.id",
}  # fmt: skip
TABLES = ("audit_entry", "audit_link", "audit_head", "audit_checkpoint", "audit_hold")
DEFINERS = {
    "audit_link_entry",
    "audit_guard_entry",
    "audit_guard_link",
    "audit_guard_hold",
}  # SECURITY DEFINER, with a search path of their own
FUNCTIONS = {  # SHA-256 of the source text, as a migration wrote it
    "audit_link_entry": "6817fc2ce62eb13ffff7bf04a2eaf097ff981bb43aab93756a7541da1c36c97a",
    "audit_refuse_change": "de62c2dac9a469e02b1d23444d44902488c5863aa1120d99e1edf2ab5dcdbb17",
    "audit_guard_entry": "c94ac4821c860ff37afa7fd6dc8109b2e2d01a270310993ad71217e7ae5a446a",
    "audit_guard_link": "5e88e93568d8646beb711ec25e73fac654ef73c567378215cd1cb8f34f778bff",
    "audit_guard_head": "2c4a06c7571bb7b4a400a497ca193b6e54f1e931920e4c7fdb15168e180e5651",
    "audit_guard_hold": "d0a1cf3025e57cf2439ae86bd5cc136307a7894e012d893065250fbea0f020af",
}
HUNG = """
SELECT tgname, relname, tgtype, proname
FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE tgenabled IN ('O', 'A') AND tgqual IS NULL AND tgattr = '' AND pronargs = 0
    AND relname = ANY(%(tables)s) AND relnamespace = 'public'::regnamespace AND pronamespace = 'public'::regnamespace
"""
TEXTS = """
SELECT proname, prosrc, prosecdef, coalesce(array_to_string(proconfig, ';'), '')
FROM pg_proc JOIN pg_language ON pg_language.oid = prolang
WHERE pronamespace = 'public'::regnamespace AND pronargs = 0 AND lanname = 'plpgsql' AND proname = ANY(%(functions)s)
"""
OURS = """
WITH ours AS (
    SELECT * FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname = ANY(%(tables)s)
)
"""
# Each query finds objects that should not exist, as values for the sentence that names them.
FINDS = {
    "{} is no ordinary table any more": """
        SELECT name FROM unnest(%(tables)s::text[]) AS name
        WHERE NOT EXISTS (SELECT FROM ours WHERE relname = name AND relkind = 'r' AND relpersistence = 'p')""",
    "a second {} stands in the schema {}: entries may be written to it": """
        SELECT relname, nspname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE relname = ANY(%(tables)s) AND nspname <> 'public'""",
    "{} inherits from {}: rows of one appear in the other": """
        SELECT inhrelid::regclass, inhparent::regclass FROM pg_inherits JOIN ours ON oid IN (inhrelid, inhparent)""",
    "the trigger {} was added to {}: it can change or drop what is recorded": """
        SELECT tgname, relname FROM pg_trigger JOIN ours ON ours.oid = tgrelid
        WHERE NOT tgisinternal AND NOT (relname || '.' || tgname) = ANY(%(triggers)s)""",
    "the rule {} was added to {}: it can change or drop what is recorded": """
        SELECT rulename, relname FROM pg_rewrite JOIN ours ON ours.oid = ev_class""",
    "the policy {} was added to {}: it can hide entries": """
        SELECT polname, relname FROM pg_policy JOIN ours ON ours.oid = polrelid""",
    "row security is on for {}: it can hide entries": """
        SELECT relname FROM ours WHERE relrowsecurity OR relforcerowsecurity""",
    "the constraint {} was added to {}: it can refuse entries": """
        SELECT conname, relname FROM pg_constraint JOIN ours ON ours.oid = conrelid WHERE contype IN ('c', 'f', 'x')""",
    "the index {} on {} calls a function: it runs whenever something is recorded": """
        SELECT indexrelid::regclass, relname FROM pg_index JOIN ours ON ours.oid = indrelid
        WHERE indexprs IS NOT NULL OR indpred IS NOT NULL""",
    "the unique index {} was added to {}: it can refuse entries": """
        SELECT pg_class.relname, ours.relname FROM pg_index JOIN ours ON ours.oid = indrelid JOIN pg_class ON pg_class.oid = indexrelid
        WHERE indisunique AND NOT ours.relname || '.' || (
            SELECT string_agg(attname, ',' ORDER BY place) FROM pg_attribute, unnest(indkey) WITH ORDINALITY AS it (number, place)
            WHERE attrelid = ours.oid AND attnum = number) = ANY(%(unique)s)""",
    "the column {} of {} calls what was added: it runs whenever something is recorded": """
        SELECT attname, relname FROM ours JOIN pg_attribute ON attrelid = ours.oid JOIN pg_type ON pg_type.oid = atttypid
        WHERE attnum > 0 AND NOT attisdropped AND (atthasdef OR typtype <> 'b' OR typnamespace <> 'pg_catalog'::regnamespace)""",
    "{}.{} may hold the same twice: its unique index is gone": """
        SELECT name, field
        FROM (VALUES ('audit_entry', 'id'), ('audit_link', 'seq'), ('audit_link', 'entry_id'), ('audit_head', 'only_one'),
            ('audit_checkpoint', 'id')) AS it (name, field)
        WHERE NOT EXISTS (
            SELECT FROM ours JOIN pg_index ON indrelid = ours.oid JOIN pg_attribute ON attrelid = ours.oid AND attnum = indkey[0]
            WHERE relname = name AND attname = field AND indisunique AND indisvalid AND indnatts = 1)""",
    "{} may {} in {}: nobody but its owner should": """
        SELECT coalesce(rolname, 'everybody'), lower(privilege_type), relname
        FROM ours CROSS JOIN aclexplode(relacl) AS may LEFT JOIN pg_roles ON pg_roles.oid = grantee
        WHERE grantee <> relowner AND (privilege_type IN ('UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER')
            OR (privilege_type = 'INSERT' AND relname IN ('audit_link', 'audit_head')))""",
    "{} may {} {} in {}: nobody but its owner should": """
        SELECT coalesce(rolname, 'everybody'), lower(privilege_type), attname, relname
        FROM ours JOIN pg_attribute ON attrelid = ours.oid CROSS JOIN aclexplode(attacl) AS may
            LEFT JOIN pg_roles ON pg_roles.oid = grantee
        WHERE grantee <> relowner AND (privilege_type = 'UPDATE' AND NOT (relname = 'audit_hold' AND attname = 'released_at')
            OR privilege_type = 'INSERT' AND relname IN ('audit_link', 'audit_head'))""",
    "the event trigger {} is in this database: it runs when guards are altered": """
        SELECT evtname FROM pg_event_trigger WHERE evtenabled <> 'D' AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_event_trigger'::regclass AND objid = pg_event_trigger.oid AND deptype = 'e')""",
    "a setting of {} is {}: no trigger fires in such a session": """
        SELECT coalesce(rolname, 'every role'), setting
        FROM pg_db_role_setting CROSS JOIN unnest(setconfig) AS setting LEFT JOIN pg_roles ON pg_roles.oid = setrole
        WHERE setting LIKE 'session_replication_role=%%' AND setting NOT LIKE '%%=origin'
            AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))""",
}


@contextmanager
def use_own_search_path() -> Iterator[None]:
    """Open a transaction that looks up names only in our tables and the server's own catalogs."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_catalog.current_setting('search_path'), pg_catalog.set_config('search_path', %s, true)",
            [SEARCH_PATH],
        )
        (before, _ours) = cursor.fetchone()
        yield
        cursor.execute("SELECT pg_catalog.set_config('search_path', %s, true)", [before])


def find_guard_faults() -> list[str]:
    """Return a sentence for each trigger and each function that is not what was installed, and for whatever was added."""
    with use_own_search_path():
        return list(_iterate_guard_faults())


def _iterate_guard_faults() -> Iterator[str]:
    names = {
        "tables": list(TABLES),
        "functions": list(FUNCTIONS),
        "triggers": [f"{table}.{name}" for name, (table, *_) in TRIGGERS.items()],
        "unique": list(UNIQUE),
    }
    with connection.cursor() as cursor:
        cursor.execute(HUNG, names)
        present = {tuple(row) for row in cursor.fetchall()}
        cursor.execute(TEXTS, names)
        texts = {(name, hashlib.sha256(text.encode()).hexdigest(), *how) for name, text, *how in cursor.fetchall()}
    for name, (table, kind, function) in sorted(TRIGGERS.items()):
        if (name, table, kind, function) not in present:
            yield f"the trigger {name} is missing or disabled: changes are not refused"
    for name, digest in sorted(FUNCTIONS.items()):
        path = "search_path=pg_catalog, pg_temp" if name in DEFINERS else ""
        if (name, digest, name in DEFINERS, path) not in texts:
            yield f"the function {name} is not the one that was installed: changes may not be refused"
    for sentence, statement in FINDS.items():
        with connection.cursor() as cursor:
            cursor.execute(OURS + statement, names)
            yield from sorted(sentence.format(*row) for row in cursor.fetchall())
