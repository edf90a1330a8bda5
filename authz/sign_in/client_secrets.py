"""Client secrets of sign-ins configured in the admin: encrypted, valid only for their issuer and client.

allauth's column `secret` stays empty: it is clear text, and too short for an encrypted value.
"""

import structlog
from allauth.socialaccount.models import SocialApp
from django.conf import settings

from copilot_site.lib.storage.sealing import SealBroken, seal_text, unseal_text

log = structlog.get_logger(__name__)


def store_secret(app: SocialApp, secret: str) -> None:
    """Encrypt the secret for the row's current issuer and client; the caller saves."""
    app.secret = ""
    app.settings = app.settings | {
        "sealed_secret": seal_text(secret, purpose=_build_purpose(app), secrets=[settings.SECRET_KEY])
    }


def read_stored_secret(app: SocialApp) -> str:
    """Return the stored secret; "" where there is none for this issuer and client under this COPILOT_SECRET_KEY."""
    try:
        return unseal_text(
            app.settings.get("sealed_secret", ""), purpose=_build_purpose(app), secrets=[settings.SECRET_KEY]
        )
    except SealBroken:
        log.warning("sign_in.client_secret_lost", provider=app.provider_id)
        return ""


def list_sign_ins_without_secret() -> list[str]:
    """Return the names of sign-ins in the admin without a usable secret."""
    return [app.name for app in SocialApp.objects.order_by("name") if not read_stored_secret(app)]


def _build_purpose(app: SocialApp) -> str:
    return f"copilot client secret {app.client_id} at {app.settings.get('server_url')}"
