"""Who is at the other end of a socket, person or program, asked anew for every message: a socket outlives the request that opened it."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from django.contrib.auth import get_user

from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens import TokenRefused, bearer_of
from copilot_site.lib.sockets import address_of, bearer_token


def principal_of(scope: Mapping[str, Any]) -> Principal:
    """Return the person whose session opened the socket, as the database has both now; where it came with a token, that and nothing else.

    Nobody when the token does not open conversations, or not any more; when the account was disabled, when they signed out, and when
    their password was changed since.
    """
    secret = bearer_token(scope)
    if secret is not None:
        return _through_token(secret, address_of(scope))
    opened: Any = scope.get("session")
    key = opened.session_key if opened is not None else None
    if not key:
        return Principal.nobody()
    session = type(getattr(opened, "_wrapped", opened))(key)  # Channels wraps it, and keeps what it read when it opened
    request: Any = SimpleNamespace(session=session)
    return Principal.of(get_user(request)).signed_in(key)


def _through_token(secret: str, address: str) -> Principal:
    try:
        principal = bearer_of(secret, address=address).principal
    except TokenRefused:
        return Principal.nobody()
    return principal if principal.may_use(TokenScope.CHAT) else Principal.nobody()
