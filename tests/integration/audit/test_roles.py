"""The application's role adds to the log and cannot change it, triggers or not."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.core.management.commands import makemigrations
from django.db import OperationalError, ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext

from audit.actions import Action
from audit.chain.checkpoints import sign_checkpoint
from audit.chain.db_owner import create_database_role, grant_role_rights, use_owner_role
from audit.models import Entry
from audit.retention import purge_entries
from copilot_site import doctor
from copilot_site.check_result import CheckResult
from copilot_site.embedded import postgres
from copilot_site.lib.errors import InvalidInput, PermissionDenied
from tests.factories import make_base
from tests.integration.audit.logbook import ANNA, GUARDED, Logbook, verified, write

ROLE = "audit_test_app"
MEND = "Give the processes a role of their own: docs/how-to/audit.md, “The role of the database”."
FORBIDDEN = [
    "UPDATE audit_entry SET reason = 'x'",
    "UPDATE audit_entry SET actor_name = '', salts = '{}'",
    "DELETE FROM audit_entry",
    "TRUNCATE audit_entry",
    "INSERT INTO audit_link (seq, entry_id, hash) VALUES (1000, 1, '')",
    "UPDATE audit_link SET hash = ''",
    "DELETE FROM audit_link",
    "UPDATE audit_head SET seq = 1",
    "DELETE FROM audit_head",
    "UPDATE audit_checkpoint SET seq = 1",
    "DELETE FROM audit_checkpoint",
    "UPDATE audit_hold SET reason = 'x'",
    "DELETE FROM audit_hold",
    "UPDATE audit_shown SET person_id = 1",
    "DELETE FROM audit_shown",
    "ALTER TABLE audit_entry DISABLE TRIGGER USER",
    "ALTER TABLE audit_entry ALTER reason DROP NOT NULL",
    "DROP TRIGGER audit_entry_link ON audit_entry",
    "DROP TABLE audit_checkpoint",
    "CREATE OR REPLACE FUNCTION audit_refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "SET session_replication_role = replica",
]


@contextmanager
def role(name: str) -> Iterator[Any]:
    """A cursor under another role; the tests' own comes back."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {name}")
        yield cursor
        cursor.execute("RESET ROLE")


@pytest.fixture
def app(logbook: Logbook, settings: LazySettings) -> Logbook:
    """A log, every trigger of it off but the one that links, and a role with the application's rights."""
    settings.DATABASE_ROLE = ROLE
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {ROLE} NOLOGIN")
        grant_role_rights()
        for table in GUARDED:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute("ALTER TABLE audit_entry ENABLE TRIGGER audit_entry_link")
    return logbook


def test_the_application_cannot_change_the_log_even_without_triggers(app: Logbook) -> None:
    grant_role_rights()  # again, as each start does
    for statement in FORBIDDEN:
        with (
            role(ROLE),
            pytest.raises(ProgrammingError, match=r"permission denied|must be owner"),
            transaction.atomic(),
        ):
            connection.cursor().execute(statement)
    assert {kind for _seq, kind in verified()} == {"guard"}


def test_the_owner_could(app: Logbook) -> None:
    """The control: without triggers it is the role that refuses."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE audit_entry SET reason = 'x'")
    assert (1, "changed") in verified()


def test_the_application_records_signs_and_verifies(app: Logbook) -> None:
    with role(ROLE):
        write(21)
        made = sign_checkpoint()
        assert made is not None
        assert (made.seq, {kind for _seq, kind in verified()}) == (21, {"guard"})


def test_the_rest_of_the_database_is_the_application_s_own(app: Logbook) -> None:
    with role(ROLE) as cursor:
        make_base("Handbook")
        cursor.execute("CREATE INDEX ON knowledge_chunkindex (chunk_id)")
        cursor.execute("ANALYZE knowledge_chunkindex")
        cursor.execute("DELETE FROM django_session")
    assert Entry.objects.filter(action=Action.KNOWLEDGE_BASE_CREATED).count() == 1


def test_rights_are_given_before_or_after_a_vacuum_of_the_log_and_never_during_one(
    db: None, settings: LazySettings
) -> None:
    """Else the two wait for each other. The other connection holds what a vacuum holds, so that this one cannot get through."""
    settings.DATABASE_ROLE = ROLE
    vacuum = connection.copy()
    try:
        vacuum.set_autocommit(False)
        vacuum.cursor().execute("LOCK TABLE audit_entry IN SHARE UPDATE EXCLUSIVE MODE")
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE ROLE {ROLE} NOLOGIN")
            cursor.execute("SET LOCAL lock_timeout = '100ms'")
            with pytest.raises(OperationalError, match="lock timeout"), transaction.atomic():
                grant_role_rights()
            vacuum.rollback()
            grant_role_rights()
    finally:
        vacuum.close()


def test_work_of_the_owner_under_another_role_is_refused_in_one_sentence(app: Logbook) -> None:
    before = app.entry(13).at
    with connection.cursor() as cursor:
        for table in GUARDED:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    with role(ROLE):
        with pytest.raises(PermissionDenied, match="may only add to the audit log"), transaction.atomic():
            purge_entries(None, before=before)
        with pytest.raises(CommandError, match="with the DATABASE_URL of the tables' owner"), transaction.atomic():
            call_command("erase_person", str(ANNA.user_id))


def current_role() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        return str(cursor.fetchone()[0])


@pytest.fixture
def process_with_role(transactional_db: None, settings: LazySettings) -> Iterator[None]:
    """As processes connect: under a role, here one that this database has given nothing yet."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP ROLE IF EXISTS {ROLE}")
        cursor.execute(f"CREATE ROLE {ROLE} NOLOGIN")
    connection.close()
    settings.DATABASE_ROLE = ROLE
    connection.settings_dict["OPTIONS"]["options"] = f"-c role={ROLE}"
    yield
    connection.settings_dict["OPTIONS"].pop("options")
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP ROLE {ROLE}")


