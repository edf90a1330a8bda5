"""`manage.py directory …`: the company's directory (LDAP), from the command line."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from copilot_site.lib.commands import report_command_errors


class Command(BaseCommand):
    help = "Look into the company's directory, and bring accounts to what it says."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        showing = actions.add_parser("show", help="what the directory says of a person; nothing is stored")
        showing.add_argument("username")
        syncing = actions.add_parser("sync", help="disable who is gone there, follow names and groups")
        syncing.add_argument(
            "--even-if-most-are-gone", action="store_true", help="disable more than half of the accounts, too"
        )

    def handle(self, *, action: str, **options: Any) -> None:
        if settings.LDAP is None:
            raise CommandError("No directory is set up: set COPILOT_LDAP_URL (docs/how-to/connect-a-directory.md).")
        from authz.directory.ldap_client import LdapSettings

        with report_command_errors():
            getattr(self, f"_{action}")(LdapSettings(**settings.LDAP), **options)

    def _show(self, given: Any, *, username: str, **_options: Any) -> None:
        from authz.directory.ldap_client import open_directory
        from authz.directory.ldap_people import list_claim_values

        with open_directory(given) as directory:
            entry = directory.named(username)
            if entry is None:
                raise CommandError(f"The directory finds nobody called {username!r} among those who may sign in.")
            for name in ("dn", "external_id", "username", "first_name", "last_name", "email"):
                self.stdout.write(f"{name}: {getattr(entry, name)}")
            for value in sorted(list_claim_values(directory, entry)):
                self.stdout.write(f"value for claim mappings: {value}")

    def _sync(self, given: Any, *, even_if_most_are_gone: bool, **_options: Any) -> None:
        from authz.directory.ldap_people import sync_accounts

        done = sync_accounts(given, even_if_most_are_gone=even_if_most_are_gone)
        if done is None:
            raise CommandError("Another look at the directory is under way; try again when it is over.")
        self.stdout.write(
            f"{done.same} accounts as they were, {done.changed} changed, {done.ended} disabled, {done.resumed} enabled again, "
            f"{done.failed} not changed because their name is taken here."
        )
