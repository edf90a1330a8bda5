"""`Authorization: Bearer ekc_…` for programs, and the few API rules that concern no row."""

from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from authz.tokens.api_tokens import Bearer, TokenRefused, authenticate_token
from copilot_site.lib.http.client_address import find_client_address


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, Bearer] | None:
        """Return the bearer of a token, and the token as `request.auth`; None for a request without one.

        Raises AuthenticationFailed for a bad one.
        """
        scheme, _space, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            bearer = authenticate_token(secret.strip(), address=find_client_address(request))
        except TokenRefused as refused:
            raise AuthenticationFailed(str(refused)) from refused
        return bearer.user, bearer

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class WrittenBySuperusers(BasePermission):
    message = _("Only system administrators can do this.")

    def has_permission(self, request: Request, view: Any) -> bool:
        return request.method in SAFE_METHODS or view.principal.is_superuser
