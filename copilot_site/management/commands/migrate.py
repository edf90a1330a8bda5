"""Migrations run as the owner of the tables, not under the application's role, which is made before where it has a password."""

from typing import Any

from django.core.management import CommandError
from django.core.management.commands import migrate

from audit.chain.db_owner import create_database_role, use_owner_role
from copilot_site.database_version import find_version_conflict, write_version
from copilot_site.lib.commands import report_command_errors


class Command(migrate.Command):
    """Django's, as the owner; a database of another version is refused before anything is changed."""

    def execute(self, *args: Any, **options: Any) -> Any:
        """Run the command, whose checks also ask the database, as the owner."""
        with use_owner_role():
            with report_command_errors():
                create_database_role()
            return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        if reason := find_version_conflict():
            raise CommandError(reason)
        super().handle(*args, **options)
        if not (options["app_label"] or options["plan"] or options["check_unapplied"]):
            write_version()
