"""Who is who: from the ids of a platform to accounts here, by mail addresses that the company's directory there vouches for."""

from collections.abc import Mapping

from django.contrib.auth.models import User

from authz.addresses import accounts_with, folded


def accounts_of(mails: Mapping[str, str]) -> dict[str, User]:
    """The active account of each id, where exactly one has its address. mails: by id.

    An address that stands at two accounts is nobody's, though one of them be disabled.
    """
    found = accounts_with(mails.values(), User.objects.filter(service_account=None))
    alone = {address: user for address, user in found.items() if user.is_active}
    return {pk: alone[folded(mail)] for pk, mail in mails.items() if folded(mail) in alone}
