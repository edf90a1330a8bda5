"""Mail addresses of people: which one a company's sign-in vouches for, and when two are the same.

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


def verified_address(documents: Sequence[dict[str, Any]], *, trusts_issuer: bool) -> str:
    """Return the first address that a document gives together with the word that it is verified; "" where none does.

    documents: ID token and userinfo. The word of one says nothing of the address in the other. trusts_issuer: where no document
    has such a word, their address counts all the same. Source: OpenID Connect Core 1.0, 5.1.
    """
    trusts_silence = trusts_issuer and not any("email_verified" in document for document in documents)
    found = (one.get("email") for one in documents if trusts_silence or one.get("email_verified") is True)
    return next((str(address) for address in found if _is_address(address)), "")


def folded(address: str) -> str:
    """Fold an address for comparison: small letters, of ASCII alone. In Unicode's small letters the Kelvin sign is a k, and what
    databases call upper case makes an i of the Turkish one without a dot.
    """
    return address.strip().translate(_SMALL)


def accounts_with(addresses: Iterable[str], among: QuerySet[User]) -> dict[str, User]:
    """Return {folded address: the account that has it}. An address that two of these accounts have is nobody's."""
    wanted = sorted({address.strip().lower() for address in addresses} - {""})
    found: dict[str, list[User]] = {}
    for part in range(0, len(wanted), PART):
        for user in among.annotate(address=Lower("email")).filter(address__in=wanted[part : part + PART]):
            found.setdefault(folded(user.email), []).append(user)
    return {address: users[0] for address, users in found.items() if len(users) == 1}


def _is_address(text: object) -> bool:
    if not isinstance(text, str) or len(text) > ADDRESS_LENGTH:
        return False
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True
