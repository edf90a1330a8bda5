"""Migrations run as the owner of the tables, not under the application's role, which is made before where it has a password."""

from typing import Any

from django.core.management import CommandError
from django.core.management.commands import migrate

from audit.chain.db_owner import as_owner, make_role
from copilot_site.database_version import leave_name, of_another_version
from copilot_site.lib.commands import one_sentence


class Command(migrate.Command):
    """Django's, as the owner; a database of another version is refused before anything is changed."""

    def execute(self, *args: Any, **options: Any) -> Any:
        """Run the command, whose checks also ask the database, as the owner."""
        with as_owner():
            with one_sentence():
                make_role()
            return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        if reason := of_another_version():
            raise CommandError(reason)
        super().handle(*args, **options)
        if not (options["app_label"] or options["plan"] or options["check_unapplied"]):
            leave_name()
