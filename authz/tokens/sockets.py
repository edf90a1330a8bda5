"""Authenticate a socket's person or program anew for every message, as it outlives the request that opened it; and find the owner of
a request's secret, only to queue the request: rights need further checks.
"""

from collections.abc import Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from django.contrib.auth import SESSION_KEY, get_user
from django.contrib.sessions.backends.db import SessionStore

from authz.principal import Principal
from authz.scopes import TokenScope
from authz.tokens.api_tokens import TokenRefused, authenticate_token, find_owner_id
from copilot_site.lib.http.sockets import find_scope_address, read_bearer_token
from copilot_site.lib.load.seats import Owners


def find_socket_principal(scope: Mapping[str, Any]) -> Principal:
    """Return the person whose session opened the socket, reloaded; where it came with a token, only that counts.

    Nobody when the token no longer opens conversations, the account was disabled, they signed out, or their password
    was changed since.
    """
    secret = read_bearer_token(scope)
    if secret is not None:
        return _authenticate_by_token(secret, find_scope_address(scope))
    opened: Any = scope.get("session")
    key = opened.session_key if opened is not None else None
    if not key:
        return Principal.nobody()
    session = type(getattr(opened, "_wrapped", opened))(key)  # Channels wraps the session and caches it
    request: Any = SimpleNamespace(session=session)
    return Principal.of(get_user(request)).signed_in(key)


def _authenticate_by_token(secret: str, address: str) -> Principal:
    try:
        principal = authenticate_token(secret, address=address).principal
    except TokenRefused:
        return Principal.nobody()
    return principal if principal.may_use(TokenScope.CHAT) else Principal.nobody()


def _find_token_owner(header: str) -> int | None:
    scheme, _space, secret = header.partition(" ")
    return find_owner_id(secret.strip()) if scheme.lower() == "bearer" else None


def _find_session_owner(key: str) -> int | None:
    with suppress(ValueError):  # a missing or malformed key
        return int(SessionStore(key).get(SESSION_KEY, ""))
    return None


OWNERS = Owners(of_token=_find_token_owner, of_session=_find_session_owner)
