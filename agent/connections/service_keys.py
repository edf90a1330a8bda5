"""Services with an address and a key: an address is changed together with its key, or the key is deleted.

Keys are stored encrypted, bound to their address.
"""

from collections.abc import Sequence

from django.conf import settings
from django.db import transaction

from agent.connections.local_models import local_address, permit_here, require_model_address
from agent.models import LanguageModel, WebSearchProvider
from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.outgoing.addresses import parsed_url, require_plausible, services_at
from copilot_site.lib.storage.sealing import SealBroken, seal, unseal

Keyed = LanguageModel | WebSearchProvider


def require_address(base_url: str) -> None:
    """Require a valid and allowed address; names are resolved when connecting. Raises AddressRefused."""
    require_plausible(parsed_url(base_url)[0], services_at(base_url))


def require_address_of(row: Keyed) -> None:
    """Require the address of a row as `require_address` does; a language model may be on this machine where that was allowed."""
    if isinstance(row, LanguageModel):
        require_model_address(row)
    else:
        require_address(row.base_url)


@transaction.atomic
def save_keyed(by: Principal | None, row: Keyed, action: Action, *, key: str = "", fields: Sequence[str] = ()) -> bool:
    """Store a service. key: a new one; "" keeps the stored one as long as the address stays.

    fields: the changed fields, for the log. Returns whether a stored key was removed because it was for another address
    and must be entered again. Raises the errors of `require_address_of`.
    """
    require_address_of(row)
    before: Keyed | None = type(row).objects.select_for_update().filter(pk=row.pk).first()
    take_key(row, key, address_before=before.base_url if before else row.base_url)
    row.save()
    detail: dict[str, object] = {"fields": list(fields)}
    is_moved = before is not None and before.base_url != row.base_url
    if before is None or is_moved:
        detail |= {"address_before": before.base_url if before else "", "address": row.base_url}
    record(by, action, row, detail=detail)
    return is_moved and not key and bool(before and before.encrypted_key)


@transaction.atomic
def save_language_model(
    by: Principal | None,
    row: LanguageModel,
    *,
    key: str = "",
    fields: Sequence[str] = (),
    is_allowed_here: bool = False,
) -> bool:
    """Store a language model as `save_keyed` does; where it is the default, no other is.

    is_allowed_here: the person allows its address on this machine; raises as `permit_here`. A permission for another address ends.
    """
    if is_allowed_here and permit_here(by, row):
        record(by, Action.LOCAL_MODEL_ALLOWED, target_name=row.name, detail={"address": row.local_address})
    if row.local_address != local_address(row.base_url):
        row.local_address = ""
    if row.is_default:
        LanguageModel.objects.exclude(pk=row.pk).filter(is_default=True).update(is_default=False)
    return save_keyed(by, row, Action.AGENT_CHANGED, key=key, fields=fields)


@transaction.atomic
def delete_language_model(by: Principal, row: LanguageModel) -> None:
    """Delete a language model; assistants that used it use the default."""
    record(by, Action.AGENT_CHANGED, row, detail={"deleted": True})
    row.delete()


@transaction.atomic
def save_web_search(by: Principal | None, row: WebSearchProvider, *, key: str = "", fields: Sequence[str] = ()) -> bool:
    """Store a web search service as `save_keyed` does; where this one is in use, the others no longer are."""
    if row.is_used:
        WebSearchProvider.objects.exclude(pk=row.pk).filter(is_used=True).update(is_used=False)
    return save_keyed(by, row, Action.WEB_SETTING_CHANGED, key=key, fields=fields)


def take_key(row: Keyed, key: str, *, address_before: str) -> None:
    """Set a new key on the row; without one keep the old key only while the address is unchanged."""
    if key:
        row.encrypted_key = sealed(key, row.base_url)
    elif row.base_url != address_before:
        row.encrypted_key = ""


class KeyLost(Exception):
    """A stored key was encrypted for another address or under another secret; the operator must enter it again."""


def sealed(key: str, address: str, *, of: str = "language model") -> str:
    """Encrypt the key for this address and this kind of service only; "" stays ""."""
    return seal(key, purpose=_purpose(of, address), secrets=[settings.SECRET_KEY])


def opened(stored: str, address: str, *, of: str = "language model") -> str:
    """Decrypt the key for the address it was stored for. Raises KeyLost."""
    try:
        return unseal(stored, purpose=_purpose(of, address), secrets=[settings.SECRET_KEY])
    except SealBroken:
        raise KeyLost("the key was stored for another address or another COPILOT_SECRET_KEY; enter it again") from None


def _purpose(of: str, address: str) -> str:
    return f"copilot {of} keys {address}"
