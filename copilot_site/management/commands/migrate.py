"""Migrations run as the owner of the tables, not under the application's role."""

from typing import Any

from django.core.management import CommandError
from django.core.management.commands import migrate

from audit.db_owner import as_owner
from copilot_site.doctor import of_another_version


class Command(migrate.Command):
    """Django's, as the owner; a database of another version is refused before anything is changed."""

    def handle(self, *args: Any, **options: Any) -> None:
        with as_owner():
            if reason := of_another_version():
                raise CommandError(reason)
            super().handle(*args, **options)
