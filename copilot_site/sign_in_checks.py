"""Checks of `doctor` for the company's sign-ins and directory."""

from django.conf import settings
from django.db import DatabaseError

from authz.sign_in.client_secrets import list_sign_ins_without_secret
from copilot_site.check_result import CheckResult
from copilot_site.lib.errors import CopilotError


def check_company_sign_ins() -> CheckResult:
    """Check that each sign-in of the admin has the secret that its issuer made for this site."""
    name = "Company sign-ins"
    try:
        without = list_sign_ins_without_secret()
    except DatabaseError as error:
        return CheckResult(name, False, str(error).strip().splitlines()[0], "Mend what is named above first.")
    message = f"no client secret that can be read: {', '.join(without)}"
    mend = (
        "Enter it under “Social applications”: it was stored for another issuer, or under another COPILOT_SECRET_KEY."
    )
    return CheckResult(name, not without, message if without else "as they are set up", mend)


def check_company_directory() -> CheckResult:
    """Check that the directory answers by TLS, is readable, and holds people and groups where the settings say."""
    name = "Company directory"
    if not settings.LDAP:
        return CheckResult(name, True, "none is set up (COPILOT_LDAP_URL)")
    from authz.directory.ldap_client import LdapSettings, open_directory  # python-ldap is there where it is used

    given = LdapSettings(**settings.LDAP)
    try:
        with open_directory(given) as directory:
            has_people, has_groups = directory.counts()
    except CopilotError as error:
        mend = "Check COPILOT_LDAP_URL, _BIND_DN and _BIND_PASSWORD, and COPILOT_LDAP_CA if its certificate is the company's own."
        return CheckResult(name, False, str(error), mend)
    if not has_people:
        mend = "Check COPILOT_LDAP_PEOPLE_BASE and _PEOPLE_FILTER; `manage.py directory show NAME` tells what is found."
        return CheckResult(name, False, f"{given.url} answers, and has nobody under {given.people_base}", mend)
    if not has_groups:
        mend = "Check COPILOT_LDAP_GROUPS_BASE, or unset it."
        return CheckResult(
            name, False, f"{given.url} answers, and has no group under {given.groups_base}", mend, optional=True
        )
    return CheckResult(name, True, f"{given.url} answers, with people{' and groups' if given.groups_base else ''}")
