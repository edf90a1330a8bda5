"""Changes of rights, made to see their effects, and kept only once these are confirmed."""

from collections.abc import Callable, Collection, Mapping
from typing import Any
from uuid import UUID

from django.db import models, transaction

from audit.actions import Action
from audit.record import record_action
from authz.explanations.impact import Effects, compare_rights
from authz.principal import Principal
from knowledge.governance.effective_rights import load_rights_tables


def apply_confirmed_change(
    by: Principal,
    change: Callable[[], None],
    *,
    what: str,
    target: models.Model | None,
    base_ids: Collection[UUID],
    confirmed: str = "",
    asks_always: bool = False,
) -> Effects | None:
    """Make the change and keep it, if it changes nobody's access or `confirmed` names what it changes; None then.

    what, target: what is recorded of a change that was only shown. base_ids: the knowledge bases in which it can change anything.
    asks_always: also where it changes nobody's access now.
    Otherwise the change is undone and its effects are returned, to be confirmed by their fingerprint. If rights have changed since
    they were shown, the effects differ and must be confirmed again. Raises what the change raises.
    """
    with transaction.atomic():
        effects = _measure_effects(change, base_ids)
        if effects.fingerprint == confirmed or not (effects.people or asks_always):
            return None
        transaction.set_rollback(True)
    _record_preview(by, effects, target, {"what": what})
    return effects


def preview_change_effects(
    by: Principal,
    change: Callable[[], None],
    *,
    target: models.Model | None,
    base_ids: Collection[UUID],
    detail: Mapping[str, Any],
) -> Effects:
    """Return the effects of a change: it is made and always undone; the preview is recorded. Raises what the change raises."""
    with transaction.atomic():
        effects = _measure_effects(change, base_ids)
        transaction.set_rollback(True)
    _record_preview(by, effects, target, detail)
    return effects


def _measure_effects(change: Callable[[], None], base_ids: Collection[UUID]) -> Effects:
    before = load_rights_tables(*base_ids)
    change()
    return compare_rights(before, load_rights_tables(*base_ids))


def _record_preview(by: Principal, effects: Effects, target: models.Model | None, detail: Mapping[str, Any]) -> None:
    counts = {"gaining": len(effects.gaining), "losing": len(effects.losing)}
    record_action(by, Action.CHANGE_PREVIEWED, target, detail={**detail, **counts})
