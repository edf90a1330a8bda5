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

from agent.allowed_call import AllowedCall
from agent.mcp.client.rows import LIVES, ApprovalState, ToolApproval
from agent.model_settings import AgentProfile
from agent.profiles import Options
from agent.runs.threads import in_thread
from agent.state import Run
from agent.tools.base import ToolContext, ToolMistake
from audit.actions import Action, Outcome
from audit.record import record
from authz.principal import Principal
from copilot_site.lib.errors import Conflict, NotFound
from knowledge.retrieval.search import Scope

SCOPE = ("knowledge_base_ids", "folder_ids", "document_ids")


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
        scope={name: [str(pk) for pk in getattr(run.scope, name)] for name in SCOPE},
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
    """Whether this call was allowed by the person it is made for; it is not any more after that."""
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


async def go_on(principal: Principal, row: ToolApproval) -> Run:
    """Start the run that makes the allowed call first and goes on with the question. Raises what `start` raises."""
    from agent.runs.start import start  # which needs the states, which need this

    options = await in_thread(_options, row)
    return await start(
        principal,
        row.message.session_id,
        row.question,
        scope=_scope(row),
        language=row.language,
        options=options,
        allowed_call=AllowedCall(row.pk, row.tool, row.arguments),
    )


def _scope(row: ToolApproval) -> Scope:
    bases, folders, documents = (tuple(map(UUID, row.scope.get(name, ()))) for name in SCOPE)
    return Scope(knowledge_base_ids=bases, folder_ids=folders, document_ids=documents)


def _options(row: ToolApproval) -> Options:
    profile = AgentProfile.objects.filter(name=row.profile).first() if row.profile else None
    return Options(profile_id=str(profile.pk) if profile else "")
