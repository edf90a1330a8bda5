"""Calls that need a person's approval: stored as rows, so that they survive reloads and restarts.

Each is made at most once.

A run that reaches such a call ends with a question. The approval covers that call with those arguments only: the run
that continues makes it first, and no other call can use it.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agent.models import ToolApproval
from agent.models.mcp_services import LIVES, ApprovalState
from agent.run_state.run import Run
from agent.tools.base import ToolContext, ToolMistake
from audit.actions import Action, Outcome
from audit.record import record_action
from authz.principal import Principal
from copilot_site.lib.errors import Conflict, NotFound


class NeedsApproval(ToolMistake):
    """The call needs the person's approval first."""


@transaction.atomic
def request_approval(run: Run, *, tool: str, title: str, arguments: Mapping[str, Any]) -> ToolApproval:
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
def decide_approval(principal: Principal, approval_id: UUID, *, is_allowed: bool) -> ToolApproval:
    """Approve or reject a call.

    Raises NotFound for another person's, Conflict where it was decided before or has expired.
    """
    row = (
        ToolApproval.objects.select_for_update()
        .select_related("message")
        .filter(pk=approval_id, user_id=principal.user_id)
        .first()
    )
    if row is None:
        raise NotFound(_("There is no such question for you."))
    if not row.is_open:
        raise Conflict(_("This was already decided, or waited too long. Ask your question again."))
    row.state = ApprovalState.ALLOWED if is_allowed else ApprovalState.REFUSED
    row.decided_at = timezone.now()
    row.save(update_fields=["state", "decided_at"])
    outcome = Outcome.ALLOW if is_allowed else Outcome.DENY
    detail = {"tool": row.tool}
    record_action(principal, Action.APPROVAL_DECIDED, row, outcome=outcome, run_id=str(row.message_id), detail=detail)
    return row


def use_up_approval(ctx: ToolContext, tool: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether the person has approved this call, and use the approval up."""
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
