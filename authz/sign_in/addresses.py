"""Mail addresses of people: the one that the company's sign-in has verified, and how two are compared.

An account has an address that is verified, or none: by a sign-in's claim, by SCIM, by LDAP or by an administrator.
"""

from collections.abc import Iterable, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import QuerySet
from django.db.models.functions import Lower

ADDRESS_LENGTH = 254  # of Django's column
PART = 1_000  # addresses of one statement
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


def find_verified_address(documents: Sequence[dict[str, Any]], *, trusts_issuer: bool) -> str:
    """Return the first address that a document itself marks as verified; "" where none does.

    documents: ID token and userinfo; the mark in one does not count for the address in the other. trusts_issuer: accept
    an address where no document has a mark. Source: OpenID Connect Core 1.0, 5.1.
    """
    trusts_silence = trusts_issuer and not any("email_verified" in document for document in documents)
    found = (one.get("email") for one in documents if trusts_silence or one.get("email_verified") is True)
    return next((str(address) for address in found if _is_address(address)), "")


def fold_address(address: str) -> str:
    """Lower-case only the ASCII letters of an address, for comparison. Unicode lower-cases the Kelvin sign to k, and
    databases' upper case turns the dotless Turkish i into I.
    """
    return address.strip().translate(_SMALL)


def find_accounts_by_address(addresses: Iterable[str], among: QuerySet[User]) -> dict[str, User]:
    """Return {folded address: its account}, without addresses that two of these accounts share."""
    wanted = sorted({address.strip().lower() for address in addresses} - {""})
    found: dict[str, list[User]] = {}
    for part in range(0, len(wanted), PART):
        for user in among.annotate(address=Lower("email")).filter(address__in=wanted[part : part + PART]):
            found.setdefault(fold_address(user.email), []).append(user)
    return {address: users[0] for address, users in found.items() if len(users) == 1}


def _is_address(text: object) -> bool:
    if not isinstance(text, str) or len(text) > ADDRESS_LENGTH:
        return False
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True
