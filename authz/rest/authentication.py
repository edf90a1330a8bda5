"""`Authorization: Bearer ekc_…` for programs."""

from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from authz.tokens import user_of


class TokenAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[User, None] | None:
        """The user of a bearer token; None when the request carries none. Raises AuthenticationFailed for a bad one."""
        scheme, _space, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() != "bearer":
            return None
        user = user_of(secret.strip())
        if user is None:
            raise AuthenticationFailed(
                _("The token is unknown, expired or revoked. Make a new one on your tokens page.")
            )
        return user, None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
