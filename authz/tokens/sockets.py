"""Authenticate a socket's person or program anew for every message: it outlives the request that opened it."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from django.contrib.auth import get_user

from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import TokenRefused, bearer_of
from copilot_site.lib.http.sockets import address_of, bearer_token


def principal_of(scope: Mapping[str, Any]) -> Principal:
    """Return the person whose session opened the socket, reloaded; where it came with a token, only that counts.

    Nobody when the token no longer opens conversations, the account was disabled, they signed out, or their password
    was changed since.
    """
    secret = bearer_token(scope)
    if secret is not None:
        return _through_token(secret, address_of(scope))
    opened: Any = scope.get("session")
    key = opened.session_key if opened is not None else None
    if not key:
        return Principal.nobody()
    session = type(getattr(opened, "_wrapped", opened))(key)  # Channels wraps the session and caches it
    request: Any = SimpleNamespace(session=session)
    return Principal.of(get_user(request)).signed_in(key)


def _through_token(secret: str, address: str) -> Principal:
    try:
        principal = bearer_of(secret, address=address).principal
    except TokenRefused:
        return Principal.nobody()
    return principal if principal.may_use(TokenScope.CHAT) else Principal.nobody()
