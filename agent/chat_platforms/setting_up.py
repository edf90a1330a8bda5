"""Set up bots: an app and its secrets are changed together, and tried before use."""

import json
from collections.abc import Mapping, Sequence

from django.db import transaction

from agent.chat_platforms.feishu import Account
from agent.connections.service_keys import open_service_key, require_address, seal_service_key
from agent.models import ChatBot
from audit.actions import Action
from audit.record import record_action
from authz.principal import Principal

SECRETS = ("app_secret", "encrypt_key", "verification_token")
OF = "chat platform"


def build_bot_account(row: ChatBot, secrets: Mapping[str, str] | None = None) -> Account:
    """Return the account of a bot. secrets: replace the stored ones; "" keeps a stored one. Raises KeyLost."""
    given = {name: (secrets or {}).get(name, "") for name in SECRETS}
    if not all(given.values()):
        stored = _open_stored_secrets(row)
        given = {name: given[name] or stored.get(name, "") for name in SECRETS}
    return Account(row.base_url, row.app_id, **given, bot_id=row.bot_id, takes_contact_mail=row.takes_contact_mail)


def _open_stored_secrets(row: ChatBot) -> dict[str, str]:
    """Return the stored secrets. Raises KeyLost where they are for another app, or sealed under another site secret."""
    kept = open_service_key(row.encrypted_secrets, _format_secret_place(row), of=OF)
    found: dict[str, str] = json.loads(kept) if kept else {}
    return found


@transaction.atomic
def save_bot(
    by: Principal | None, row: ChatBot, *, site: str, secrets: Mapping[str, str], fields: Sequence[str] = ()
) -> None:
    """Store a bot. secrets: new ones; "" keeps the stored one, as long as the app and its address stay.

    fields: the changed fields, for the log. Raises AddressRefused, and KeyLost where a secret to keep is for another
    app.
    """
    require_address(row.base_url)
    account = build_bot_account(row, secrets)
    row.site = site
    row.encrypted_secrets = seal_service_key(
        json.dumps({name: getattr(account, name) for name in SECRETS}), _format_secret_place(row), of=OF
    )
    row.save()
    detail = {"fields": list(fields), "address": row.base_url, "app": row.app_id, "active": row.is_active}
    record_action(by, Action.AGENT_CHANGED, row, detail=detail)


def _format_secret_place(row: ChatBot) -> str:
    return f"{row.base_url} {row.app_id}"
