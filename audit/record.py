"""The one way into the audit log."""

import json
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any, Protocol

import structlog
from django.db import models, transaction
from django.utils import timezone

from audit.actions import Action, Outcome
from audit.content import seal
from audit.durability import flush
from audit.insertion import insert
from audit.models import Entry


class Actor(Protocol):
    """Who did it; `authz.Principal` is one. A user id of 0 is nobody."""

    @property
    def user_id(self) -> int: ...
    @property
    def username(self) -> str: ...


def record(
    actor: Actor | None,
    action: Action,
    target: models.Model | None = None,
    *,
    outcome: Outcome = Outcome.ALLOW,
    reason: str = "",
    run_id: str = "",
    detail: Mapping[str, Any] | None = None,
    on_behalf_of: Actor | None = None,
    target_name: str | None = None,
) -> Entry:
    """Write one entry in the caller's transaction; whatever cannot be recorded does not happen.

    actor: None for what the system did by itself. on_behalf_of: whose rights or eyes were used, where it is somebody else.
    detail: ids, counts and sizes, JSON-serialisable; never text of a document, never a person's name. Numbers beyond 2^53 as text.
    target_name: replaces `str(target)`, or names what has no row.
    The request id and the address come from the request that is being served, if one is. The entry gets its place in the chain
    when the transaction commits. Write it last, so that the lock on the end of the chain is taken after all others.
    Raises whatever the database raises; do not catch it.
    """
    context = structlog.contextvars.get_contextvars()
    token = getattr(actor, "token_id", None)  # of the API token they came with
    named = target_name if target_name is not None else str(target) if target is not None else ""
    entry = Entry(
        at=timezone.now(),
        actor_id=(actor.user_id or None) if actor else None,
        actor_name=_text(actor.username, 150) if actor else "",
        on_behalf_of_id=(on_behalf_of.user_id or None) if on_behalf_of else None,
        on_behalf_of_name=_text(on_behalf_of.username, 150) if on_behalf_of else "",
        action=str(action),
        outcome=str(outcome),
        reason=_text(reason, 500),
        target_type=target._meta.model_name or "" if target is not None else "",
        target_id=str(target.pk)[:64] if target is not None else "",
        target_name=_text(named, 255),
        request_id=_text(str(context.get("request_id", "")), 64),
        run_id=_text(run_id, 64),
        address=_address(context.get("ip")),
        detail=json.loads(
            json.dumps(dict(detail or {}) | ({"token": token} if token else {}))
        ),  # as it will be read: plain JSON values
    )
    seal(entry)
    insert(entry)
    if flush not in [hook[1] for hook in transaction.get_connection().run_on_commit]:
        transaction.on_commit(flush)
    return entry


def _address(text: str | None) -> str | None:
    """As PostgreSQL writes it; None for what is no address."""
    try:
        return str(ip_address((text or "").partition("%")[0]))
    except ValueError:
        return None


def _text(text: str, most: int) -> str:
    """At most `most` characters that PostgreSQL can hold: a name with a NUL must not keep an entry from being written."""
    return text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")[:most]
