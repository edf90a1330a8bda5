"""Webhooks as an administrator sets them up: their address, their events, and the secret that signs messages."""

import base64
import secrets
from collections.abc import Sequence

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.errors import InvalidInput
from copilot_site.lib.outgoing.addresses import build_http_service_policy, parse_url, require_plausible_host
from copilot_site.lib.storage.sealing import SealBroken, seal_text, unseal_text
from knowledge.models import Webhook, WebhookEvent

BYTES = 32  # of a secret


class SecretLost(Exception):
    """A secret was sealed under another secret of the site; the text says what to do."""


@transaction.atomic
def save_webhook(
    by: Principal | None, row: Webhook, *, site: str, renew: bool = False, fields: Sequence[str] = ()
) -> str:
    """Store a webhook. renew: with another secret. site: of this product, without a slash at its end.

    Returns its secret where it is new, to be shown once, else "". Raises InvalidInput: an invalid or forbidden address, an event
    that does not exist.
    """
    require_plausible_host(parse_url(row.url)[0], build_http_service_policy(row.url))
    if not row.events or set(row.events) - {*WebhookEvent.values} | {WebhookEvent.PING} & set(row.events):
        raise InvalidInput(_("Choose what to send to the address."))
    row.site = site
    secret = ""
    if renew or not row.encrypted_secret:
        secret = f"whsec_{base64.b64encode(secrets.token_bytes(BYTES)).decode()}"
        row.encrypted_secret = seal_text(secret, purpose=_build_secret_purpose(row), secrets=[settings.SECRET_KEY])
    row.save()
    detail = {"fields": list(fields), "address": row.url, "events": row.events, "new_secret": bool(secret)}
    record_action(by, Action.WEBHOOK_CHANGED, row, detail=detail)
    return secret


@transaction.atomic
def delete_webhook(by: Principal, row: Webhook) -> None:
    """Delete a webhook with its log."""
    record_action(by, Action.WEBHOOK_CHANGED, row, detail={"deleted": True})
    row.delete()


def open_webhook_secret(row: Webhook) -> str:
    """Return a webhook's secret. Raises SecretLost."""
    try:
        return unseal_text(row.encrypted_secret, purpose=_build_secret_purpose(row), secrets=[settings.SECRET_KEY])
    except SealBroken:
        raise SecretLost(_("The secret was stored under another secret of this site: make another one.")) from None


def _build_secret_purpose(row: Webhook) -> str:
    return f"copilot webhook secrets {row.pk}"
