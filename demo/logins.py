"""Logins of the demo, printed when it starts."""

from typing import NamedTuple

from django.contrib.auth.models import User

from demo.company import ADMINISTRATOR, load_company


class Login(NamedTuple):
    """A username, the password, and in English what this person may do."""

    username: str
    password: str
    role: str

    def __str__(self) -> str:
        return f"{self.username:<8} {self.password}   {self.role}"


def list_logins() -> list[Login]:
    """Return everybody who can sign in, in the order of the company file."""
    company = load_company()
    people = [Login(person.username, company.password, person.role.en) for person in company.people]
    role = "Administrator: governs bases, folders and rights; reads only by “View as”, recorded with both names"
    return [*people, Login(ADMINISTRATOR, company.password, role)]


def list_public_accounts() -> list[str]:
    """Return the names of accounts that still have the password from the company file."""
    known = {login.username: login.password for login in list_logins()}
    found = User.objects.filter(username__in=known, is_active=True).order_by("username")
    return [user.username for user in found if user.check_password(known[user.username])]
