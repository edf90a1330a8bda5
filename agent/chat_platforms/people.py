"""Who is who: from the ids of a platform to accounts here, by mail addresses that the company's directory there vouches for."""

from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db.models.functions import Lower

from authz.addresses import folded


def accounts_of(mails: Mapping[str, str]) -> dict[str, User]:
    """The active account of each id, where exactly one has its address. mails: by id.

    An address that stands at two accounts is nobody's, though one of them be disabled.
    """
    wanted = {mail.strip().lower() for mail in mails.values()} - {""}
    rows = User.objects.annotate(address=Lower("email")).filter(address__in=wanted, service_account=None)
    found: dict[str, list[User]] = {}
    for user in rows:
        found.setdefault(folded(user.email), []).append(user)
    alone = {mail: users[0] for mail, users in found.items() if len(users) == 1 and users[0].is_active}
    return {pk: alone[folded(mail)] for pk, mail in mails.items() if folded(mail) in alone}
