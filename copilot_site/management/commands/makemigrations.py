"""Migrations are made, and looked for, as the owner of the tables: the application's role reads nothing before the first `migrate`."""

from typing import Any

from django.core.management.commands import makemigrations

from audit.chain.db_owner import use_owner_role


class Command(makemigrations.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        with use_owner_role():
            super().handle(*args, **options)
