"""Language models as an administrator sets them up: an address is changed together with its key, or the key is forgotten.

Keys are encrypted at rest for their address.
"""

from collections.abc import Sequence

from django.conf import settings
from django.db import transaction

from agent.models import LanguageModel
from audit.actions import Action
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.outgoing import parsed_url, require_plausible, services_at
from copilot_site.lib.sealing import SealBroken, seal, unseal


@transaction.atomic
def save_language_model(by: Principal | None, row: LanguageModel, *, key: str = "", fields: Sequence[str] = ()) -> bool:
    """Store a model. key: a new one; "": the stored one stays as long as the address does. fields: what the log says was changed.

    Returns whether a stored key was emptied, because it was for another address: it must be entered again.
    Raises InvalidInput for an address that is none or not allowed; a name is resolved when it is connected to.
    """
    require_plausible(parsed_url(row.base_url)[0], services_at(row.base_url))
    before = LanguageModel.objects.select_for_update().filter(pk=row.pk).first()
    is_moved = before is not None and before.base_url != row.base_url
    if key:
        row.encrypted_key = sealed(key, row.base_url)
    elif is_moved:
        row.encrypted_key = ""
    row.save()
    detail: dict[str, object] = {"fields": list(fields)}
    if before is None or is_moved:
        detail |= {"address_before": before.base_url if before else "", "address": row.base_url}
    record(by, Action.AGENT_CHANGED, row, detail=detail)
    return is_moved and not key and bool(before and before.encrypted_key)


class KeyLost(Exception):
    """A stored key was encrypted for another address or under another secret: the operator enters it again."""


def sealed(key: str, address: str) -> str:
    """The key as it is stored, for this address alone; "" stays ""."""
    return seal(key, purpose=_purpose(address), secrets=_secrets())


def opened(stored: str, address: str) -> str:
    """The key again, for the address that it was stored for. Raises KeyLost."""
    try:
        return unseal(stored, purpose=_purpose(address), secrets=_secrets())
    except SealBroken:
        raise KeyLost("the key was stored for another address or another COPILOT_SECRET_KEY; enter it again") from None


def _purpose(address: str) -> str:
    return f"copilot language model keys {address}"


def _secrets() -> list[str]:
    """New keys are sealed under the secret of their own, if there is one; those sealed before it was set still open."""
    return [secret for secret in (settings.LLM["keys_secret"], settings.SECRET_KEY) if secret]
