"""The one way into the audit log."""

from collections.abc import Mapping
from typing import Any, Protocol

import structlog
from django.db import models

from audit.actions import Action, Outcome
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
) -> Entry:
    """Write one entry in the caller's transaction; whatever cannot be recorded does not happen.

    actor: None for what the system did by itself.
    detail: ids, counts and sizes, JSON-serialisable; never text of a document.
    The request id and the address come from the request that is being served, if one is.
    Raises whatever the database raises; do not catch it.
    """
    context = structlog.contextvars.get_contextvars()
    return Entry.objects.create(
        actor_id=(actor.user_id or None) if actor else None,
        actor_name=actor.username[:150] if actor else "",
        action=action,
        outcome=outcome,
        reason=reason[:500],
        target_type=target._meta.model_name or "" if target is not None else "",
        target_id=str(target.pk)[:64] if target is not None else "",
        target_name=str(target)[:255] if target is not None else "",
        request_id=str(context.get("request_id", ""))[:64],
        run_id=run_id,
        address=context.get("ip") or None,
        detail=dict(detail or {}),
    )
