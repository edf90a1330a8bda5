"""The guards of the log: each that guards no more, and whatever was hung beside them, is named."""

import os

import pytest
from django.db import DatabaseError, connection, transaction

from audit.actions import Action
from audit.chain.guards import FINDS, FUNCTIONS, TRIGGERS, find_guard_faults
from audit.chain.verification import verify_log
from audit.models import Entry
from audit.record import record_action
from tests.integration.audit.logbook import ANNA, Logbook

pytestmark = pytest.mark.django_db

NOTHING = "CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;"
LETS_PASS = "RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$ BEGIN RETURN NEW; END $$;"
GUARD = "BEFORE UPDATE OR DELETE ON audit_entry FOR EACH ROW"
WITHOUT_GUARD = "DROP TRIGGER audit_entry_append_only ON audit_entry;"
GONE = "the trigger audit_entry_append_only is missing or disabled"
SOMEBODY = f"somebody_{os.getpid()}"  # roles are the server's, and other runs may use it
OVERLOADED = """SET check_function_bodies = off; DO $do$ BEGIN EXECUTE format(
    'CREATE FUNCTION audit_guard_link(n integer) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER '
    'SET search_path = pg_catalog, pg_temp AS %L', (SELECT prosrc FROM pg_proc WHERE oid = 'audit_guard_link'::regproc)); END $do$;"""

