"""What this site proves itself to an issuer with, where the sign-in stands in the admin: encrypted, for that issuer and client alone.

allauth's column `secret` stays empty: it is clear text, and too short for what is encrypted.
"""

import structlog
from allauth.socialaccount.models import SocialApp
from django.conf import settings

from copilot_site.lib.sealing import SealBroken, seal, unseal

log = structlog.get_logger(__name__)


def store_secret(app: SocialApp, secret: str) -> None:
    """Seal the secret for the row's present issuer and client; the caller saves."""
    app.secret = ""
    app.settings = app.settings | {"sealed_secret": seal(secret, purpose=_purpose(app), secrets=[settings.SECRET_KEY])}


def stored_secret(app: SocialApp) -> str:
    """Return the stored secret; "" where none is stored, or one for another issuer or client or under another COPILOT_SECRET_KEY."""
    try:
        return unseal(app.settings.get("sealed_secret", ""), purpose=_purpose(app), secrets=[settings.SECRET_KEY])
    except SealBroken:
        log.warning("sign_in.client_secret_lost", provider=app.provider_id)
        return ""


def sign_ins_without_secret() -> list[str]:
    """Return the names of sign-ins in the admin that cannot prove themselves to their issuer."""
    return [app.name for app in SocialApp.objects.order_by("name") if not stored_secret(app)]


def _purpose(app: SocialApp) -> str:
    return f"copilot client secret {app.client_id} at {app.settings.get('server_url')}"
