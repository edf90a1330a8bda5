"""Calls that a person is asked to allow: kept as rows, so that they wait through reloads and restarts; each is made once at most.

The run that comes to such a call ends with a question. What the person allows is that call with those arguments: the run that goes on
makes it first, and no other call can spend it.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agent.models import ToolApproval
from agent.models.mcp_services import LIVES, ApprovalState
from agent.run import Run
from agent.tools.base import ToolContext, ToolMistake
from audit.actions import Action, Outcome
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.errors import Conflict, NotFound


class NeedsApproval(ToolMistake):
    """The call is not made before the person allows it."""


@transaction.atomic
def ask_to_allow(run: Run, *, tool: str, title: str, arguments: Mapping[str, Any]) -> ToolApproval:
    """Keep a call that waits for the person."""
    row = ToolApproval.objects.create(
        user_id=run.principal.user_id,
        message_id=run.message_id,
        tool=tool,
        title=title[:200],
        arguments=dict(arguments),
        question=run.state.input.normalized_query,
        scope=run.chosen,
        profile=run.profile.name,
        language=run.language,
    )
    run.record(run.principal, Action.APPROVAL_ASKED, row, run_id=str(run.message_id), detail={"tool": tool})
    return row


@transaction.atomic
def decide(principal: Principal, approval_id: UUID, *, is_allowed: bool) -> ToolApproval:
    """Allow a call, or not. Raises NotFound for anybody else's, Conflict where it was decided before or is too old."""
    row = (
        ToolApproval.objects.select_for_update()
        .select_related("message")
        .filter(pk=approval_id, user_id=principal.user_id)
        .first()
    )
    if row is None:
        raise NotFound(_("There is no such question of yours."))
    if not row.is_open:
        raise Conflict(_("This was decided already, or has waited too long. Ask your question again."))
    row.state = ApprovalState.ALLOWED if is_allowed else ApprovalState.REFUSED
    row.decided_at = timezone.now()
    row.save(update_fields=["state", "decided_at"])
    outcome = Outcome.ALLOW if is_allowed else Outcome.DENY
    detail = {"tool": row.tool}
    record(principal, Action.APPROVAL_DECIDED, row, outcome=outcome, run_id=str(row.message_id), detail=detail)
    return row


def spend(ctx: ToolContext, tool: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether this call was allowed by the person it is made for; it is not any more after that."""
    if ctx.approval_id is None:
        return False
    allowed = ToolApproval.objects.filter(
        pk=ctx.approval_id,
        user_id=ctx.principal.user_id,
        tool=tool,
        arguments=dict(arguments),
        state=ApprovalState.ALLOWED,
        decided_at__gt=timezone.now() - LIVES,
    )
    return bool(allowed.update(state=ApprovalState.USED))