# By statements: what is said, each up to its colon.
FOUND: dict[str, tuple[str, set[str]]] = {
    "a guard that lets all pass": (
        f"CREATE OR REPLACE FUNCTION audit_guard_link() {LETS_PASS}",
        {"the function audit_guard_link is not the one that was installed"},
    ),
    "a guard that lets all pass, and its text under its name with another argument": (
        f"{OVERLOADED} CREATE OR REPLACE FUNCTION audit_guard_link() {LETS_PASS}",
        {"the function audit_guard_link is not the one that was installed"},
    ),
    "a guard that looks for tables elsewhere": (
        "ALTER FUNCTION audit_guard_link() SET search_path = evil, pg_catalog",
        {"the function audit_guard_link is not the one that was installed"},
    ),
    "a link that is not its owner's any more": (
        "ALTER FUNCTION audit_link_entry() SECURITY INVOKER",
        {"the function audit_link_entry is not the one that was installed"},
    ),
    "a link that does what its author likes": (
        "CREATE OR REPLACE FUNCTION audit_link_entry() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
        {"the function audit_link_entry is not the one that was installed"},
    ),
    "a guard of its name on another table": (
        ("DROP TRIGGER audit_link_no_truncate ON audit_link;"
        "CREATE TRIGGER audit_link_no_truncate BEFORE TRUNCATE ON audit_hold EXECUTE FUNCTION audit_refuse_change()"),
        {
            "the trigger audit_link_no_truncate is missing or disabled",
            "the trigger audit_link_no_truncate was added to audit_hold",
        },
    ),
    "a guard under a condition": (
        f"{WITHOUT_GUARD} CREATE TRIGGER audit_entry_append_only {GUARD} WHEN (OLD.id < 0) EXECUTE FUNCTION audit_guard_entry()",
        {GONE},
    ),
    "a guard of some columns": (
        (f"{WITHOUT_GUARD} CREATE TRIGGER audit_entry_append_only BEFORE UPDATE OF action OR DELETE ON audit_entry"
        " FOR EACH ROW EXECUTE FUNCTION audit_guard_entry()"),
        {GONE},
    ),
    "a guard with another function": (
        f"{WITHOUT_GUARD} CREATE TRIGGER audit_entry_append_only {GUARD} EXECUTE FUNCTION audit_guard_head()",
        {GONE},
    ),
    "a guard for replicas only": ("ALTER TABLE audit_entry ENABLE REPLICA TRIGGER audit_entry_append_only", {GONE}),
    "a trigger that drops entries": (
        f"{NOTHING} CREATE TRIGGER aaa BEFORE INSERT ON audit_entry FOR EACH ROW EXECUTE FUNCTION nothing()",
        {"the trigger aaa was added to audit_entry"},
    ),
    "a trigger on the chain, off for now": (
        (f"{NOTHING} CREATE TRIGGER later BEFORE INSERT ON audit_link FOR EACH ROW EXECUTE FUNCTION nothing();"
        "ALTER TABLE audit_link DISABLE TRIGGER later"),
        {"the trigger later was added to audit_link"},
    ),
    "a trigger on the holds": (
        f"{NOTHING} CREATE TRIGGER aaa BEFORE INSERT ON audit_hold FOR EACH ROW EXECUTE FUNCTION nothing()",
        {"the trigger aaa was added to audit_hold"},
    ),
    "a rule that turns a change into nothing": (
        "CREATE RULE quiet AS ON DELETE TO audit_entry DO INSTEAD NOTHING",
        {"the rule quiet was added to audit_entry"},
    ),
    "a policy that hides entries": (
        "CREATE POLICY hidden ON audit_entry FOR SELECT USING (actor_id <> 7); ALTER TABLE audit_entry ENABLE ROW LEVEL SECURITY",
        {"the policy hidden was added to audit_entry", "row security is on for audit_entry"},
    ),
    "row security that hides everything": (
        "ALTER TABLE audit_link FORCE ROW LEVEL SECURITY", {"row security is on for audit_link"},
    ),
    "an event trigger": (
        ("CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$;"
        "CREATE EVENT TRIGGER ours ON ddl_command_end EXECUTE FUNCTION watch()"),
        {"the event trigger ours is in this database"},
    ),
    "a table that inherits": (
        "CREATE TABLE more () INHERITS (audit_entry)", {"more inherits from audit_entry"},
    ),
    "a table of the same name elsewhere": (
        "CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.audit_entry (LIKE audit_entry)",
        {"a second audit_entry stands in the schema elsewhere"},
    ),
    "a view in the place of a table": (
        "ALTER TABLE audit_hold RENAME TO real_holds; CREATE VIEW audit_hold AS SELECT * FROM real_holds",
        {
            "audit_hold is no ordinary table any more",
            "the rule _RETURN was added to audit_hold",
            "the trigger audit_hold_release_only is missing or disabled",
            "the trigger audit_hold_no_truncate is missing or disabled",
        },
    ),
    "a log that a crash empties": (
        "ALTER TABLE audit_head SET UNLOGGED", {"audit_head is no ordinary table any more"},
    ),
    "a constraint that refuses entries": (
        "ALTER TABLE audit_entry ADD CONSTRAINT quiet CHECK (action <> 'grant.given') NOT VALID",
        {"the constraint quiet was added to audit_entry"},
    ),
    "an index that calls a function": (
        ("CREATE FUNCTION spy(bigint) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$;"
        "CREATE INDEX spies ON audit_entry (spy(id))"),
        {"the index spies on audit_entry calls a function"},
    ),
    "a column that calls a function": (
        ("CREATE FUNCTION spy() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$;"
        "ALTER TABLE audit_entry ADD COLUMN more integer DEFAULT spy()"),
        {"the column more of audit_entry calls what was added"},
    ),
    "a column that is made of the others": (
        ("CREATE FUNCTION spy(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$;"
        "ALTER TABLE audit_checkpoint ADD COLUMN more text GENERATED ALWAYS AS (spy(key)) STORED"),
        {"the column more of audit_checkpoint calls what was added"},
    ),
    "a column of a type that refuses": (
        ("CREATE DOMAIN chosen AS varchar CHECK (VALUE <> 'grant.given');"
        "ALTER TABLE audit_entry ALTER COLUMN action TYPE chosen"),
        {"the column action of audit_entry calls what was added"},
    ),
    "an index that refuses what was there before": (
        "CREATE UNIQUE INDEX once ON audit_entry (action, request_id) NULLS NOT DISTINCT",
        {"the unique index once was added to audit_entry"},
    ),
    "a role that may change a column": (
        f"CREATE ROLE {SOMEBODY}; GRANT UPDATE (reason) ON audit_entry TO {SOMEBODY}",
        {f"{SOMEBODY} may update reason in audit_entry"},
    ),
    "numbers that may come twice": (
        "ALTER TABLE audit_link DROP CONSTRAINT audit_link_pkey", {"audit_link.seq may hold the same twice"},
    ),
    "entries that may stand in two places": (
        "ALTER TABLE audit_link DROP CONSTRAINT audit_link_entry_id_key", {"audit_link.entry_id may hold the same twice"},
    ),
    "a role that may change the log": (
        f"CREATE ROLE {SOMEBODY}; GRANT UPDATE, SELECT ON audit_entry TO {SOMEBODY}",
        {f"{SOMEBODY} may update in audit_entry"},
    ),
    "everybody may add to the chain": ("GRANT INSERT ON audit_link TO PUBLIC", {"everybody may insert in audit_link"}),
    "a role whose sessions fire no triggers": (
        f"CREATE ROLE {SOMEBODY}; ALTER ROLE {SOMEBODY} SET session_replication_role = replica",
        {f"a setting of {SOMEBODY} is session_replication_role=replica"},
    ),
}  # fmt: skip


