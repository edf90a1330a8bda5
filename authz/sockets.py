"""Who is at the other end of a socket, asked anew for every message: a socket outlives the request that opened it."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from django.contrib.auth import get_user

from authz.principal import Principal


def principal_of(scope: Mapping[str, Any]) -> Principal:
    """The person whose session opened the socket, as the database has both now.

    Nobody when the account was disabled, when they signed out, and when their password was changed since.
    """
    opened: Any = scope.get("session")
    key = opened.session_key if opened is not None else None
    if not key:
        return Principal.nobody()
    session = type(getattr(opened, "_wrapped", opened))(key)  # Channels wraps it, and keeps what it read when it opened
    request: Any = SimpleNamespace(session=session)
    return Principal.of(get_user(request)).signed_in(key)
