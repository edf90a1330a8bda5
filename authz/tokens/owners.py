"""Find the owner of a request's secret, only to queue the request: rights need further checks."""

from contextlib import suppress

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from authz.tokens.api_tokens import owner_of
from copilot_site.lib.load.seats import Owners


def _of_token(header: str) -> int | None:
    scheme, _space, secret = header.partition(" ")
    return owner_of(secret.strip()) if scheme.lower() == "bearer" else None


def _of_session(key: str) -> int | None:
    with suppress(ValueError):  # a missing or malformed key
        return int(SessionStore(key).get(SESSION_KEY, ""))
    return None


OWNERS = Owners(of_token=_of_token, of_session=_of_session)
