"""Migrations run as the owner of the tables, not under the application's role."""

from typing import Any

from django.core.management.commands import migrate

from audit.db_owner import as_owner


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with as_owner():
            super().handle(*args, **options)