@pytest.mark.usefixtures("process_with_role")
def test_processes_take_on_the_role_and_put_it_off_for_the_owner_s_work() -> None:
    assert current_role() == ROLE
    with use_owner_role():
        owner = current_role()
    assert owner != ROLE
    assert current_role() == ROLE


@pytest.mark.usefixtures("process_with_role")
def test_a_database_that_does_not_know_the_role_yet_is_asked_as_its_owner() -> None:
    """As a home of an earlier version is: `makemigrations --check` and the doctor come before its `migrate`."""
    with pytest.raises(ProgrammingError, match="permission denied for table django_migrations"):
        call_command(
            makemigrations.Command(), check_changes=True, dry_run=True, verbosity=0
        )  # the control: Django's own
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)
    assert doctor.check_migrations() == CheckResult("Migrations", True, "all applied", "Run `manage.py migrate`.")


def test_the_doctor_says_who_could_change_the_log(app: Logbook) -> None:
    """A superuser, whoever was given more, and whoever may become the tables' owner."""
    assert "is a superuser of PostgreSQL: the audit log can be changed" in doctor.check_audit_role().detail
    with role(ROLE):
        assert doctor.check_audit_role() == CheckResult(
            "Audit role", True, f"{ROLE} may add to the log, not change it", MEND, optional=True
        )
    with connection.cursor() as cursor:
        cursor.execute(f"GRANT DELETE ON audit_link TO {ROLE}; CREATE ROLE audit_test_owner")
        cursor.execute(f"ALTER TABLE audit_hold OWNER TO audit_test_owner; GRANT audit_test_owner TO {ROLE}")
    with role(ROLE):
        found = doctor.check_audit_role()
    assert (found.ok, found.detail) == (
        False,
        f"{ROLE} may change audit_hold, audit_link: the audit log can be changed",
    )


@pytest.fixture
def with_password(db: None, settings: LazySettings) -> None:
    settings.DATABASE_ROLE, settings.DATABASE_ROLE_PASSWORD = ROLE, "kJ5tZb82Wq"


def stored_password() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolpassword FROM pg_authid WHERE rolname = %s AND rolcanlogin AND NOT rolsuper", [ROLE])
        return str(cursor.fetchone()[0])


@pytest.mark.usefixtures("with_password")
def test_migrating_makes_the_role_and_the_server_gets_no_password(settings: LazySettings) -> None:
    with CaptureQueriesContext(connection) as sent:
        create_database_role()
        first = stored_password()
        settings.DATABASE_ROLE_PASSWORD = "another one"
        create_database_role()
    assert first.startswith("SCRAM-SHA-256$")
    assert stored_password() != first
    assert not [
        query for query in sent.captured_queries if "kJ5tZb82Wq" in query["sql"] or "another one" in query["sql"]
    ]


@pytest.mark.usefixtures("with_password")
def test_the_owner_is_not_made_the_application_s_role(settings: LazySettings) -> None:
    settings.DATABASE_ROLE = connection.settings_dict["USER"]
    with pytest.raises(InvalidInput, match="COPILOT_DB_ROLE must name another role"):
        create_database_role()


def test_the_embedded_database_has_the_role(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT rolcanlogin, rolsuper FROM pg_roles WHERE rolname = %s", [postgres.ROLE])
        assert cursor.fetchone() == (False, False)
