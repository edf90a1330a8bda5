"""A database whose migrations this version does not know is left as it is."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from copilot_site import doctor

OLDER = ("agent", "0027_profiles_are_called_assistants")


@pytest.mark.django_db
def test_migrate_refuses_a_database_of_another_version_and_names_the_commit_that_opens_it() -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_applied(*OLDER)
    recorder.record_unapplied("authz", "0002_rights_on_folders")  # what Django would try, and fail at
    with pytest.raises(CommandError, match=r"agent\.0027_profiles_are_called_assistants.*14b9081a"):
        call_command("migrate", verbosity=0, interactive=False)
    assert ("authz", "0002_rights_on_folders") not in recorder.applied_migrations()


@pytest.mark.django_db
def test_doctor_says_so_and_does_not_send_to_migrate() -> None:
    MigrationRecorder(connection).record_applied(*OLDER)
    found = doctor.migrations()
    assert (found.ok, "14b9081a" in found.detail, "migrate" in found.mend) == (False, True, False)


@pytest.mark.django_db
def test_migrations_of_libraries_that_are_not_known_any_more_are_no_reason() -> None:
    MigrationRecorder(connection).record_applied("account", "0099_of_a_newer_library")
    call_command("migrate", verbosity=0, interactive=False)
    assert doctor.migrations().ok
