"""A change of rights, made to see what it does to whom, and kept only when that was confirmed."""

from collections.abc import Callable, Collection
from uuid import UUID

from django.db import models, transaction

from audit.actions import Action
from audit.record import record
from authz.effects import Effects, compare
from authz.principal import Principal
from knowledge.governance.standing import standing_of


def carry_out(
    by: Principal,
    change: Callable[[], None],
    *,
    what: str,
    target: models.Model,
    base_ids: Collection[UUID],
    confirmed: str = "",
) -> Effects | None:
    """Make the change and keep it, if it changes nobody's access or `confirmed` names what it changes; None then.

    what, target: what is recorded of a change that was only shown. base_ids: the knowledge bases in which it can change anything.
    Else nothing stays changed, and the effects come back to be shown: their fingerprint is what has to be confirmed. Whatever
    happened to rights since they were shown makes other effects, and so another question. Raises what the change raises.
    """
    with transaction.atomic():
        before = standing_of(*base_ids)
        change()
        effects = compare(before, standing_of(*base_ids))
        if not effects.people or effects.fingerprint == confirmed:
            return None
        transaction.set_rollback(True)
    detail = {"what": what, "gaining": len(effects.gaining), "losing": len(effects.losing)}
    record(by, Action.CHANGE_PREVIEWED, target, detail=detail)
    return effects
