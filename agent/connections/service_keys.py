"""Services with an address and a key: an address is changed together with its key, or the key is deleted.

Keys are stored encrypted, bound to their address.
"""

from collections.abc import Sequence

from django.conf import settings
from django.db import transaction

from agent.connections.local_models import find_local_address, permit_local_address, require_model_address
from agent.models import LanguageModel, WebSearchProvider
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.outgoing.addresses import build_http_service_policy, parse_url, require_plausible_host
from copilot_site.lib.storage.sealing import SealBroken, seal_text, unseal_text

Keyed = LanguageModel | WebSearchProvider


def require_address(base_url: str) -> None:
    """Require a valid and allowed address; names are resolved when connecting. Raises AddressRefused."""
    require_plausible_host(parse_url(base_url)[0], build_http_service_policy(base_url))


def require_row_address(row: Keyed) -> None:
    """Require the address of a row as `require_address` does; a language model may be on this machine where that was allowed."""
    if isinstance(row, LanguageModel):
        require_model_address(row)
    else:
        require_address(row.base_url)


@transaction.atomic
def save_keyed(by: Principal | None, row: Keyed, action: Action, *, key: str = "", fields: Sequence[str] = ()) -> bool:
    """Store a service. key: a new one; "" keeps the stored one as long as the address stays.

    fields: the changed fields, for the log. Returns whether a stored key was removed because it was for another address
    and must be entered again. Raises the errors of `require_row_address`.
    """
    require_row_address(row)
    before: Keyed | None = type(row).objects.select_for_update().filter(pk=row.pk).first()
    set_service_key(row, key, address_before=before.base_url if before else row.base_url)
    row.save()
    detail: dict[str, object] = {"fields": list(fields)}
    is_moved = before is not None and before.base_url != row.base_url
    if before is None or is_moved:
        detail |= {"address_before": before.base_url if before else "", "address": row.base_url}
    record_action(by, action, row, detail=detail)
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

    is_allowed_here: the person allows its address on this machine; raises as `permit_local_address`. A permission for another address ends.
    """
    if is_allowed_here and permit_local_address(by, row):
        record_action(by, Action.LOCAL_MODEL_ALLOWED, target_name=row.name, detail={"address": row.local_address})
    if row.local_address != find_local_address(row.base_url):
        row.local_address = ""
    if row.is_default:
        LanguageModel.objects.exclude(pk=row.pk).filter(is_default=True).update(is_default=False)
    return save_keyed(by, row, Action.AGENT_CHANGED, key=key, fields=fields)


@transaction.atomic
def delete_language_model(by: Principal, row: LanguageModel) -> None:
    """Delete a language model; assistants that used it use the default."""
    record_action(by, Action.AGENT_CHANGED, row, detail={"deleted": True})
    row.delete()


@transaction.atomic
def save_web_search(by: Principal | None, row: WebSearchProvider, *, key: str = "", fields: Sequence[str] = ()) -> bool:
    """Store a web search service as `save_keyed` does; where this one is in use, the others no longer are."""
    if row.is_used:
        WebSearchProvider.objects.exclude(pk=row.pk).filter(is_used=True).update(is_used=False)
    return save_keyed(by, row, Action.WEB_SETTING_CHANGED, key=key, fields=fields)


def set_service_key(row: Keyed, key: str, *, address_before: str) -> None:
    """Set a new key on the row; without one keep the old key only while the address is unchanged."""
    if key:
        row.encrypted_key = seal_service_key(key, row.base_url)
    elif row.base_url != address_before:
        row.encrypted_key = ""


class KeyLost(Exception):
    """A stored key was encrypted for another address or under another secret; the operator must enter it again."""


def seal_service_key(key: str, address: str, *, of: str = "language model") -> str:
    """Encrypt the key for this address and this kind of service only; "" stays ""."""
    return seal_text(key, purpose=_format_seal_purpose(of, address), secrets=[settings.SECRET_KEY])


def open_service_key(stored: str, address: str, *, of: str = "language model") -> str:
    """Decrypt the key for the address it was stored for. Raises KeyLost."""
    try:
        return unseal_text(stored, purpose=_format_seal_purpose(of, address), secrets=[settings.SECRET_KEY])
    except SealBroken:
        raise KeyLost("the key was stored for another address or another COPILOT_SECRET_KEY; enter it again") from None


def _format_seal_purpose(of: str, address: str) -> str:
    return f"copilot {of} keys {address}"
