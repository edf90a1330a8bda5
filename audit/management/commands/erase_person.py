"""`manage.py erase_person USER`: remove a person's names and addresses from the audit log; the chain stays whole."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandParser
from django.utils.translation import gettext as _

from audit.retention import erase_person
from copilot_site.lib.commands import report_command_errors
from copilot_site.lib.errors import InvalidInput

MAX_NUMBER = 2**31 - 1  # the largest account id: PostgreSQL's integer


class Command(BaseCommand):
    help = "Remove a person's names and addresses from the audit log. Their number stays; the chain still verifies."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="sign-in name, or the number of an account that is deleted")

    def handle(self, *, user: str, **options: Any) -> None:
        with report_command_errors():
            removed = erase_person(None, person_id=_find_person_id(user))
        self.stdout.write(f"Removed {removed} names and addresses.")


def _find_person_id(text: str) -> int:
    """Return the account's id. Raises InvalidInput for an unknown account, and for one still in use."""
    if text.isdecimal() and int(text) > MAX_NUMBER:
        raise InvalidInput(_("No account has the number %(number)s.") % {"number": text})
    user = User.objects.filter(username=text).first() or (
        User.objects.filter(pk=int(text)).first() if text.isdecimal() else None
    )
    if user is None and not text.isdecimal():
        raise InvalidInput(_("There is no account “%(user)s”. For a deleted one give its number.") % {"user": text})
    if user is not None and user.is_active:
        raise InvalidInput(_("The account “%(user)s” is in use: disable or delete it first.") % {"user": text})
    return user.pk if user else int(text)