# Objects of somebody's own that stand before the server's for whoever looks along the path that is set.
SHADOWS = {
    "a catalog of triggers that shows all of them on": (
        "CREATE VIEW evil.pg_trigger AS SELECT oid, tgrelid, tgname, tgfoid, tgtype, 'O'::\"char\" AS tgenabled, tgisinternal, tgattr,"
        " tgqual FROM pg_catalog.pg_trigger;"
        "ALTER TABLE audit_entry DISABLE TRIGGER audit_entry_append_only"
    ),
    "a log of the same name, and a catalog that does not have it": (
        "CREATE TABLE evil.audit_entry (LIKE public.audit_entry);"
        "CREATE VIEW evil.pg_class AS SELECT * FROM pg_catalog.pg_class WHERE relnamespace <> 'evil'::regnamespace;"
        "ALTER TABLE audit_entry DISABLE TRIGGER audit_entry_append_only"
    ),
    "an equality of names that always holds": (
        "CREATE FUNCTION evil.yes(bytea, bytea) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
        "CREATE OPERATOR evil.= (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = evil.yes);"
        "ALTER TABLE audit_entry DISABLE TRIGGER audit_entry_append_only"
    ),
}


@pytest.mark.parametrize("name", SHADOWS)
def test_a_path_that_was_set_hides_nothing(logbook: Logbook, name: str) -> None:
    """As `ALTER DATABASE … SET search_path` sets it for every session."""
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE SCHEMA evil; {SHADOWS[name]}; SET LOCAL search_path = evil, public, pg_catalog")
    assert any(sentence.startswith(GONE) for sentence in {fault.sentence for fault in verify_log().faults})
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL search_path = evil, public, pg_catalog")
    assert GONE in said()


def said() -> set[str]:
    return {sentence.partition(":")[0] for sentence in find_guard_faults()}


@pytest.mark.parametrize("name", FOUND)
def test_what_guards_no_more_or_was_added_is_named(name: str) -> None:
    statements, sentences = FOUND[name]
    assert said() == set()
    with connection.cursor() as cursor:
        cursor.execute(statements)
    assert said() == sentences


def test_every_guard_and_every_kind_of_addition_is_tried() -> None:
    told = "\n".join(sentence for _statements, sentences in FOUND.values() for sentence in sentences)
    for sentence in FINDS:
        fixed = max(sentence.partition(":")[0].split("{}"), key=len)
        assert fixed in told, sentence


@pytest.mark.parametrize("name", TRIGGERS)
def test_a_trigger_that_is_off_is_named(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {TRIGGERS[name][0]} DISABLE TRIGGER {name}")
    assert said() == {f"the trigger {name} is missing or disabled"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_with_another_text_is_named(name: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"""DO $do$ BEGIN EXECUTE (
            SELECT replace(pg_get_functiondef('{name}'::regproc), 'BEGIN', 'BEGIN NULL;')); END $do$;""")
    assert said() == {f"the function {name} is not the one that was installed"}


def test_a_temporary_table_of_the_same_name_takes_no_entries() -> None:
    """Whoever may run a statement in a session of the application can make one, and it would come first."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE audit_entry (LIKE public.audit_entry INCLUDING ALL) ON COMMIT DROP")
        record_action(ANNA, Action.SIGNED_IN)
        cursor.execute("SELECT count(*) FROM pg_temp.audit_entry")
        assert cursor.fetchone() == (0,)
        cursor.execute("DROP TABLE pg_temp.audit_entry")
    assert Entry.objects.filter(action=Action.SIGNED_IN, actor_id=ANNA.user_id).count() == 1


@pytest.mark.parametrize("statement", ["CREATE RULE quiet AS ON INSERT TO audit_entry DO INSTEAD NOTHING", "{trigger}"])
def test_an_entry_that_something_swallows_stops_what_it_belongs_to(statement: str) -> None:
    trigger = f"{NOTHING} CREATE TRIGGER aaa BEFORE INSERT ON audit_entry FOR EACH ROW EXECUTE FUNCTION nothing()"
    with connection.cursor() as cursor:
        cursor.execute(statement.format(trigger=trigger))
    with pytest.raises((DatabaseError, TypeError)), transaction.atomic():
        record_action(ANNA, Action.SIGNED_IN)
