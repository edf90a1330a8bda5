"""The second factor: encrypted in the database, and required of staff for the admin."""

import base64
import hashlib

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from copilot_site.lib.errors import InvalidInput

COUNTS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)  # recovery codes alone are no second factor


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """Encrypts secrets with a key derived from SECRET_KEY."""

    def encrypt(self, text: str) -> str:
        return _build_cipher().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt a secret. Raises InvalidInput where the signing key has changed: a new secret has to be set up."""
        try:
            return _build_cipher().decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            raise InvalidInput(
                _("This second factor was created with another signing key. Ask an administrator to reset it.")
            ) from None


class StaffNeedSecondFactor(MiddlewareMixin):
    """Redirects staff without a second factor from admin pages to its set-up, where COPILOT_STAFF_MFA requires it."""

    def process_view(self, request: HttpRequest, view: object, args: object, kwargs: object) -> HttpResponse | None:
        match = request.resolver_match
        if settings.STAFF_MFA != "required" or match is None or "admin" not in match.app_names:
            return None
        if not request.user.is_staff or is_mfa_enabled(request.user, COUNTS):
            return None
        messages.warning(request, _("Administration needs a second factor. Set it up here once."))
        return redirect("mfa_activate_totp")


def _build_cipher() -> Fernet:
    digest = hashlib.sha256(b"second factor:" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
