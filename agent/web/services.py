"""A search of the web as an administrator sets it up: an address is changed together with its key, or the key is forgotten."""

from collections.abc import Sequence

from django.db import transaction

from agent.models import WebSearchProvider
from agent.providers.keys import sealed
from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.outgoing import parsed_url, require_plausible, services_at


def require_address(base_url: str) -> None:
    """Raises AddressRefused for an address that is none or not allowed; a name is resolved when it is connected to."""
    require_plausible(parsed_url(base_url)[0], services_at(base_url))


@transaction.atomic
def save_provider(by: Principal | None, row: WebSearchProvider, *, key: str = "", fields: Sequence[str] = ()) -> bool:
    """Store a service. key: a new one; "": the stored one stays as long as the address does. fields: what the log says was changed.

    Where it is used from now on, no other is. Returns whether a stored key was emptied, because it was for another address.
    Raises InvalidInput for an address that is none or not allowed.
    """
    require_address(row.base_url)
    before = WebSearchProvider.objects.select_for_update().filter(pk=row.pk).first()
    is_moved = before is not None and before.base_url != row.base_url
    if key:
        row.encrypted_key = sealed(key, row.base_url)
    elif is_moved:
        row.encrypted_key = ""
    if row.is_used:
        WebSearchProvider.objects.exclude(pk=row.pk).filter(is_used=True).update(is_used=False)
    row.save()
    detail: dict[str, object] = {"fields": list(fields)}
    if before is None or is_moved:
        detail |= {"address_before": before.base_url if before else "", "address": row.base_url}
    record(by, Action.WEB_SETTING_CHANGED, row, detail=detail)
    return is_moved and not key and bool(before and before.encrypted_key)
